// What is no attention, or cannot be one kernel, is refused with the reason; so is a schedule that
// somebody wrote and that does not fit.
//
// RUN: fuse-opt %s -p "graph-schedule" --split-input-file --verify-diagnostics | filecheck %s

// CHECK: contraction-count: attention is a softmax between two matmuls, found matmul, matmul, matmul
graph.kernel @three "x"(%q: tensor<48x48xf32>, %k: tensor<48x48xf32>) -> tensor<48x48xf32> {
  %0 = graph.matmul %q, %k : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  %1 = graph.softmax %0 : tensor<48x48xf32> -> tensor<48x48xf32>
  %2 = graph.matmul %1, %k : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  %3 = graph.matmul %2, %k : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  graph.yield %3 : tensor<48x48xf32>
}

// -----

// CHECK: no-softmax: {{.*}}'graph.matmul' in @side does not multiply what a softmax makes of
graph.kernel @side "x"(%q: tensor<48x48xf32>, %k: tensor<48x48xf32>) -> tensor<48x48xf32> {
  %0 = graph.matmul %q, %k : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  %1 = graph.softmax %k : tensor<48x48xf32> -> tensor<48x48xf32>
  %2 = graph.add %0, %0 : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  %3 = graph.matmul %2, %1 : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  graph.yield %3 : tensor<48x48xf32>
}

// -----

// CHECK: operand-computed: {{.*}}'graph.matmul' in @keys: an operand is computed inside the group
graph.kernel @keys "x"(%q: tensor<48x48xf32>, %k: tensor<48x48xf32>, %v: tensor<48x48xf32>) -> tensor<48x48xf32> {
  %0 = graph.relu %k : tensor<48x48xf32> -> tensor<48x48xf32>
  %1 = graph.matmul %q, %0 : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  %2 = graph.softmax %1 : tensor<48x48xf32> -> tensor<48x48xf32>
  %3 = graph.matmul %2, %v : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  graph.yield %3 : tensor<48x48xf32>
}

// -----

// CHECK: rows-differ: {{.*}}'graph.matmul' in @repeated has other rows than
graph.kernel @repeated "x"(%q: tensor<48x48xf32>, %k: tensor<48x48xf32>, %v: tensor<3x48x48xf32>) -> tensor<3x48x48xf32> {
  %0 = graph.matmul %q, %k : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  %1 = graph.softmax %0 : tensor<48x48xf32> -> tensor<48x48xf32>
  %2 = graph.matmul %1, %v : (tensor<48x48xf32>, tensor<3x48x48xf32>) -> tensor<3x48x48xf32>
  graph.yield %2 : tensor<3x48x48xf32>
}

// -----

// CHECK: several-outputs: an attention kernel stores one result, the group has 2
graph.kernel @weights "x"(%q: tensor<48x48xf32>, %k: tensor<48x48xf32>) -> tensor<48x48xf32>, tensor<48x48xf32> {
  %0 = graph.matmul %q, %k : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  %1 = graph.softmax %0 : tensor<48x48xf32> -> tensor<48x48xf32>
  %2 = graph.matmul %1, %k : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  graph.yield %1, %2 : tensor<48x48xf32>, tensor<48x48xf32>
}

// -----

// CHECK: schedule: 'chunk' is 24, expected a divisor of m = 32
graph.kernel @by_hand "x"(%q: tensor<48x48xf32>, %k: tensor<48x48xf32>) -> tensor<48x48xf32> attributes {npu.schedule = #npu.schedule<"attention", {m = 32 : i64, n = 48 : i64, k = 48 : i64, l0_k = 48 : i64, d = 48 : i64, keys = 48 : i64, l0_keys = 48 : i64, chunk = 24 : i64, columns = 48 : i64, flight = 1 : i64, blocks = 2 : i64}>} {
  %0 = graph.matmul %q, %k : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  %1 = graph.softmax %0 : tensor<48x48xf32> -> tensor<48x48xf32>
  %2 = graph.matmul %1, %k : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  graph.yield %2 : tensor<48x48xf32>
}

// -----

// CHECK: capacity: ub holds 196608 bytes, the softmax of 256 x 512 scores needs {{[0-9]+}}; a smaller chunk needs less
graph.kernel @too_big "x"(%q: tensor<512x48xf32>, %k: tensor<48x512xf32>, %v: tensor<512x48xf32>) -> tensor<512x48xf32> attributes {npu.schedule = #npu.schedule<"attention", {m = 256 : i64, n = 64 : i64, k = 48 : i64, l0_k = 32 : i64, d = 48 : i64, keys = 64 : i64, l0_keys = 32 : i64, chunk = 256 : i64, columns = 512 : i64, flight = 1 : i64, blocks = 2 : i64}>} {
  %0 = graph.matmul %q, %k : (tensor<512x48xf32>, tensor<48x512xf32>) -> tensor<512x512xf32>
  %1 = graph.softmax %0 : tensor<512x512xf32> -> tensor<512x512xf32>
  %2 = graph.matmul %1, %v : (tensor<512x512xf32>, tensor<512x48xf32>) -> tensor<512x48xf32>
  graph.yield %2 : tensor<512x48xf32>
}
