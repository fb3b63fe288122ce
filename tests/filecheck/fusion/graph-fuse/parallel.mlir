// RUN: fuse-opt %s -p 'graph-fuse' --split-input-file | filecheck %s
// RUN: fuse-opt %s -p 'graph-fuse{strategy=patterns}' --split-input-file | filecheck %s --check-prefix OFF
// RUN: fuse-opt %s -p 'graph-fuse{strategy=none}' --split-input-file | filecheck %s --check-prefix OFF

// Three products of one value are one; weights and biases stand side by side, outside of the group.
// CHECK-LABEL: func.func @qkv
// CHECK: [[W:%.*]] = graph.concat %wq, %wk, %wv {axis = 1} : {{.*}} -> tensor<64x112xf32>
// CHECK: [[B:%.*]] = graph.concat %bq, %bk, %bv {axis = 0} : {{.*}} -> tensor<112xf32>
// CHECK: [[Y:%.*]] = graph.fused "matmul_bias"({{%.*}} = %x : tensor<128x64xf32>, {{%.*}} = [[W]] : tensor<64x112xf32>, {{%.*}} = [[B]] : tensor<112xf32>) -> tensor<128x112xf32>
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.yield
// CHECK-NEXT: }
// CHECK: graph.fused "softmax"({{.*}} = [[Y]]
// CHECK-NEXT: graph.slice {{.*}} {starts = [0], ends = [48], axes = [1], steps = [1]}
// CHECK: graph.slice {{.*}} {starts = [48], ends = [80], axes = [1], steps = [1]}
// CHECK: graph.slice {{.*}} {starts = [80], ends = [112], axes = [1], steps = [1]}
// OFF-LABEL: func.func @qkv
// OFF-NOT: graph.concat
func.func @qkv(%x: tensor<128x64xf32>) -> (tensor<128x48xf32>, tensor<128x32xf32>, tensor<128x32xf32>) {
  %wq = graph.weight "wq" : tensor<64x48xf32>
  %bq = graph.weight "bq" : tensor<48xf32>
  %0 = graph.matmul %x, %wq : (tensor<128x64xf32>, tensor<64x48xf32>) -> tensor<128x48xf32>
  %1 = graph.add %0, %bq : (tensor<128x48xf32>, tensor<48xf32>) -> tensor<128x48xf32>
  %wk = graph.weight "wk" : tensor<64x32xf32>
  %bk = graph.weight "bk" : tensor<32xf32>
  %2 = graph.matmul %x, %wk : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>
  %3 = graph.add %bk, %2 : (tensor<32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
  %wv = graph.weight "wv" : tensor<64x32xf32>
  %bv = graph.weight "bv" : tensor<32xf32>
  %4 = graph.matmul %x, %wv : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>
  %5 = graph.add %4, %bv : (tensor<128x32xf32>, tensor<32xf32>) -> tensor<128x32xf32>
  %qs = graph.softmax %1 : tensor<128x48xf32> -> tensor<128x48xf32>
  %ks = graph.softmax %3 : tensor<128x32xf32> -> tensor<128x32xf32>
  %vs = graph.softmax %5 : tensor<128x32xf32> -> tensor<128x32xf32>
  func.return %qs, %ks, %vs : tensor<128x48xf32>, tensor<128x32xf32>, tensor<128x32xf32>
}

// -----

// A gate and what it gates: elementwise operators read both, so each keeps its epilogue.
// CHECK-LABEL: func.func @gated
// CHECK-NOT: graph.concat
func.func @gated(%x: tensor<128x64xf32>) -> tensor<128x48xf32> {
  %g = graph.weight "g" : tensor<64x48xf32>
  %u = graph.weight "u" : tensor<64x48xf32>
  %0 = graph.matmul %x, %g : (tensor<128x64xf32>, tensor<64x48xf32>) -> tensor<128x48xf32>
  %1 = graph.matmul %x, %u : (tensor<128x64xf32>, tensor<64x48xf32>) -> tensor<128x48xf32>
  %2 = graph.sigmoid %0 : tensor<128x48xf32> -> tensor<128x48xf32>
  %3 = graph.mul %2, %1 : (tensor<128x48xf32>, tensor<128x48xf32>) -> tensor<128x48xf32>
  func.return %3 : tensor<128x48xf32>
}

// -----

// The right operand is no weight; another value on the left; a bias on one of two; other activations.
// CHECK-LABEL: func.func @different
// CHECK-NOT: graph.concat
func.func @different(%x: tensor<32x64xf32>, %y: tensor<32x64xf32>, %v: tensor<64x48xf32>) -> (tensor<32x48xf32>, tensor<32x48xf32>, tensor<32x48xf32>, tensor<32x48xf32>, tensor<32x48xf32>) {
  %w = graph.weight "w" : tensor<64x48xf32>
  %b = graph.weight "b" : tensor<48xf32>
  %0 = graph.matmul %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = graph.matmul %x, %v : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %2 = graph.matmul %y, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %3 = graph.matmul %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %4 = graph.add %3, %b : (tensor<32x48xf32>, tensor<48xf32>) -> tensor<32x48xf32>
  %5 = graph.matmul %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %6 = graph.tanh %5 : tensor<32x48xf32> -> tensor<32x48xf32>
  %s0 = graph.softmax %0 : tensor<32x48xf32> -> tensor<32x48xf32>
  %s1 = graph.softmax %1 : tensor<32x48xf32> -> tensor<32x48xf32>
  %s2 = graph.softmax %2 : tensor<32x48xf32> -> tensor<32x48xf32>
  %s4 = graph.softmax %4 : tensor<32x48xf32> -> tensor<32x48xf32>
  %s6 = graph.softmax %6 : tensor<32x48xf32> -> tensor<32x48xf32>
  func.return %s0, %s1, %s2, %s4, %s6 : tensor<32x48xf32>, tensor<32x48xf32>, tensor<32x48xf32>, tensor<32x48xf32>, tensor<32x48xf32>
}

// -----

// What leaves the network has a place of its own; a slice would have to be copied there.
// CHECK-LABEL: func.func @outputs
// CHECK-NOT: graph.concat
func.func @outputs(%x: tensor<32x64xf32>) -> (tensor<32x48xf32>, tensor<48x32xf32>) {
  %w = graph.weight "w" : tensor<64x48xf32>
  %v = graph.weight "v" : tensor<64x48xf32>
  %0 = graph.matmul %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = graph.matmul %x, %v : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %2 = graph.transpose %1 {perm = [1, 0]} : tensor<32x48xf32> -> tensor<48x32xf32>
  func.return %0, %2 : tensor<32x48xf32>, tensor<48x32xf32>
}

// -----

// Weights that are shared, and written behind the first product, move before it; gemm's are rows.
// CHECK-LABEL: func.func @gemm
// CHECK: %w = graph.weight "w"
// CHECK: [[V:%.*]] = graph.abs %w
// CHECK: [[W:%.*]] = graph.concat %w, [[V]] {axis = 0} : {{.*}} -> tensor<96x64xf32>
// CHECK: graph.fused "gemm_bias_relu"({{.*}} = [[W]] : tensor<96x64xf32>
func.func @gemm(%x: tensor<32x64xf32>) -> (tensor<32x48xf32>, tensor<32x48xf32>) {
  %w = graph.weight "w" : tensor<48x64xf32>
  %b = graph.weight "b" : tensor<48xf32>
  %0 = graph.gemm %x, %w, %b {trans_b = true} : (tensor<32x64xf32>, tensor<48x64xf32>, tensor<48xf32>) -> tensor<32x48xf32>
  %1 = graph.relu %0 : tensor<32x48xf32> -> tensor<32x48xf32>
  %2 = graph.abs %w : tensor<48x64xf32> -> tensor<48x64xf32>
  %3 = graph.gemm %x, %2, %b {trans_b = true} : (tensor<32x64xf32>, tensor<48x64xf32>, tensor<48xf32>) -> tensor<32x48xf32>
  %4 = graph.relu %3 : tensor<32x48xf32> -> tensor<32x48xf32>
  %5 = graph.softmax %1 : tensor<32x48xf32> -> tensor<32x48xf32>
  %6 = graph.softmax %4 : tensor<32x48xf32> -> tensor<32x48xf32>
  func.return %5, %6 : tensor<32x48xf32>, tensor<32x48xf32>
}
