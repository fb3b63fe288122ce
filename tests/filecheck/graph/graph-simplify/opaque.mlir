// graph.opaque is not evaluated, not merged with an equal one; it goes where nobody uses it.
//
// RUN: fuse-opt %s -p graph-simplify | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK:         %k = graph.constant
// CHECK-NEXT:    %a = graph.opaque "RandomNormalLike" opset 1 onnx "00"(%k)
// CHECK-NEXT:    %b = graph.opaque "RandomNormalLike" opset 1 onnx "00"(%k)
// CHECK-NEXT:    %c = graph.sub %a, %b
// CHECK-NEXT:    func.return %c
func.func @main() -> tensor<2xf32> {
  %k = graph.constant dense<1.0> : tensor<2xf32>
  %a = graph.opaque "RandomNormalLike" opset 1 onnx "00"(%k) : (tensor<2xf32>) -> tensor<2xf32>
  %b = graph.opaque "RandomNormalLike" opset 1 onnx "00"(%k) : (tensor<2xf32>) -> tensor<2xf32>
  %dead = graph.opaque "RandomNormalLike" opset 1 onnx "00"(%k) : (tensor<2xf32>) -> tensor<2xf32>
  %c = graph.sub %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %c : tensor<2xf32>
}
