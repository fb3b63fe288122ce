// RUN: fuse-opt %s -p 'graph-fuse{offload=true}' | filecheck %s
// RUN: fuse-opt %s -p graph-fuse | filecheck %s --check-prefix=KEPT

// What no kernel computes is left to the host where that is asked for; the rest is fused as ever.
// CHECK-LABEL: func.func @integers
// KEPT-LABEL: func.func @integers
func.func @integers(%m: tensor<1x24xi64>, %x: tensor<24x24xf32>) -> tensor<24x24xf32> {
  %t = graph.transpose %m {perm = [1, 0]} : tensor<1x24xi64> -> tensor<24x1xi64>
  // CHECK: %p = graph.opaque "Mul" opset 20 onnx "{{[0-9A-Fa-f]+}}"(%{{.*}}, %{{.*}}) : (tensor<1x24xi64>, tensor<24x1xi64>) -> tensor<24x24xi64>
  // CHECK-NOT: graph.opaque
  // CHECK: graph.fused
  // KEPT-NOT: graph.opaque
  %p = graph.mul %m, %t : (tensor<1x24xi64>, tensor<24x1xi64>) -> tensor<24x24xi64>
  %f = graph.cast %p {to = f32} : tensor<24x24xi64> -> tensor<24x24xf32>
  %y = graph.add %x, %f : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
  func.return %y : tensor<24x24xf32>
}
