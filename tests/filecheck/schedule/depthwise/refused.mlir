// Depthwise convolutions that no kernel is made for, and schedules that are none of theirs.
//
// RUN: fuse-opt %s -p "graph-schedule{target=tiny}" --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'graph.kernel' @k ("conv") cannot be built for tiny: dynamic-shape: tensor<?x9x9x8xf32{{.*}} fix them with --shape NAME=AxB
graph.kernel @k "conv"(%x: tensor<?x9x9x8xf32>, %w: tensor<3x3x1x8xf32>) -> tensor<?x9x9x8xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 8, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<?x9x9x8xf32>, tensor<3x3x1x8xf32>) -> tensor<?x9x9x8xf32>
  graph.yield %0 : tensor<?x9x9x8xf32>
}

// -----

// CHECK: ub-capacity: {{.*}}'graph.conv' in @k: a tile of 1 x 1 outputs and 900 channels takes {{[0-9]+}} bytes of ub, tiny has 16384
graph.kernel @k "conv_layer_normalization"(%x: tensor<1x9x9x900xf32>, %w: tensor<3x3x1x900xf32>, %s: tensor<900xf32>) -> tensor<1x9x9x900xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 900, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x9x9x900xf32>, tensor<3x3x1x900xf32>) -> tensor<1x9x9x900xf32>
  %1 = graph.layer_normalization %0, %s {axis = -1} : (tensor<1x9x9x900xf32>, tensor<900xf32>) -> tensor<1x9x9x900xf32>
  graph.yield %1 : tensor<1x9x9x900xf32>
}

// -----

// CHECK: epilogue-reduction: {{.*}}'graph.conv' in @k: what is reduced after it is needed again afterwards; the rows of the result are computed only once
graph.kernel @k "conv_reduce_mean_sub"(%x: tensor<1x9x9x8xf32>, %w: tensor<3x3x1x8xf32>) -> tensor<1x9x9x8xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 8, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x9x9x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x9x9x8xf32>
  %1 = graph.reduce_mean %0 {axes = [1, 2]} : tensor<1x9x9x8xf32> -> tensor<1x1x1x8xf32>
  %2 = graph.sub %0, %1 : (tensor<1x9x9x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x9x9x8xf32>
  graph.yield %2 : tensor<1x9x9x8xf32>
}

// -----

// CHECK: operand-computed: {{.*}}'graph.conv' in @k: an operand is computed inside the group
graph.kernel @k "relu_conv"(%x: tensor<1x9x9x8xf32>, %w: tensor<3x3x1x8xf32>) -> tensor<1x9x9x8xf32> {
  %0 = graph.relu %x : tensor<1x9x9x8xf32> -> tensor<1x9x9x8xf32>
  %1 = graph.conv %0, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 8, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x9x9x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x9x9x8xf32>
  graph.yield %1 : tensor<1x9x9x8xf32>
}

// -----

// CHECK: schedule: 'rows' is 2, expected 1 to 1
graph.kernel @k "conv"(%x: tensor<1x9x9x8xf32>, %w: tensor<3x3x1x8xf32>) -> tensor<1x9x9x8xf32> attributes {npu.schedule = #npu.schedule<"depthwise", {rows = 2 : i64, columns = 9 : i64, channels = 8 : i64, blocks = 1 : i64}>} {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [2, 2, 2, 2], dilations = [2, 2], group = 8, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x9x9x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x9x9x8xf32>
  graph.yield %0 : tensor<1x9x9x8xf32>
}

// -----

// CHECK: schedule: 10 blocks, 2 copies for 9 tiles: at least 1 of each, and no more blocks than tiles
graph.kernel @k "conv"(%x: tensor<1x9x9x8xf32>, %w: tensor<3x3x1x8xf32>) -> tensor<1x9x9x8xf32> attributes {npu.schedule = #npu.schedule<"depthwise", {rows = 1 : i64, columns = 9 : i64, channels = 8 : i64, blocks = 10 : i64}>} {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 8, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x9x9x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x9x9x8xf32>
  graph.yield %0 : tensor<1x9x9x8xf32>
}
