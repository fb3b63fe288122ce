// A schedule that a user wrote stays as it is; fields left out take their defaults.
//
// RUN: fuse-opt %s -p "graph-schedule" | filecheck %s
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s --check-prefix=NPU

// CHECK: attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = 64 : i64, n = 32 : i64, k = 48 : i64, l0_k = 16 : i64, blocks = 3 : i64}>}
// NPU: func.func @matmul
// NPU-SAME: npu.blocks = 3 : i64
// NPU: %acc = npu.alloc : memref<64x32xf32, #npu.space<l0c>>
// NPU: l0 [16]
func.func @main(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> {
  %0 = graph.call @matmul(%x, %w) : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  func.return %0 : tensor<100x70xf32>
}
graph.kernel @matmul "matmul"(%x: tensor<100x90xf32>, %w: tensor<90x70xf32>) -> tensor<100x70xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = 64 : i64, n = 32 : i64, k = 48 : i64, l0_k = 16 : i64, blocks = 3 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<100x90xf32>, tensor<90x70xf32>) -> tensor<100x70xf32>
  graph.yield %0 : tensor<100x70xf32>
}
