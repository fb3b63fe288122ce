// Types that a unit does not compute in: the refusal names the cast that helps, and what it keeps.
//
// RUN: fuse-opt %s -p "graph-schedule" --split-input-file --verify-diagnostics | filecheck %s

// CHECK: graph.matmul on f64 has no cube kernel here, only on f32, f16, bf16; cast its operands to f32 (seven digits remain), and the result back
graph.kernel @k "matmul"(%x: tensor<80x90xf64>, %w: tensor<90x70xf64>) -> tensor<80x70xf64> {
  %0 = graph.matmul %x, %w : (tensor<80x90xf64>, tensor<90x70xf64>) -> tensor<80x70xf64>
  graph.yield %0 : tensor<80x70xf64>
}

// -----

// CHECK: graph.matmul on i8 has no cube kernel here, only on f32, f16, bf16; cast its operands to f16 (exact), and the result back
graph.kernel @k "matmul"(%x: tensor<80x90xi8>, %w: tensor<90x70xi8>) -> tensor<80x70xi8> {
  %0 = graph.matmul %x, %w : (tensor<80x90xi8>, tensor<90x70xi8>) -> tensor<80x70xi8>
  graph.yield %0 : tensor<80x70xi8>
}

// -----

// CHECK: 'graph.mod'{{.*}} on i64 has no vector kernel here, only on i32; cast its operands to i32 (where the values fit), and the result back
graph.kernel @k "mod"(%x: tensor<80xi64>, %y: tensor<80xi64>) -> tensor<80xi64> {
  %0 = graph.mod %x, %y : (tensor<80xi64>, tensor<80xi64>) -> tensor<80xi64>
  graph.yield %0 : tensor<80xi64>
}

// -----

// CHECK: 'graph.max_pool'{{.*}} on f64 has no pooling kernel here, only on f32, f16, bf16, i32; cast its operands to f32 (seven digits remain)
graph.kernel @k "max_pool"(%x: tensor<1x8x8x16xf64>) -> tensor<1x4x4x16xf64> {
  %0 = graph.max_pool %x {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1], layout = "NHWC"} : tensor<1x8x8x16xf64> -> tensor<1x4x4x16xf64>
  graph.yield %0 : tensor<1x4x4x16xf64>
}
