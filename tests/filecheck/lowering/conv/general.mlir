// Groups are tiles of their own; dilation and stride are steps of views; one and three spatial axes
// take the same path.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<1x9x9x24xf16>, %y: tensor<2x21x12xf32>, %z: tensor<2x5x6x7x12xf32>) -> (tensor<1x5x5x36xf16>, tensor<2x21x10xf32>, tensor<2x5x6x7x10xf32>) {
  %u = graph.weight "u" : tensor<3x3x8x36xf16>
  %v = graph.weight "v" : tensor<5x12x10xf32>
  %w = graph.weight "w" : tensor<3x3x2x12x10xf32>
  %0 = graph.call @groups(%x, %u) : (tensor<1x9x9x24xf16>, tensor<3x3x8x36xf16>) -> tensor<1x5x5x36xf16>
  %1 = graph.call @line(%y, %v) : (tensor<2x21x12xf32>, tensor<5x12x10xf32>) -> tensor<2x21x10xf32>
  %2 = graph.call @volume(%z, %w) : (tensor<2x5x6x7x12xf32>, tensor<3x3x2x12x10xf32>) -> tensor<2x5x6x7x10xf32>
  func.return %0, %1, %2 : tensor<1x5x5x36xf16>, tensor<2x21x10xf32>, tensor<2x5x6x7x10xf32>
}

// CHECK: func.func @groups
// CHECK-DAG: memref.reinterpret_cast %x to offset: [0], sizes: [3, 9, 9, 8], strides: [8, 216, 24, 1]
// CHECK-DAG: memref.reinterpret_cast %u to offset: [0], sizes: [3, 3, 3, 8, 12], strides: [12, 864, 288, 36, 1]
// Columns of the padded axis: two apart in the input.
// CHECK: memref.subview {{%[0-9]+}}{{.*}} [1, 1, 2, 1] : memref<3x9x9x8xf16, {{.*}} to memref<?x8xf16, strided<[48, 1], offset: ?>, #npu.space<gm>>
graph.kernel @groups "conv"(%x: tensor<1x9x9x24xf16>, %u: tensor<3x3x8x36xf16>) -> tensor<1x5x5x36xf16> {
  %0 = graph.conv %x, %u {strides = [2, 2], pads = [2, 2, 2, 2], dilations = [2, 2], group = 3, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x9x9x24xf16>, tensor<3x3x8x36xf16>) -> tensor<1x5x5x36xf16>
  graph.yield %0 : tensor<1x5x5x36xf16>
}

// CHECK: func.func @line
// CHECK: scf.for %k0 = %c0 to %c5 step %c1
// CHECK: npu.vbrc ins(%cst : f32)
graph.kernel @line "conv"(%x: tensor<2x21x12xf32>, %w: tensor<5x12x10xf32>) -> tensor<2x21x10xf32> {
  %0 = graph.conv %x, %w {strides = [1], pads = [2, 2], dilations = [1], x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<2x21x12xf32>, tensor<5x12x10xf32>) -> tensor<2x21x10xf32>
  graph.yield %0 : tensor<2x21x10xf32>
}

// The outermost spatial axis is outside of tiles: a loop of no or one trip leaves its padding out.
// CHECK: func.func @volume
// CHECK: scf.for %k0 = %c0 to %c3
// CHECK-NEXT: arith.cmpi
// CHECK-NEXT: scf.for %k1 = %c0 to %c3
// CHECK: npu.vbrc
// CHECK: scf.for
// CHECK: scf.for %r
// CHECK: npu.load
graph.kernel @volume "conv"(%x: tensor<2x5x6x7x12xf32>, %w: tensor<3x3x2x12x10xf32>) -> tensor<2x5x6x7x10xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1, 1], pads = [1, 1, 0, 1, 1, 1], dilations = [1, 1, 1], x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<2x5x6x7x12xf32>, tensor<3x3x2x12x10xf32>) -> tensor<2x5x6x7x10xf32>
  graph.yield %0 : tensor<2x5x6x7x10xf32>
}
