// What a kernel on row blocks cannot be: schedules by hand, and groups without one.
//
// RUN: fuse-opt %s -p "graph-schedule" --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'lead' is 0, expected 1 to 16
graph.kernel @k "k"(%x: tensor<40x96xf32>, %g: tensor<96xf32>, %w: tensor<96x200xf32>) -> tensor<40x200xf32> attributes {npu.schedule = #npu.schedule<"rows", {rows = 1 : i64, m = 16 : i64, n = 64 : i64, k = 48 : i64, l0_k = 48 : i64, blocks = 3 : i64, copies = 2 : i64, span = 200 : i64, lead = 0 : i64, chunk = 0 : i64}>} {
  %0 = graph.layer_normalization %x, %g, %g {epsilon = 1.0e-05} : (tensor<40x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<40x96xf32>
  %1 = graph.matmul %0, %w : (tensor<40x96xf32>, tensor<96x200xf32>) -> tensor<40x200xf32>
  graph.yield %1 : tensor<40x200xf32>
}

// -----

// CHECK: 'lead' is 6, which does not divide 16 lines
graph.kernel @k "k"(%x: tensor<40x96xf32>, %g: tensor<96xf32>, %w: tensor<96x200xf32>) -> tensor<40x200xf32> attributes {npu.schedule = #npu.schedule<"rows", {rows = 1 : i64, m = 16 : i64, n = 64 : i64, k = 48 : i64, l0_k = 48 : i64, blocks = 3 : i64, copies = 2 : i64, span = 200 : i64, lead = 6 : i64, chunk = 0 : i64}>} {
  %0 = graph.layer_normalization %x, %g, %g {epsilon = 1.0e-05} : (tensor<40x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<40x96xf32>
  %1 = graph.matmul %0, %w : (tensor<40x96xf32>, tensor<96x200xf32>) -> tensor<40x200xf32>
  graph.yield %1 : tensor<40x200xf32>
}

// -----

// CHECK: 'chunk' is 8, expected 0 to 0
graph.kernel @k "k"(%x: tensor<40x96xf32>, %g: tensor<96xf32>, %w: tensor<96x200xf32>) -> tensor<40x200xf32> attributes {npu.schedule = #npu.schedule<"rows", {rows = 1 : i64, m = 16 : i64, n = 64 : i64, k = 48 : i64, l0_k = 48 : i64, blocks = 3 : i64, copies = 2 : i64, span = 200 : i64, lead = 8 : i64, chunk = 8 : i64}>} {
  %0 = graph.layer_normalization %x, %g, %g {epsilon = 1.0e-05} : (tensor<40x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<40x96xf32>
  %1 = graph.matmul %0, %w : (tensor<40x96xf32>, tensor<96x200xf32>) -> tensor<40x200xf32>
  graph.yield %1 : tensor<40x200xf32>
}

// -----

// CHECK: 'span' is 100, expected a multiple of n = 64
graph.kernel @k "k"(%x: tensor<40x96xf32>, %g: tensor<96xf32>, %w: tensor<96x200xf32>) -> tensor<40x200xf32> attributes {npu.schedule = #npu.schedule<"rows", {rows = 1 : i64, m = 16 : i64, n = 64 : i64, k = 48 : i64, l0_k = 48 : i64, blocks = 3 : i64, copies = 2 : i64, span = 100 : i64, lead = 8 : i64, chunk = 0 : i64}>} {
  %0 = graph.layer_normalization %x, %g, %g {epsilon = 1.0e-05} : (tensor<40x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<40x96xf32>
  %1 = graph.matmul %0, %w : (tensor<40x96xf32>, tensor<96x200xf32>) -> tensor<40x200xf32>
  graph.yield %1 : tensor<40x200xf32>
}

// -----

// CHECK: 'blocks' is 4 for 3 tiles
graph.kernel @k "k"(%x: tensor<40x96xf32>, %g: tensor<96xf32>, %w: tensor<96x200xf32>) -> tensor<40x200xf32> attributes {npu.schedule = #npu.schedule<"rows", {rows = 1 : i64, m = 16 : i64, n = 64 : i64, k = 48 : i64, l0_k = 48 : i64, blocks = 4 : i64, copies = 2 : i64, span = 200 : i64, lead = 8 : i64, chunk = 0 : i64}>} {
  %0 = graph.layer_normalization %x, %g, %g {epsilon = 1.0e-05} : (tensor<40x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<40x96xf32>
  %1 = graph.matmul %0, %w : (tensor<40x96xf32>, tensor<96x200xf32>) -> tensor<40x200xf32>
  graph.yield %1 : tensor<40x200xf32>
}

// -----

// CHECK: 'span' is 64, but rows are needed whole: 200
graph.kernel @k "k"(%x: tensor<40x96xf32>, %w: tensor<96x200xf32>, %g: tensor<200xf32>) -> tensor<40x200xf32> attributes {npu.schedule = #npu.schedule<"rows", {rows = 1 : i64, m = 16 : i64, n = 64 : i64, k = 48 : i64, l0_k = 48 : i64, blocks = 3 : i64, copies = 2 : i64, span = 64 : i64, lead = 0 : i64, chunk = 8 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<40x96xf32>, tensor<96x200xf32>) -> tensor<40x200xf32>
  %1 = graph.layer_normalization %0, %g, %g {epsilon = 1.0e-05} : (tensor<40x200xf32>, tensor<200xf32>, tensor<200xf32>) -> tensor<40x200xf32>
  graph.yield %1 : tensor<40x200xf32>
}

// -----

// CHECK: operand-computed: the vector core and the contraction of the group hand over a matrix row by row, which cannot be done here: the product does not read it line by line
graph.kernel @k "k"(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<1x6x6x32xf32> {
  %0 = graph.relu %x : tensor<1x8x8x16xf32> -> tensor<1x8x8x16xf32>
  %1 = graph.conv %0, %w {x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC", strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x6x6x32xf32>
  graph.yield %1 : tensor<1x6x6x32xf32>
}

// -----

// CHECK: contraction-count: a kernel has one contraction, or several that read the same left operand; graph.matmul reads what another one computes
graph.kernel @k "k"(%x: tensor<64x96xf32>, %w: tensor<96x96xf32>) -> tensor<64x96xf32> {
  %0 = graph.matmul %x, %w : (tensor<64x96xf32>, tensor<96x96xf32>) -> tensor<64x96xf32>
  %1 = graph.matmul %0, %w : (tensor<64x96xf32>, tensor<96x96xf32>) -> tensor<64x96xf32>
  graph.yield %1 : tensor<64x96xf32>
}

// -----

// CHECK: rows that an index picks are loaded one by one
graph.kernel @k "k"(%t: tensor<100x96xf32>, %i: tensor<40xi64>, %w: tensor<96x200xf32>) -> tensor<40x200xf32> {
  %0 = graph.gather %t, %i : (tensor<100x96xf32>, tensor<40xi64>) -> tensor<40x96xf32>
  %1 = graph.matmul %0, %w : (tensor<40x96xf32>, tensor<96x200xf32>) -> tensor<40x200xf32>
  graph.yield %1 : tensor<40x200xf32>
}

// -----

// CHECK: results-apart: a result does not vary along the lines of the product
graph.kernel @k "k"(%x: tensor<40x96xf32>, %g: tensor<96xf32>, %w: tensor<96x200xf32>) -> tensor<96xf32>, tensor<40x200xf32> {
  %0 = graph.tanh %g : tensor<96xf32> -> tensor<96xf32>
  %1 = graph.mul %x, %0 : (tensor<40x96xf32>, tensor<96xf32>) -> tensor<40x96xf32>
  %2 = graph.matmul %1, %w : (tensor<40x96xf32>, tensor<96x200xf32>) -> tensor<40x200xf32>
  graph.yield %0, %2 : tensor<96xf32>, tensor<40x200xf32>
}
