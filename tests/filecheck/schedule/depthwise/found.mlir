// The tiles that are found: parts of rows for all cores, all rows where they are reduced afterwards;
// what has several outputs for each channel goes to the cube.
//
// RUN: fuse-opt %s -p "graph-schedule" | filecheck %s

// CHECK-LABEL: graph.kernel @wide
// CHECK-SAME: #npu.schedule<"depthwise", {rows = {{[0-9]+}} : i64, columns = {{14|28}} : i64, channels = 144 : i64, blocks = 40 : i64, copies = 2 : i64}>
graph.kernel @wide "conv_clip"(%x: tensor<1x56x56x144xf32>, %w: tensor<3x3x1x144xf32>) -> tensor<1x56x56x144xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 144, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x56x56x144xf32>, tensor<3x3x1x144xf32>) -> tensor<1x56x56x144xf32>
  %1 = graph.clip %0 {min = 0.0, max = 6.0} : tensor<1x56x56x144xf32> -> tensor<1x56x56x144xf32>
  graph.yield %1 : tensor<1x56x56x144xf32>
}

// CHECK-LABEL: graph.kernel @deep
// CHECK-SAME: #npu.schedule<"depthwise", {rows = 1 : i64, columns = 7 : i64, channels = {{64|128|192}} : i64, blocks = {{[34][0-9]}} : i64, copies = 2 : i64}>
graph.kernel @deep "conv"(%x: tensor<1x7x7x960xf32>, %w: tensor<3x3x1x960xf32>) -> tensor<1x7x7x960xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 960, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x7x7x960xf32>, tensor<3x3x1x960xf32>) -> tensor<1x7x7x960xf32>
  graph.yield %0 : tensor<1x7x7x960xf32>
}

// CHECK-LABEL: graph.kernel @mean
// CHECK-SAME: #npu.schedule<"depthwise", {rows = {{[0-9]+}} : i64, columns = 7 : i64, channels = 64 : i64, blocks = 18 : i64, copies = 2 : i64}>
graph.kernel @mean "conv_reduce_mean"(%x: tensor<1x7x7x1152xf32>, %w: tensor<3x3x1x1152xf32>) -> tensor<1x7x7x1152xf32>, tensor<1x1x1x1152xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1152, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x7x7x1152xf32>, tensor<3x3x1x1152xf32>) -> tensor<1x7x7x1152xf32>
  %1 = graph.reduce_mean %0 {axes = [1, 2]} : tensor<1x7x7x1152xf32> -> tensor<1x1x1x1152xf32>
  graph.yield %0, %1 : tensor<1x7x7x1152xf32>, tensor<1x1x1x1152xf32>
}

// CHECK-LABEL: graph.kernel @several
// CHECK-SAME: #npu.schedule<"cube"
graph.kernel @several "conv"(%x: tensor<1x9x9x8xf32>, %w: tensor<3x3x1x16xf32>) -> tensor<1x9x9x16xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 8, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x9x9x8xf32>, tensor<3x3x1x16xf32>) -> tensor<1x9x9x16xf32>
  graph.yield %0 : tensor<1x9x9x16xf32>
}
