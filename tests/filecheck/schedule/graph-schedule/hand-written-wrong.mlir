// What a hand-written schedule cannot be, each with the place, the cause and the way out.
//
// RUN: fuse-opt %s -p "graph-schedule" --split-input-file --verify-diagnostics | filecheck %s

// CHECK: hand-written-wrong.mlir:6:1: 'graph.kernel' @matmul: a 'cube' schedule has no 'nn'; did you mean 'n'?
graph.kernel @matmul "matmul"(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = 64 : i64, nn = 32 : i64, k = 48 : i64, l0_k = 16 : i64, blocks = 3 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  graph.yield %0 : tensor<100x70xf32>
}

// -----

// CHECK: a 'cube' schedule needs 'blocks' (int)
graph.kernel @matmul "matmul"(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = 64 : i64, n = 32 : i64, k = 48 : i64, l0_k = 16 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  graph.yield %0 : tensor<100x70xf32>
}

// -----

// CHECK: 'm' of a 'cube' schedule is 'big', expected int
graph.kernel @matmul "matmul"(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = "big", n = 32 : i64, k = 48 : i64, l0_k = 16 : i64, blocks = 3 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  graph.yield %0 : tensor<100x70xf32>
}

// -----

// CHECK: 'graph.kernel' @matmul: a 'attention' schedule needs 'm' (int)
graph.kernel @matmul "matmul"(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> attributes {npu.schedule = #npu.schedule<"attention", {}>} {
  %0 = graph.matmul %x, %w : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  graph.yield %0 : tensor<100x70xf32>
}

// -----

// CHECK: capacity: l0c holds 131072 bytes, the kernel needs 1048576: accumulator 1048576 x 1
graph.kernel @matmul "matmul"(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = 512 : i64, n = 512 : i64, k = 16 : i64, l0_k = 16 : i64, blocks = 1 : i64, copies = 1 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  graph.yield %0 : tensor<100x70xf32>
}

// -----

// CHECK: schedule: 'blocks' is 9 for 6 tiles
graph.kernel @matmul "matmul"(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = 64 : i64, n = 32 : i64, k = 48 : i64, l0_k = 16 : i64, blocks = 9 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  graph.yield %0 : tensor<100x70xf32>
}

// -----

// CHECK: schedule: 'l0_k' is 20, expected a multiple of 16
graph.kernel @matmul "matmul"(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = 64 : i64, n = 32 : i64, k = 48 : i64, l0_k = 20 : i64, blocks = 1 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  graph.yield %0 : tensor<100x70xf32>
}

// -----

// CHECK: schedule: a tile of 2 rows needs whole rows
graph.kernel @matmul "matmul"(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 2 : i64, m = 64 : i64, n = 32 : i64, k = 48 : i64, l0_k = 16 : i64, blocks = 1 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  graph.yield %0 : tensor<100x70xf32>
}

// -----

// CHECK: schedule: 'copies' is 0, expected at least 1
graph.kernel @matmul "matmul"(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = 64 : i64, n = 32 : i64, k = 48 : i64, l0_k = 16 : i64, blocks = 1 : i64, copies = 0 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  graph.yield %0 : tensor<100x70xf32>
}
