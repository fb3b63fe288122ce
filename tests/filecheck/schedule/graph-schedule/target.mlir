// The target is an option or the module's attribute; tiles fit its memories.
//
// RUN: fuse-opt %s -p "graph-schedule{target=tiny}" | filecheck %s
// RUN: fuse-opt %s --target tiny -p "graph-schedule" | filecheck %s
// RUN: %not 3 fuse-opt %s -p "graph-schedule{target=ascend910b9}" 2>&1 | filecheck %s --check-prefix=UNKNOWN

// CHECK: builtin.module attributes {npu.target = "tiny"}
// CHECK: #npu.schedule<"cube", {rows = 1 : i64, m = 32 : i64, n = 64 : i64, k = 32 : i64, l0_k = 16 : i64, blocks = 2 : i64
// UNKNOWN: unknown target 'ascend910b9'
// UNKNOWN-SAME: ascend910b
graph.kernel @matmul "matmul"(%x: tensor<256x320xf32>, %w: tensor<320x256xf32>) -> tensor<256x256xf32> {
  %0 = graph.matmul %x, %w : (tensor<256x320xf32>, tensor<320x256xf32>) -> tensor<256x256xf32>
  graph.yield %0 : tensor<256x256xf32>
}
