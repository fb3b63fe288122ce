// Two products around a softmax have a schedule of their own family: tiles of queries with all of
// their keys, and the parts in which scores, weights and values are made.
//
// RUN: fuse-opt %s -p "graph-schedule" | filecheck %s

// One tile for each head: there is nothing to overlap.
// CHECK: graph.kernel @one "attention"
// CHECK-SAME: npu.schedule = #npu.schedule<"attention", {m = 16 : i64, n = 32 : i64, k = 16 : i64, l0_k = 16 : i64, d = 16 : i64, keys = 32 : i64, l0_keys = 32 : i64, chunk = 8 : i64, columns = 32 : i64, flight = 1 : i64, blocks = 4 : i64, copies = 2 : i64, after = 0 : i64}>
graph.kernel @one "attention"(%q: tensor<4x16x16xf32>, %k: tensor<4x16x32xf32>, %v: tensor<4x32x16xf32>) -> tensor<4x16x16xf32> {
  %0 = graph.matmul %q, %k : (tensor<4x16x16xf32>, tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  %1 = graph.softmax %0 : tensor<4x16x32xf32> -> tensor<4x16x32xf32>
  %2 = graph.matmul %1, %v : (tensor<4x16x32xf32>, tensor<4x32x16xf32>) -> tensor<4x16x16xf32>
  graph.yield %2 : tensor<4x16x16xf32>
}

// Long sequences: two tiles in flight, rows of scores whole in ub, a few at a time.
// CHECK: graph.kernel @long "attention"
// CHECK-SAME: chunk = {{[0-9]}} : i64, columns = 2048 : i64, flight = 2 : i64, blocks = 20 : i64
graph.kernel @long "attention"(%q: tensor<12x2048x64xf16>, %k: tensor<12x64x2048xf16>, %v: tensor<12x2048x64xf16>) -> tensor<12x2048x64xf16> {
  %0 = graph.matmul %q, %k : (tensor<12x2048x64xf16>, tensor<12x64x2048xf16>) -> tensor<12x2048x2048xf16>
  %1 = graph.softmax %0 : tensor<12x2048x2048xf16> -> tensor<12x2048x2048xf16>
  %2 = graph.matmul %1, %v : (tensor<12x2048x2048xf16>, tensor<12x2048x64xf16>) -> tensor<12x2048x64xf16>
  graph.yield %2 : tensor<12x2048x64xf16>
}

// A row of scores that ub does not hold is taken in parts.
// CHECK: graph.kernel @parts "attention"
// CHECK-SAME: columns = 8192 : i64
graph.kernel @parts "attention"(%q: tensor<32x16xf16>, %k: tensor<16x32768xf16>, %v: tensor<32768x16xf16>) -> tensor<32x16xf16> {
  %0 = graph.matmul %q, %k : (tensor<32x16xf16>, tensor<16x32768xf16>) -> tensor<32x32768xf16>
  %1 = graph.softmax %0 : tensor<32x32768xf16> -> tensor<32x32768xf16>
  %2 = graph.matmul %1, %v : (tensor<32x32768xf16>, tensor<32768x16xf16>) -> tensor<32x16xf16>
  graph.yield %2 : tensor<32x16xf16>
}
