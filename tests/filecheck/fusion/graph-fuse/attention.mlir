// Two products around a softmax become one kernel, whatever happens to the scores in between. The
// vector cores add masks, so that -inf does no harm; additions without a softmax in their group stay
// forbidden.
//
// RUN: fuse-opt %s -p "graph-fuse{objective=kernels}" --split-input-file | filecheck %s
// RUN: fuse-opt %s -p "graph-fuse{objective=kernels disable=attention_scale_mask,auto}" --split-input-file | filecheck %s --check-prefix=OFF

// CHECK-LABEL: func.func @masked
// CHECK: graph.fused "attention_scale_mask"
// CHECK-NOT: graph.fused
// CHECK: func.return
// OFF-LABEL: func.func @masked
// OFF: graph.fused "batch_matmul_scale"
// OFF-NOT: graph.fused "attention
func.func @masked(%q: tensor<2x4x32x16xf32>, %k: tensor<2x4x32x16xf32>, %v: tensor<2x4x32x16xf32>, %m: tensor<2x1x1x32xf32>) -> tensor<2x4x32x16xf32> {
  %0 = graph.attention %q, %k, %v, %m {scale = 0.25} : (tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x1x1x32xf32>) -> tensor<2x4x32x16xf32>
  func.return %0 : tensor<2x4x32x16xf32>
}

// -----

// Keys of one head for two heads of queries: repeated by strides, nothing is copied.
// CHECK-LABEL: func.func @grouped
// CHECK: graph.fused "grouped_query_attention_softcap_boolean_mask"
// CHECK: graph.expand
// CHECK-NOT: graph.fused
// CHECK: func.return
func.func @grouped(%q: tensor<1x4x32x16xf16>, %k: tensor<1x2x48x16xf16>, %v: tensor<1x2x48x16xf16>, %c: tensor<32x48xi1>) -> tensor<1x4x32x16xf16> {
  %cap = graph.constant dense<3.0> : tensor<f16>
  %low = graph.constant dense<-60000.0> : tensor<f16>
  %k0 = graph.reshape %k : tensor<1x2x48x16xf16> -> tensor<1x2x1x48x16xf16>
  %k1 = graph.expand %k0 : tensor<1x2x1x48x16xf16> -> tensor<1x2x2x48x16xf16>
  %k2 = graph.reshape %k1 : tensor<1x2x2x48x16xf16> -> tensor<1x4x48x16xf16>
  %k3 = graph.transpose %k2 {perm = [0, 1, 3, 2]} : tensor<1x4x48x16xf16> -> tensor<1x4x16x48xf16>
  %v0 = graph.reshape %v : tensor<1x2x48x16xf16> -> tensor<1x2x1x48x16xf16>
  %v1 = graph.expand %v0 : tensor<1x2x1x48x16xf16> -> tensor<1x2x2x48x16xf16>
  %v2 = graph.reshape %v1 : tensor<1x2x2x48x16xf16> -> tensor<1x4x48x16xf16>
  %0 = graph.matmul %q, %k3 : (tensor<1x4x32x16xf16>, tensor<1x4x16x48xf16>) -> tensor<1x4x32x48xf16>
  %1 = graph.div %0, %cap : (tensor<1x4x32x48xf16>, tensor<f16>) -> tensor<1x4x32x48xf16>
  %2 = graph.tanh %1 : tensor<1x4x32x48xf16> -> tensor<1x4x32x48xf16>
  %3 = graph.mul %2, %cap : (tensor<1x4x32x48xf16>, tensor<f16>) -> tensor<1x4x32x48xf16>
  %4 = graph.where %c, %3, %low : (tensor<32x48xi1>, tensor<1x4x32x48xf16>, tensor<f16>) -> tensor<1x4x32x48xf16>
  %5 = graph.softmax %4 : tensor<1x4x32x48xf16> -> tensor<1x4x32x48xf16>
  %6 = graph.matmul %5, %v2 : (tensor<1x4x32x48xf16>, tensor<1x4x48x16xf16>) -> tensor<1x4x32x16xf16>
  func.return %6 : tensor<1x4x32x16xf16>
}

// -----

// Somebody else needs the weights: three kernels.
// CHECK-LABEL: func.func @seen
// CHECK-NOT: graph.fused "{{.*}}attention
func.func @seen(%q: tensor<32x16xf32>, %k: tensor<16x32xf32>, %v: tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<32x32xf32>) {
  %0 = graph.matmul %q, %k : (tensor<32x16xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
  %1 = graph.softmax %0 : tensor<32x32xf32> -> tensor<32x32xf32>
  %2 = graph.matmul %1, %v : (tensor<32x32xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  func.return %2, %1 : tensor<32x16xf32>, tensor<32x32xf32>
}

// -----

// Queries without an axis for tokens: a product like any other, and no attention.
// CHECK-LABEL: func.func @no_tokens
// CHECK-NOT: graph.fused "{{.*}}attention
// CHECK: func.return
func.func @no_tokens(%q: tensor<16xf32>, %k: tensor<3x16x8xf32>, %v: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %0 = graph.matmul %q, %k : (tensor<16xf32>, tensor<3x16x8xf32>) -> tensor<3x8xf32>
  %1 = graph.softmax %0 : tensor<3x8xf32> -> tensor<3x8xf32>
  %2 = graph.matmul %1, %v : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  func.return %2 : tensor<3x6xf32>
}
