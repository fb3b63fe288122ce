// A convolution of each channel by itself fuses with what follows on the vector core, where that costs
// less: no mixed kernel's floor.
//
// RUN: fuse-opt %s -p 'graph-fuse' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @bn_relu6
func.func @bn_relu6(%x: tensor<1x96x56x56xf32>) -> tensor<1x96x56x56xf32> {
  %w = graph.weight "w" : tensor<96x1x3x3xf32>
  %s = graph.weight "s" : tensor<96xf32>
  %b = graph.weight "b" : tensor<96xf32>
  %m = graph.weight "m" : tensor<96xf32>
  %v = graph.weight "v" : tensor<96xf32>
  // CHECK: graph.fused "depthwise_conv_bn_relu6"(
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 96} : (tensor<1x96x56x56xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x56x56xf32>
  %1 = graph.batch_normalization %0, %s, %b, %m, %v : (tensor<1x96x56x56xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<1x96x56x56xf32>
  %2 = graph.clip %1 {min = 0.0, max = 6.0} : tensor<1x96x56x56xf32> -> tensor<1x96x56x56xf32>
  func.return %2 : tensor<1x96x56x56xf32>
}

// -----

// CHECK-LABEL: func.func @silu
func.func @silu(%x: tensor<1x96x56x56xf32>) -> tensor<1x96x28x28xf32> {
  %w = graph.weight "w" : tensor<96x1x5x5xf32>
  %b = graph.weight "b" : tensor<96xf32>
  // CHECK: graph.fused "conv_sigmoid_mul"(
  // CHECK-NOT: graph.fused
  %0 = graph.conv %x, %w, %b {strides = [2, 2], pads = [2, 2, 2, 2], dilations = [1, 1], group = 96} : (tensor<1x96x56x56xf32>, tensor<96x1x5x5xf32>, tensor<96xf32>) -> tensor<1x96x28x28xf32>
  %1 = graph.sigmoid %0 : tensor<1x96x28x28xf32> -> tensor<1x96x28x28xf32>
  %2 = graph.mul %0, %1 : (tensor<1x96x28x28xf32>, tensor<1x96x28x28xf32>) -> tensor<1x96x28x28xf32>
  func.return %2 : tensor<1x96x28x28xf32>
}

// -----

// The mean of a small image is part of the group; that of a large one would leave most cores idle.
// CHECK-LABEL: func.func @means
func.func @means(%x: tensor<1x1152x7x7xf32>, %y: tensor<1x32x112x112xf32>) -> (tensor<1x1152x7x7xf32>, tensor<1x1152x1x1xf32>, tensor<1x32x112x112xf32>, tensor<1x32x1x1xf32>) {
  %w = graph.weight "w" : tensor<1152x1x3x3xf32>
  %v = graph.weight "v" : tensor<32x1x3x3xf32>
  // CHECK: graph.fused "conv_reduce_mean"(%{{.*}} = %x
  // CHECK: graph.fused "conv"(%{{.*}} = %y
  // CHECK: graph.fused "reduce_mean"
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1152} : (tensor<1x1152x7x7xf32>, tensor<1152x1x3x3xf32>) -> tensor<1x1152x7x7xf32>
  %1 = graph.reduce_mean %0 {axes = [2, 3]} : tensor<1x1152x7x7xf32> -> tensor<1x1152x1x1xf32>
  %2 = graph.conv %y, %v {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 32} : (tensor<1x32x112x112xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x112x112xf32>
  %3 = graph.reduce_mean %2 {axes = [2, 3]} : tensor<1x32x112x112xf32> -> tensor<1x32x1x1xf32>
  func.return %0, %1, %2, %3 : tensor<1x1152x7x7xf32>, tensor<1x1152x1x1xf32>, tensor<1x32x112x112xf32>, tensor<1x32x1x1xf32>
}
