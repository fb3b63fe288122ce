// One number that is added, or one for each row of pixels, is no load of the cube core: it repeats.
//
// RUN: fuse-opt %s -p "graph-schedule" | filecheck %s

// CHECK: @number {{.*}}#npu.schedule<"mixed"
graph.kernel @number "matmul_add"(%x: tensor<80x90xf32>, %w: tensor<90x70xf32>, %c: tensor<1x1xf32>) -> tensor<80x70xf32> {
  %0 = graph.matmul %x, %w : (tensor<80x90xf32>, tensor<90x70xf32>) -> tensor<80x70xf32>
  %1 = graph.add %0, %c : (tensor<80x70xf32>, tensor<1x1xf32>) -> tensor<80x70xf32>
  graph.yield %1 : tensor<80x70xf32>
}

// CHECK: @pixel_rows {{.*}}#npu.schedule<"mixed"
graph.kernel @pixel_rows "conv_add"(%x: tensor<1x9x8x64xf32>, %w: tensor<1x1x64x48xf32>, %c: tensor<9x1x48xf32>) -> tensor<1x9x8x48xf32> {
  %0 = graph.conv %x, %w {x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC", strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x9x8x64xf32>, tensor<1x1x64x48xf32>) -> tensor<1x9x8x48xf32>
  %1 = graph.add %0, %c : (tensor<1x9x8x48xf32>, tensor<9x1x48xf32>) -> tensor<1x9x8x48xf32>
  graph.yield %1 : tensor<1x9x8x48xf32>
}

// A column has one number for each row of a tile.
// CHECK: @column {{.*}}#npu.schedule<"cube"
graph.kernel @column "matmul_add"(%x: tensor<80x90xf32>, %w: tensor<90x70xf32>, %c: tensor<80x1xf32>) -> tensor<80x70xf32> {
  %0 = graph.matmul %x, %w : (tensor<80x90xf32>, tensor<90x70xf32>) -> tensor<80x70xf32>
  %1 = graph.add %0, %c : (tensor<80x70xf32>, tensor<80x1xf32>) -> tensor<80x70xf32>
  graph.yield %1 : tensor<80x70xf32>
}
