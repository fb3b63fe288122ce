// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels}' --split-input-file | filecheck %s

// A view that leads from one operator of a group to another comes inside: outside, the group would
// wait for its own result.
// CHECK-LABEL: func.func @spelled_softmax
func.func @spelled_softmax(%x: tensor<4x214xf32>) -> tensor<4x214xf32> {
  %m = graph.reduce_max %x {keepdims = false, axes = [1]} : tensor<4x214xf32> -> tensor<4xf32>
  %mr = graph.reshape %m : tensor<4xf32> -> tensor<4x1xf32>
  %s = graph.sub %x, %mr : (tensor<4x214xf32>, tensor<4x1xf32>) -> tensor<4x214xf32>
  %e = graph.exp %s : tensor<4x214xf32> -> tensor<4x214xf32>
  %t = graph.reduce_sum %e {keepdims = false, axes = [1]} : tensor<4x214xf32> -> tensor<4xf32>
  %u = graph.unsqueeze %t {axes = [1]} : tensor<4xf32> -> tensor<4x1xf32>
  %tr = graph.identity %u : tensor<4x1xf32> -> tensor<4x1xf32>
  %d = graph.div %e, %tr : (tensor<4x214xf32>, tensor<4x1xf32>) -> tensor<4x214xf32>
  // CHECK: graph.fused
  // CHECK: graph.exp
  // CHECK-NEXT: graph.reduce_sum
  // CHECK-NEXT: graph.unsqueeze
  // CHECK-NEXT: graph.identity
  // CHECK-NEXT: graph.div
  // CHECK-NEXT: graph.yield {{.*}} : tensor<4x214xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return
  func.return %d : tensor<4x214xf32>
}

// -----

// The bias of one channel is an operand that the cube core loads, so no copy of it comes inside.
// CHECK-LABEL: func.func @one_channel
func.func @one_channel(%x: tensor<1x16x8x8xf32>, %w: tensor<1x16x1x1xf32>) -> tensor<1x1x8x8xf32> {
  %b = graph.constant dense<2.5> : tensor<1xf32>
  // CHECK: graph.fused "conv"(%x_1 = %x : {{.*}}, %w_1 = %w : {{.*}}, %b_1 = %b : tensor<1xf32>)
  // CHECK-NEXT: graph.conv
  %y = graph.conv %x, %w, %b {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<1x16x1x1xf32>, tensor<1xf32>) -> tensor<1x1x8x8xf32>
  func.return %y : tensor<1x1x8x8xf32>
}
