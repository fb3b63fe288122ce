// RUN: fuse-opt %s --allow-opaque -p graph-fuse | filecheck %s
// RUN: fuse-opt %s --allow-opaque -p 'graph-fuse{offload=false}' | filecheck %s --check-prefix KEPT

// What no kernel computes is left to the host, unless the pass says otherwise.
// CHECK: graph.opaque "Mul"
// KEPT: graph.fused "mul"
func.func @main(%x: tensor<4xi64>, %y: tensor<4xi64>) -> tensor<4xi64> {
  %0 = graph.mul %x, %y : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  func.return %0 : tensor<4xi64>
}
