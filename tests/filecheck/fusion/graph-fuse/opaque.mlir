// graph.opaque is a barrier: what stands before it and what stands behind it are different kernels,
// also where a value goes past it; it stays itself, in its place.
//
// RUN: fuse-opt %s -p "graph-fuse{objective=kernels}" | filecheck %s
// RUN: fuse-opt %s -p "graph-fuse{strategy=none}" | filecheck %s --check-prefix=NONE
// RUN: fuse-opt %s -p "graph-fuse{objective=kernels},graph-fuse{objective=kernels}" | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK:         %b = graph.fused "{{.*}}"(%x_1 = %x : tensor<4x64xf32>)
// CHECK:         %c = graph.opaque "Frob" opset 1 onnx "00"(%b) : (tensor<4x64xf32>) -> tensor<4x64xf32>
// CHECK-NEXT:    %e = graph.fused "{{.*}}"({{.*}}%c{{.*}}%b
// CHECK-NOT:     graph.fused
// CHECK:         func.return %e
// NONE-COUNT-4:  = graph.fused
// NONE:          func.return
func.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %a = graph.neg %x : tensor<4x64xf32> -> tensor<4x64xf32>
  %b = graph.exp %a : tensor<4x64xf32> -> tensor<4x64xf32>
  %c = graph.opaque "Frob" opset 1 onnx "00"(%b) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %d = graph.tanh %c : tensor<4x64xf32> -> tensor<4x64xf32>
  %e = graph.add %d, %b : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %e : tensor<4x64xf32>
}

// A transposition is no view of what the host reads or writes: it is a kernel.
// CHECK-LABEL: func.func @moved
// CHECK:         %t = graph.fused
// CHECK:           graph.transpose
// CHECK:         %c = graph.opaque "Frob" opset 1 onnx "00"(%t)
// CHECK:         %u = graph.fused
// CHECK:           graph.transpose
func.func @moved(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %t = graph.transpose %x {perm = [1, 0]} : tensor<4x64xf32> -> tensor<64x4xf32>
  %c = graph.opaque "Frob" opset 1 onnx "00"(%t) : (tensor<64x4xf32>) -> tensor<64x4xf32>
  %u = graph.transpose %c {perm = [1, 0]} : tensor<64x4xf32> -> tensor<4x64xf32>
  func.return %u : tensor<4x64xf32>
}

// Of constants alone it is no constant: it is computed when the network runs. A dead one goes away.
// CHECK-LABEL: func.func @known
// CHECK:         %w = graph.weight "w"
// CHECK-NEXT:    %c = graph.opaque "Frob" opset 1 onnx "00"(%w)
// CHECK-NEXT:    graph.fused "add"({{.*}}%c
// CHECK-NOT:     graph.opaque
func.func @known(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %w = graph.weight "w" : tensor<4x64xf32>
  %c = graph.opaque "Frob" opset 1 onnx "00"(%w) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %dead = graph.opaque "Frob" opset 1 onnx "00"(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %e = graph.add %x, %c : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  func.return %e : tensor<4x64xf32>
}
