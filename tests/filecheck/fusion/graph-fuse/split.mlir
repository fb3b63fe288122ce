// A split into queries, keys and values is no kernel: attention reads its pieces where they lie in
// the joint product. Where something else needs a piece as it is, the split stays.
//
// RUN: fuse-opt %s -p "graph-fuse{objective=kernels}" --split-input-file | filecheck %s

// CHECK-LABEL: func.func @joined
// CHECK: graph.fused "matmul"
// CHECK: graph.fused "attention_scale"(%{{.*}} = %{{.*}} : tensor<1x32x192xf32>) -> tensor<1x32x4x16xf32>
// CHECK: graph.slice {{.*}}starts = [64]
// CHECK-NOT: graph.fused
// CHECK: func.return
func.func @joined(%x: tensor<1x32x64xf32>, %w: tensor<64x192xf32>) -> tensor<1x32x64xf32> {
  %0 = graph.matmul %x, %w : (tensor<1x32x64xf32>, tensor<64x192xf32>) -> tensor<1x32x192xf32>
  %q, %k, %v = graph.split %0 {axis = 2, sizes = [64, 64, 64]} : tensor<1x32x192xf32> -> tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>
  %q0 = graph.reshape %q : tensor<1x32x64xf32> -> tensor<1x32x4x16xf32>
  %k0 = graph.reshape %k : tensor<1x32x64xf32> -> tensor<1x32x4x16xf32>
  %v0 = graph.reshape %v : tensor<1x32x64xf32> -> tensor<1x32x4x16xf32>
  %q1 = graph.transpose %q0 {perm = [0, 2, 1, 3]} : tensor<1x32x4x16xf32> -> tensor<1x4x32x16xf32>
  %k1 = graph.transpose %k0 {perm = [0, 2, 1, 3]} : tensor<1x32x4x16xf32> -> tensor<1x4x32x16xf32>
  %v1 = graph.transpose %v0 {perm = [0, 2, 1, 3]} : tensor<1x32x4x16xf32> -> tensor<1x4x32x16xf32>
  %1 = graph.attention %q1, %k1, %v1 {scale = 0.25} : (tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>) -> tensor<1x4x32x16xf32>
  %2 = graph.transpose %1 {perm = [0, 2, 1, 3]} : tensor<1x4x32x16xf32> -> tensor<1x32x4x16xf32>
  %3 = graph.reshape %2 : tensor<1x32x4x16xf32> -> tensor<1x32x64xf32>
  func.return %3 : tensor<1x32x64xf32>
}

// -----

// CHECK-LABEL: func.func @returned
// CHECK: graph.split
func.func @returned(%x: tensor<8x64xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %a, %b = graph.split %x {axis = 1, sizes = [32, 32]} : tensor<8x64xf32> -> tensor<8x32xf32>, tensor<8x32xf32>
  %0 = graph.relu %a : tensor<8x32xf32> -> tensor<8x32xf32>
  func.return %0, %b : tensor<8x32xf32>, tensor<8x32xf32>
}
