// RUN: fuse-opt %s -p 'graph-fuse{strategy=patterns}' | filecheck %s
// RUN: fuse-opt %s -p 'graph-fuse{strategy=patterns objective=kernels disable=conv_bn_relu}' | filecheck %s --check-prefix OFF
// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels disable=conv_bn_relu}' | filecheck %s --check-prefix OFF
// RUN: fuse-opt %s -p 'graph-fuse{only=conv_bn}' | filecheck %s --check-prefix ONLY
// RUN: fuse-opt %s -p 'graph-fuse{strategy=none}' | filecheck %s --check-prefix NONE
// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels max-ops=2}' | filecheck %s --check-prefix OFF
// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels max-depth=2}' | filecheck %s --check-prefix OFF

// The pattern fires: weights are operands of the group, the operators come with their places.
// Switched off, bounded or with another name asked for, the next smaller one fires or none does.

// CHECK-LABEL: func.func @main
// CHECK: %0 = graph.fused "conv_bn_relu"(%x_1 = %x : tensor<1x16x8x8xf32>, %w_1 = %w : tensor<32x16x3x3xf32>, %s_1 = %s : tensor<32xf32>, %b_1 = %b : tensor<32xf32>, %m_1 = %m : tensor<32xf32>, %v_1 = %v : tensor<32xf32>) -> tensor<1x32x8x8xf32> {
// CHECK-NEXT: %1 = graph.conv %x_1, %w_1
// CHECK-NEXT: %2 = graph.batch_normalization %1, %s_1, %b_1, %m_1, %v_1
// CHECK-NEXT: %3 = graph.relu %2
// CHECK-NEXT: graph.yield %3
// CHECK-NEXT: }
// CHECK-NEXT: func.return %0

// OFF: graph.fused "conv_bn"(
// OFF: graph.fused "relu"(
// OFF-NOT: graph.fused

// ONLY: graph.fused "conv_bn"(
// ONLY: graph.fused "relu"(
// ONLY-NOT: graph.fused

// NONE: graph.fused "conv"(
// NONE: graph.fused "batch_normalization"(
// NONE: graph.fused "relu"(
// NONE-NOT: graph.fused
func.func @main(%x: tensor<1x16x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = graph.weight "w" : tensor<32x16x3x3xf32>
  %s = graph.weight "s" : tensor<32xf32>
  %b = graph.weight "b" : tensor<32xf32>
  %m = graph.weight "m" : tensor<32xf32>
  %v = graph.weight "v" : tensor<32xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
  %1 = graph.batch_normalization %0, %s, %b, %m, %v : (tensor<1x32x8x8xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<1x32x8x8xf32>
  %2 = graph.relu %1 : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32>
  func.return %2 : tensor<1x32x8x8xf32>
}
