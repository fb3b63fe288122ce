// RUN: fuse-opt %s -p graph-simplify | filecheck %s

// CHECK-LABEL: func.func @conv
// CHECK-NEXT: %0 = graph.conv %x, %w {strides = [2, 2], pads = [0, 1, 1, 2], dilations = [1, 1]}
// CHECK-NEXT: func.return %0
func.func @conv(%x: tensor<1x2x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x4x5xf32> {
  %0 = graph.pad %x {pads = [0, 0, 0, 1, 0, 0, 1, 2]} : tensor<1x2x8x8xf32> -> tensor<1x2x9x11xf32>
  %1 = graph.conv %0, %w {strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x2x9x11xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x4x5xf32>
  func.return %1 : tensor<1x4x4x5xf32>
}

// Channels are padded too.
// CHECK-LABEL: func.func @channels
// CHECK-NEXT: graph.pad
func.func @channels(%x: tensor<1x2x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x7x7xf32> {
  %0 = graph.pad %x {pads = [0, 0, 0, 0, 0, 1, 1, 1]} : tensor<1x2x8x8xf32> -> tensor<1x3x9x9xf32>
  %1 = graph.conv %0, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x7x7xf32>
  func.return %1 : tensor<1x4x7x7xf32>
}

// Something is cut off.
// CHECK-LABEL: func.func @negative
// CHECK-NEXT: graph.pad
func.func @negative(%x: tensor<1x2x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x5x7xf32> {
  %0 = graph.pad %x {pads = [0, 0, -1, 1, 0, 0, 0, 0]} : tensor<1x2x8x8xf32> -> tensor<1x2x7x9xf32>
  %1 = graph.conv %0, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x2x7x9xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x5x7xf32>
  func.return %1 : tensor<1x4x5x7xf32>
}

// C16: what is around the image is 0, more than anything negative in it.
// CHECK-LABEL: func.func @max_pool_of_zeros
// CHECK-NEXT: graph.pad
// CHECK-NEXT: graph.max_pool
func.func @max_pool_of_zeros(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32> {
  %0 = graph.pad %x {pads = [0, 0, 1, 1, 0, 0, 1, 1]} : tensor<1x1x4x4xf32> -> tensor<1x1x6x6xf32>
  %1 = graph.max_pool %0 {kernel_shape = [3, 3], strides = [3, 3], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x1x6x6xf32> -> tensor<1x1x2x2xf32>
  func.return %1 : tensor<1x1x2x2xf32>
}

// CHECK-LABEL: func.func @max_pool_of_infinity
// CHECK-NEXT: %0 = graph.max_pool %x {kernel_shape = [3, 3], strides = [3, 3], pads = [1, 1, 1, 1], dilations = [1, 1]}
// CHECK-NEXT: func.return %0
func.func @max_pool_of_infinity(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32> {
  %0 = graph.pad %x {pads = [0, 0, 1, 1, 0, 0, 1, 1], value = 0xFFF0000000000000 : f64} : tensor<1x1x4x4xf32> -> tensor<1x1x6x6xf32>
  %1 = graph.max_pool %0 {kernel_shape = [3, 3], strides = [3, 3], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x1x6x6xf32> -> tensor<1x1x2x2xf32>
  func.return %1 : tensor<1x1x2x2xf32>
}

// A window would lie in the padding altogether.
// CHECK-LABEL: func.func @wide
// CHECK-NEXT: graph.pad
func.func @wide(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x8x4xf32> {
  %0 = graph.pad %x {pads = [0, 0, 3, 0, 0, 0, 2, 1]} : tensor<1x1x4x4xf32> -> tensor<1x1x9x5xf32>
  %1 = graph.average_pool %0 {kernel_shape = [2, 2], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x1x9x5xf32> -> tensor<1x1x8x4xf32>
  func.return %1 : tensor<1x1x8x4xf32>
}

// CHECK-LABEL: func.func @average_pool
// CHECK-NEXT: graph.average_pool %x {count_include_pad = true, kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]}
func.func @average_pool(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %0 = graph.pad %x {pads = [0, 0, 1, 1, 0, 0, 1, 1]} : tensor<1x1x4x4xf32> -> tensor<1x1x6x6xf32>
  %1 = graph.average_pool %0 {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x1x6x6xf32> -> tensor<1x1x4x4xf32>
  func.return %1 : tensor<1x1x4x4xf32>
}
