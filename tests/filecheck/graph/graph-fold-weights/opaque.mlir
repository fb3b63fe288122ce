// What the host makes of weights is computed when the network runs, and so is what follows from it.
//
// RUN: fuse-opt %s -p graph-fold-weights | filecheck %s

// CHECK:      %w = graph.weight "w"
// CHECK-NEXT: %c = graph.opaque "Frob" opset 1 onnx "00"(%w)
// CHECK-NEXT: %d = graph.exp %c
// CHECK-NOT:  func.func @weights
func.func @main() -> tensor<4xf32> {
  %w = graph.weight "w" : tensor<4xf32>
  %c = graph.opaque "Frob" opset 1 onnx "00"(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.exp %c : tensor<4xf32> -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}
