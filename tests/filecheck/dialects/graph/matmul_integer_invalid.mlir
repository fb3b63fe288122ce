// RUN: fuse-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: has no meaning on f32; cast to i8
func.func @floats(%x: tensor<5x8xf32>, %w: tensor<8x4xf32>) -> tensor<5x4xi32> {
  %0 = graph.matmul_integer %x, %w : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xi32>
  func.return %0 : tensor<5x4xi32>
}

// -----

// CHECK: tensor<5x4xi32>
func.func @narrow(%x: tensor<5x8xi8>, %w: tensor<8x4xi8>) -> tensor<5x4xi8> {
  %0 = graph.matmul_integer %x, %w : (tensor<5x8xi8>, tensor<8x4xi8>) -> tensor<5x4xi8>
  func.return %0 : tensor<5x4xi8>
}
