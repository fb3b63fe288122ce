// RUN: fuse-opt %s --split-input-file --verify-diagnostics | filecheck %s
// CHECK: graph.softmax: axis 2 is not one of a tensor of rank 2; use -2 to 1
func.func @axis(%x: tensor<2x3xf32>) {
  %0 = graph.softmax %x {axis = 2} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.softmax: axis -1 is not one of a tensor of rank 0
func.func @scalar(%x: tensor<f32>) {
  %0 = graph.softmax %x : tensor<f32> -> tensor<f32>
  func.return
}

// -----

// CHECK: graph.reduce_sum: axis -3 is not one of a tensor of rank 2
func.func @reduce_axis(%x: tensor<2x3xf32>) {
  %0 = graph.reduce_sum %x {axes = [-3]} : tensor<2x3xf32> -> tensor<1x3xf32>
  func.return
}

// -----

// CHECK: graph.reduce_sum: axes [1, -1] name an axis twice
func.func @reduce_twice(%x: tensor<2x3xf32>) {
  %0 = graph.reduce_sum %x {axes = [1, -1]} : tensor<2x3xf32> -> tensor<2x1xf32>
  func.return
}

// -----

// CHECK: graph.reduce_max: the result is tensor<3xf32>, not tensor<1x3xf32>
func.func @keepdims(%x: tensor<2x3xf32>) {
  %0 = graph.reduce_max %x {axes = [0], keepdims = false} : tensor<2x3xf32> -> tensor<1x3xf32>
  func.return
}

// -----

// CHECK: graph.layer_normalization: scale and bias [2] do not fit the normalised axes [1]
func.func @scale(%x: tensor<1x1xf32>, %s: tensor<2xf32>) {
  %0 = graph.layer_normalization %x, %s : (tensor<1x1xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return
}

// -----

// CHECK: graph.layer_normalization: scale and bias [2, 3] do not fit the normalised axes [3]
func.func @higher_scale(%x: tensor<2x3xf32>, %s: tensor<2x3xf32>) {
  %0 = graph.layer_normalization %x, %s : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.batch_normalization: batch normalisation needs a channel axis
func.func @bn_rank(%x: tensor<3xf32>, %p: tensor<3xf32>) {
  %0 = graph.batch_normalization %x, %p, %p, %p, %p : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: graph.batch_normalization: parameters of [8] for 4 channels
func.func @bn_channels(%x: tensor<2x4x8x8xf32>, %p: tensor<8xf32>) {
  %0 = graph.batch_normalization %x, %p, %p, %p, %p : (tensor<2x4x8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.batch_normalization: unknown layout 'CHWN', expected NCHW or NHWC
func.func @bn_layout(%x: tensor<2x4x8x8xf32>, %p: tensor<4xf32>) {
  %0 = graph.batch_normalization %x, %p, %p, %p, %p {layout = "CHWN"} : (tensor<2x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.matmul: a matmul takes no scalars; use mul
func.func @matmul_scalar(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  %0 = graph.matmul %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.matmul: [2, 3] times [2, 3]: 3 and 2 differ
func.func @matmul(%x: tensor<2x3xf32>) {
  %0 = graph.matmul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.matmul: shapes [2] and [4] do not broadcast
func.func @matmul_batch(%x: tensor<2x3x3xf32>, %y: tensor<4x3x3xf32>) {
  %0 = graph.matmul %x, %y : (tensor<2x3x3xf32>, tensor<4x3x3xf32>) -> tensor<2x3x3xf32>
  func.return
}

// -----

// CHECK: graph.gemm: a gemm multiplies matrices; use matmul for other ranks
func.func @gemm_rank(%x: tensor<3xf32>) {
  %0 = graph.gemm %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  func.return
}

// -----

// CHECK: graph.gemm: c of [3, 4] does not broadcast to [1, 4]
func.func @gemm_c(%x: tensor<1x4xf32>, %w: tensor<4x4xf32>, %c: tensor<3x4xf32>) {
  %0 = graph.gemm %x, %w, %c : (tensor<1x4xf32>, tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

// CHECK: graph.gemm: c of [1, 1, 4] does not broadcast to [1, 4]
func.func @gemm_c_rank(%x: tensor<1x4xf32>, %w: tensor<4x4xf32>, %c: tensor<1x1x4xf32>) {
  %0 = graph.gemm %x, %w, %c : (tensor<1x4xf32>, tensor<4x4xf32>, tensor<1x1x4xf32>) -> tensor<1x4xf32>
  func.return
}

// -----

// CHECK: graph.conv: [2, 3] has no spatial axes; give rank 3 or more
func.func @conv_rank(%x: tensor<2x3xf32>, %w: tensor<2x3xf32>) {
  %0 = graph.conv %x, %w {strides = [], pads = [], dilations = []} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.conv: a filter of rank 3 for a tensor of rank 4
func.func @conv_filter_rank(%x: tensor<2x4x8x8xf32>, %w: tensor<6x4x3xf32>) {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.conv: 4 channels in 1 groups, the filter takes 3 each
func.func @conv_channels(%x: tensor<2x4x8x8xf32>, %w: tensor<6x3x3x3xf32>) {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.conv: 5 filters do not divide into 2 groups
func.func @conv_group(%x: tensor<2x4x8x8xf32>, %w: tensor<5x2x3x3xf32>) {
  %0 = graph.conv %x, %w {group = 2, strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<5x2x3x3xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.conv: 0 groups; there is at least 1
func.func @conv_no_group(%x: tensor<2x4x8x8xf32>, %w: tensor<5x4x3x3xf32>) {
  %0 = graph.conv %x, %w {group = 0, strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<5x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.conv: a bias of [4] for 6 filters
func.func @conv_bias(%x: tensor<2x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<4xf32>) {
  %0 = graph.conv %x, %w, %b {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<4xf32>) -> tensor<2x6x6x6xf32>
  func.return
}

// -----

// CHECK: graph.conv: a convolution over 2 axes needs 2 strides, dilations and kernel sizes and 4 pads
func.func @conv_pads(%x: tensor<2x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.conv: a convolution: strides, dilations and kernel sizes are positive, pads not negative
func.func @conv_stride(%x: tensor<2x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  %0 = graph.conv %x, %w {strides = [0, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.conv: a convolution: strides, dilations and kernel sizes are positive, pads not negative
func.func @conv_negative_pad(%x: tensor<2x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, -1, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.conv: a window of 3 (dilation 4) does not fit 8 with pads 0 and 0
func.func @conv_window(%x: tensor<2x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 4]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.conv: unknown layout 'HWOI', expected OIHW or HWIO
func.func @conv_layout(%x: tensor<2x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  %0 = graph.conv %x, %w {w_layout = "HWOI", strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.conv: the result is tensor<2x6x6x6xf32>, not tensor<2x4x8x8xf32>
func.func @conv_result(%x: tensor<2x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.attention: attention takes matrices
func.func @attention(%q: tensor<8xf32>) {
  %0 = graph.attention %q, %q, %q {scale = 1.0} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

// CHECK: graph.attention: [5, 8] times [4, 7]: 8 and 4 differ
func.func @attention_keys(%q: tensor<5x8xf32>, %k: tensor<7x4xf32>, %v: tensor<7x8xf32>) {
  %0 = graph.attention %q, %k, %v {scale = 1.0} : (tensor<5x8xf32>, tensor<7x4xf32>, tensor<7x8xf32>) -> tensor<5x8xf32>
  func.return
}

// -----

// CHECK: graph.attention: [5, 7] times [6, 8]: 7 and 6 differ
func.func @attention_values(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<6x8xf32>) {
  %0 = graph.attention %q, %k, %v {scale = 1.0} : (tensor<5x8xf32>, tensor<7x8xf32>, tensor<6x8xf32>) -> tensor<5x8xf32>
  func.return
}

// -----

// CHECK: graph.attention: a mask of [2, 5, 5] does not broadcast to [5, 5]
func.func @attention_mask(%q: tensor<5x8xf32>, %m: tensor<2x5x5xf32>) {
  %0 = graph.attention %q, %q, %q, %m {scale = 1.0} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<2x5x5xf32>) -> tensor<2x5x8xf32>
  func.return
}

// -----

// CHECK: graph.max_pool: pooling over 2 axes needs 2 strides, dilations and kernel sizes and 4 pads
func.func @pool(%x: tensor<2x4x8x8xf32>) {
  %0 = graph.max_pool %x {kernel_shape = [2], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.average_pool: a window of 9 (dilation 1) does not fit 8 with pads 0 and 0
func.func @pool_window(%x: tensor<2x4x8x8xf32>) {
  %0 = graph.average_pool %x {kernel_shape = [9, 1], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  func.return
}

// -----

// CHECK: graph.global_average_pool: [2, 3] has no spatial axes
func.func @global(%x: tensor<2x3xf32>) {
  %0 = graph.global_average_pool %x : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}
