// Kernels that only change the layout are done by those around them where modelled cost, or the number
// of kernels, is less.
//
// RUN: fuse-opt %s -p "graph-assign-layout{objective=kernels}" --split-input-file | filecheck %s

// A stem reads rows in segments of 4: 2 outputs each, of a window of 3 segments. Rows of the picture are
// padded by the window's pads, its columns by whole segments. The bias is there once for each output.
// CHECK-LABEL: func.func @stem
// CHECK-NEXT: %[[W:.*]] = graph.weight "w.last.segments" : tensor<7x3x12x32xf32>
// CHECK-NEXT: %[[B:.*]] = graph.weight "b.segments" : tensor<32xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.fused "conv_bias_relu"(%{{.*}} = %x : tensor<1x3x32x32xf32>, %{{.*}} = %[[W]] : {{.*}}, %{{.*}} = %[[B]] : tensor<32xf32>) -> tensor<1x16x8x32xf32> {
// CHECK-NEXT: graph.reshape %{{.*}} : tensor<1x3x32x32xf32> -> tensor<1x3x32x8x4xf32>
// CHECK-NEXT: graph.transpose %{{.*}} {perm = [0, 2, 3, 1, 4]}
// CHECK-NEXT: graph.reshape %{{.*}} : tensor<1x32x8x3x4xf32> -> tensor<1x32x8x12xf32>
// CHECK-NEXT: graph.conv
// CHECK-SAME: x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC", strides = [2, 1], dilations = [1, 1], pads = [3, 1, 3, 1]
// CHECK-NEXT: graph.relu %{{.*}} : tensor<1x16x8x32xf32>
// CHECK: graph.reshape %[[Y]] : tensor<1x16x8x32xf32> -> tensor<1x16x16x16xf32>
// CHECK: func.func @weights
// CHECK: %[[L:.*]] = graph.transpose {{.*}} -> tensor<7x7x3x16xf32>
// CHECK-NEXT: graph.pad %[[L]] {pads = [0, 1, 0, 0, 0, 4, 0, 0]} : tensor<7x7x3x16xf32> -> tensor<7x12x3x16xf32>
// CHECK-NEXT: graph.pad %[[L]] {pads = [0, 3, 0, 0, 0, 2, 0, 0]} : tensor<7x7x3x16xf32> -> tensor<7x12x3x16xf32>
// CHECK-NEXT: graph.concat {{.*}} {axis = 3} : {{.*}} -> tensor<7x12x3x32xf32>
// CHECK-NEXT: graph.reshape %{{.*}} : tensor<7x12x3x32xf32> -> tensor<7x3x4x3x32xf32>
// CHECK-NEXT: graph.transpose %{{.*}} {perm = [0, 1, 3, 2, 4]}
// CHECK-NEXT: graph.reshape %{{.*}} -> tensor<7x3x12x32xf32>
// CHECK: graph.concat {{.*}} {axis = 0} : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
func.func @stem(%x: tensor<1x3x32x32xf32>) -> tensor<1x16x16x16xf32> {
  %w = graph.weight "w" : tensor<16x3x7x7xf32>
  %b = graph.weight "b" : tensor<16xf32>
  %0 = graph.fused "conv_bias_relu"(%x1 = %x : tensor<1x3x32x32xf32>, %w1 = %w : tensor<16x3x7x7xf32>, %b1 = %b : tensor<16xf32>) -> tensor<1x16x16x16xf32> {
    %1 = graph.conv %x1, %w1, %b1 {strides = [2, 2], pads = [3, 3, 3, 3], dilations = [1, 1]} : (tensor<1x3x32x32xf32>, tensor<16x3x7x7xf32>, tensor<16xf32>) -> tensor<1x16x16x16xf32>
    %2 = graph.relu %1 : tensor<1x16x16x16xf32> -> tensor<1x16x16x16xf32>
    graph.yield %2 : tensor<1x16x16x16xf32>
  }
  %3 = graph.fused "max_pool"(%p = %0 : tensor<1x16x16x16xf32>) -> tensor<1x16x1x1xf32> {
    %4 = graph.global_average_pool %p : tensor<1x16x16x16xf32> -> tensor<1x16x1x1xf32>
    graph.yield %4 : tensor<1x16x1x1xf32>
  }
  func.return %0 : tensor<1x16x16x16xf32>
}

// -----

// Patches: without padding a row of the kernel is read as it lies, through a view, by a kernel of 4 x 4.
// CHECK-LABEL: func.func @patches
// CHECK-NOT: graph.fused "transpose
// CHECK: graph.fused "conv"
// CHECK-NOT: graph.fused "transpose
// CHECK: func.return
func.func @patches(%x: tensor<1x3x33x36xf32>) -> tensor<1x24x8x9xf32> {
  %w = graph.weight "w" : tensor<24x3x4x4xf32>
  %0 = graph.fused "conv"(%x1 = %x : tensor<1x3x33x36xf32>, %w1 = %w : tensor<24x3x4x4xf32>) -> tensor<1x24x8x9xf32> {
    %1 = graph.conv %x1, %w1 {strides = [4, 4], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x33x36xf32>, tensor<24x3x4x4xf32>) -> tensor<1x24x8x9xf32>
    graph.yield %1 : tensor<1x24x8x9xf32>
  }
  func.return %0 : tensor<1x24x8x9xf32>
}

// -----

// Padded rows of 33 have no whole segments: the transposition stays, with the padding.
// CHECK-LABEL: func.func @odd
// CHECK: graph.fused "transpose_pad"
// CHECK: graph.fused "conv"
func.func @odd(%x: tensor<1x3x33x33xf32>) -> tensor<1x24x17x17xf32> {
  %w = graph.weight "w" : tensor<24x3x3x3xf32>
  %0 = graph.fused "conv"(%x1 = %x : tensor<1x3x33x33xf32>, %w1 = %w : tensor<24x3x3x3xf32>) -> tensor<1x24x17x17xf32> {
    %1 = graph.conv %x1, %w1 {strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x3x33x33xf32>, tensor<24x3x3x3xf32>) -> tensor<1x24x17x17xf32>
    graph.yield %1 : tensor<1x24x17x17xf32>
  }
  func.return %0 : tensor<1x24x17x17xf32>
}

// -----

// What a filter is only at run time is not cut into segments.
// CHECK-LABEL: func.func @computed_filter
// CHECK: graph.fused "transpose_pad"
func.func @computed_filter(%x: tensor<1x3x32x32xf32>, %w: tensor<24x3x3x3xf32>) -> tensor<1x24x32x32xf32> {
  %0 = graph.fused "conv"(%x1 = %x : tensor<1x3x32x32xf32>, %w1 = %w : tensor<24x3x3x3xf32>) -> tensor<1x24x32x32xf32> {
    %1 = graph.conv %x1, %w1 {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x3x32x32xf32>, tensor<24x3x3x3xf32>) -> tensor<1x24x32x32xf32>
    graph.yield %1 : tensor<1x24x32x32xf32>
  }
  func.return %0 : tensor<1x24x32x32xf32>
}

// -----

// For both cores: the product itself is transposed, its pixels one axis, a bias [C, 1, 1] goes with it.
// CHECK-LABEL: func.func @first_of_both
// CHECK: %[[Y:.*]] = graph.fused "conv_add_clip"(%{{.*}} : tensor<1x7x7x32xf32>, {{.*}}) -> tensor<1x96x1x49xf32> {
// CHECK-NEXT: %[[X:.*]] = graph.reshape %{{.*}} : tensor<1x7x7x32xf32> -> tensor<1x1x49x32xf32>
// CHECK-NEXT: graph.conv %[[X]], {{.*}}{x_layout = "NHWC", w_layout = "HWIO", strides{{.*}} -> tensor<1x96x1x49xf32>
// CHECK-NEXT: %[[B:.*]] = graph.reshape %{{.*}} : tensor<1x1x1x96xf32> -> tensor<1x96x1x1xf32>
// CHECK-NEXT: graph.add %{{.*}}, %[[B]]
// CHECK-NEXT: graph.clip
// CHECK: graph.reshape %[[Y]] : tensor<1x96x1x49xf32> -> tensor<1x96x7x7xf32>
// CHECK-NOT: graph.fused
// CHECK: func.return
func.func @first_of_both(%x: tensor<1x7x7x32xf32>) -> tensor<1x96x7x7xf32> {
  %w = graph.weight "w" : tensor<96x32x1x1xf32>
  %b = graph.weight "b" : tensor<96x1x1xf32>
  %t = graph.fused "max_pool"(%x2 = %x : tensor<1x7x7x32xf32>) -> tensor<1x32x7x7xf32> {
    %6 = graph.transpose %x2 {perm = [0, 3, 1, 2]} : tensor<1x7x7x32xf32> -> tensor<1x32x7x7xf32>
    %7 = graph.max_pool %6 {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x32x7x7xf32> -> tensor<1x32x7x7xf32>
    graph.yield %7 : tensor<1x32x7x7xf32>
  }
  %0 = graph.fused "conv_add_clip"(%x1 = %t : tensor<1x32x7x7xf32>, %w1 = %w : tensor<96x32x1x1xf32>, %b1 = %b : tensor<96x1x1xf32>) -> tensor<1x96x7x7xf32> {
    %1 = graph.conv %x1, %w1 {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x32x7x7xf32>, tensor<96x32x1x1xf32>) -> tensor<1x96x7x7xf32>
    %2 = graph.add %1, %b1 : (tensor<1x96x7x7xf32>, tensor<96x1x1xf32>) -> tensor<1x96x7x7xf32>
    %3 = graph.clip %2 {min = 0.0, max = 6.0} : tensor<1x96x7x7xf32> -> tensor<1x96x7x7xf32>
    graph.yield %3 : tensor<1x96x7x7xf32>
  }
  func.return %0 : tensor<1x96x7x7xf32>
}

// -----

// A value that is needed both ways is transposed once.
// CHECK-LABEL: func.func @both_ways
// CHECK: %[[Y:.*]] = graph.fused "conv"{{.*}} -> tensor<1x8x8x32xf32>
// CHECK: graph.fused "transpose"(%{{.*}} = %[[Y]] : tensor<1x8x8x32xf32>) -> tensor<1x32x8x8xf32>
func.func @both_ways(%x: tensor<1x8x8x32xf32>) -> (tensor<1x32x8x8xf32>, tensor<1x32x4x4xf32>) {
  %w = graph.weight "w" : tensor<32x32x1x1xf32>
  %0 = graph.fused "conv"(%x1 = %x : tensor<1x8x8x32xf32>, %w1 = %w : tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32> {
    %3 = graph.transpose %x1 {perm = [0, 3, 1, 2]} : tensor<1x8x8x32xf32> -> tensor<1x32x8x8xf32>
    %1 = graph.conv %3, %w1 {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32>
    graph.yield %1 : tensor<1x32x8x8xf32>
  }
  %4 = graph.fused "max_pool"(%x2 = %0 : tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32> {
    %5 = graph.max_pool %x2 {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x32x8x8xf32> -> tensor<1x32x4x4xf32>
    graph.yield %5 : tensor<1x32x4x4xf32>
  }
  func.return %0, %4 : tensor<1x32x8x8xf32>, tensor<1x32x4x4xf32>
}

// -----

// A flattened picture stays as it is, the rows of the weight behind it take its order.
// CHECK-LABEL: func.func @flattened
// CHECK: %[[P:.*]] = graph.fused "max_pool"
// CHECK-NOT: graph.fused "transpose"
// CHECK: %[[M:.*]] = graph.reshape %[[P]] : tensor<2x3x4x24xf32> -> tensor<2x288xf32>
// CHECK: graph.fused "gemm"(%{{.*}} = %[[M]]
// CHECK: func.func @weights
// CHECK: %[[V:.*]] = graph.reshape %{{.*}} : tensor<10x288xf32> -> tensor<10x24x3x4xf32>
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[V]] {perm = [0, 2, 3, 1]}
// CHECK-NEXT: graph.reshape %[[T]] : tensor<10x3x4x24xf32> -> tensor<10x288xf32>
func.func @flattened(%x: tensor<2x24x6x8xf32>) -> tensor<2x10xf32> {
  %v = graph.weight "v" : tensor<10x288xf32>
  %0 = graph.fused "max_pool"(%x1 = %x : tensor<2x24x6x8xf32>) -> tensor<2x24x3x4xf32> {
    %3 = graph.max_pool %x1 {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<2x24x6x8xf32> -> tensor<2x24x3x4xf32>
    graph.yield %3 : tensor<2x24x3x4xf32>
  }
  %1 = graph.flatten %0 : tensor<2x24x3x4xf32> -> tensor<2x288xf32>
  %2 = graph.fused "gemm"(%a = %1 : tensor<2x288xf32>, %b = %v : tensor<10x288xf32>) -> tensor<2x10xf32> {
    %4 = graph.gemm %a, %b {trans_b = true} : (tensor<2x288xf32>, tensor<10x288xf32>) -> tensor<2x10xf32>
    graph.yield %4 : tensor<2x10xf32>
  }
  func.return %2 : tensor<2x10xf32>
}

// -----

// Where the weight is an input of the network it cannot be permuted: the pool's result is transposed.
// CHECK-LABEL: func.func @flattened_by_input
// CHECK: {perm = [0, 3, 1, 2]}
// CHECK: graph.fused "gemm"
func.func @flattened_by_input(%x: tensor<2x24x6x8xf32>, %v: tensor<10x288xf32>) -> tensor<2x10xf32> {
  %0 = graph.fused "max_pool"(%x1 = %x : tensor<2x24x6x8xf32>) -> tensor<2x24x3x4xf32> {
    %3 = graph.max_pool %x1 {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<2x24x6x8xf32> -> tensor<2x24x3x4xf32>
    graph.yield %3 : tensor<2x24x3x4xf32>
  }
  %1 = graph.flatten %0 : tensor<2x24x3x4xf32> -> tensor<2x288xf32>
  %2 = graph.fused "gemm"(%a = %1 : tensor<2x288xf32>, %b = %v : tensor<10x288xf32>) -> tensor<2x10xf32> {
    %4 = graph.gemm %a, %b {trans_b = true} : (tensor<2x288xf32>, tensor<10x288xf32>) -> tensor<2x10xf32>
    graph.yield %4 : tensor<2x10xf32>
  }
  func.return %2 : tensor<2x10xf32>
}

// -----

// One kernel less is not worth any time: a depthwise convolution stays on the vector cores.
// CHECK-LABEL: func.func @depthwise
// CHECK: graph.fused "transpose"
// CHECK: graph.fused "conv"
func.func @depthwise(%x: tensor<1x112x56x56xf32>) -> tensor<1x112x28x28xf32> {
  %w = graph.weight "w" : tensor<112x1x3x3xf32>
  %0 = graph.fused "conv"(%x1 = %x : tensor<1x112x56x56xf32>, %w1 = %w : tensor<112x1x3x3xf32>) -> tensor<1x112x28x28xf32> {
    %1 = graph.conv %x1, %w1 {group = 112, strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x112x56x56xf32>, tensor<112x1x3x3xf32>) -> tensor<1x112x28x28xf32>
    graph.yield %1 : tensor<1x112x28x28xf32>
  }
  func.return %0 : tensor<1x112x28x28xf32>
}
