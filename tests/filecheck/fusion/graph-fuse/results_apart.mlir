// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels strategy=greedy}' | filecheck %s

// A vector and a matrix that varies along one axis more are not results of one kernel: every core
// that has rows of the matrix would store the vector again.
// CHECK-LABEL: func.func @main
// CHECK: graph.fused "mul"
// CHECK: graph.fused "add"
func.func @main(%m: tensor<256xf32>, %n: tensor<256xf32>, %x: tensor<64x256xf32>) -> (tensor<256xf32>, tensor<64x256xf32>) {
  %c = graph.mul %m, %n : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %r = graph.add %x, %c : (tensor<64x256xf32>, tensor<256xf32>) -> tensor<64x256xf32>
  func.return %c, %r : tensor<256xf32>, tensor<64x256xf32>
}

// One that varies along as many is, and so is a sum over the other axis.
// CHECK-LABEL: func.func @sums
// CHECK: %{{.*}}, %{{.*}}, %{{.*}} = graph.fused
// CHECK-NOT: graph.fused
// CHECK-LABEL: func.func @end
func.func @sums(%x: tensor<64x256xf32>) -> (tensor<64x256xf32>, tensor<64x1xf32>, tensor<64x256xf32>) {
  %e = graph.exp %x : tensor<64x256xf32> -> tensor<64x256xf32>
  %s = graph.reduce_sum %e {axes = [1]} : tensor<64x256xf32> -> tensor<64x1xf32>
  %d = graph.div %e, %s : (tensor<64x256xf32>, tensor<64x1xf32>) -> tensor<64x256xf32>
  func.return %e, %s, %d : tensor<64x256xf32>, tensor<64x1xf32>, tensor<64x256xf32>
}

func.func @end(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
