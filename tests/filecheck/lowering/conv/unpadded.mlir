// Without padding a convolution is a matmul on overlapping views: 1x1 over all pixels at once, a
// stem with kw and channels as one run of K, stride 2 as a stride of rows.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<2x28x28x64xf32>, %s: tensor<1x38x38x3xf32>) -> (tensor<2x28x28x128xf32>, tensor<1x16x16x16xf32>, tensor<2x14x14x128xf32>, tensor<2x30x7x9xf32>) {
  %w = graph.weight "w" : tensor<1x1x64x128xf32>
  %0 = graph.call @pixels(%x, %w) : (tensor<2x28x28x64xf32>, tensor<1x1x64x128xf32>) -> tensor<2x28x28x128xf32>
  %v = graph.weight "v" : tensor<7x7x3x16xf32>
  %1 = graph.call @stem(%s, %v) : (tensor<1x38x38x3xf32>, tensor<7x7x3x16xf32>) -> tensor<1x16x16x16xf32>
  %2 = graph.call @stride(%x, %w) : (tensor<2x28x28x64xf32>, tensor<1x1x64x128xf32>) -> tensor<2x14x14x128xf32>
  %c = graph.weight "c" : tensor<2x24x7x9xf32>
  %d = graph.weight "d" : tensor<30x24x1x1xf32>
  %3 = graph.call @nchw(%c, %d) : (tensor<2x24x7x9xf32>, tensor<30x24x1x1xf32>) -> tensor<2x30x7x9xf32>
  func.return %0, %1, %2, %3 : tensor<2x28x28x128xf32>, tensor<1x16x16x16xf32>, tensor<2x14x14x128xf32>, tensor<2x30x7x9xf32>
}

// CHECK: func.func @pixels
// CHECK: memref.reinterpret_cast %x to offset: [0], sizes: [1568, 64], strides: [64, 1]
// CHECK-NOT: npu.vbrc
graph.kernel @pixels "conv"(%x: tensor<2x28x28x64xf32>, %w: tensor<1x1x64x128xf32>) -> tensor<2x28x28x128xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<2x28x28x64xf32>, tensor<1x1x64x128xf32>) -> tensor<2x28x28x128xf32>
  graph.yield %0 : tensor<2x28x28x128xf32>
}

// Rows of 21 = 7 x 3 elements, 6 elements apart.
// CHECK: func.func @stem
// CHECK: memref.reinterpret_cast %x to offset: [0], sizes: [16, 7, 16, 21], strides: [228, 114, 6, 1]
// CHECK: scf.for %k0 = %c0 to %c7 step %c1
// CHECK: npu.alloc : memref<{{[0-9]+}}x21xf32, #npu.space<l1>>
graph.kernel @stem "conv"(%x: tensor<1x38x38x3xf32>, %w: tensor<7x7x3x16xf32>) -> tensor<1x16x16x16xf32> {
  %0 = graph.conv %x, %w {strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1], x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x38x38x3xf32>, tensor<7x7x3x16xf32>) -> tensor<1x16x16x16xf32>
  graph.yield %0 : tensor<1x16x16x16xf32>
}

// CHECK: func.func @stride
// CHECK: memref.reinterpret_cast %x to offset: [0], sizes: [28, 14, 64], strides: [3584, 128, 1]
graph.kernel @stride "conv"(%x: tensor<2x28x28x64xf32>, %w: tensor<1x1x64x128xf32>) -> tensor<2x14x14x128xf32> {
  %0 = graph.conv %x, %w {strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1], x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<2x28x28x64xf32>, tensor<1x1x64x128xf32>) -> tensor<2x14x14x128xf32>
  graph.yield %0 : tensor<2x14x14x128xf32>
}

// Channels first, 1x1: the weights are the left operand, nothing is transposed.
// CHECK: func.func @nchw
// CHECK-DAG: memref.reinterpret_cast %w to offset: [0], sizes: [30, 24], strides: [24, 1]
// CHECK-DAG: memref.reinterpret_cast %x to offset: [0], sizes: [2, 24, 63], strides: [1512, 63, 1]
// CHECK: npu.mmad ins
graph.kernel @nchw "conv"(%x: tensor<2x24x7x9xf32>, %w: tensor<30x24x1x1xf32>) -> tensor<2x30x7x9xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x24x7x9xf32>, tensor<30x24x1x1xf32>) -> tensor<2x30x7x9xf32>
  graph.yield %0 : tensor<2x30x7x9xf32>
}
