// RUN: fuse-opt %s | filecheck %s

// CHECK: graph.matmul_integer %x, %w : (tensor<2x5x8xi8>, tensor<8x4xi8>) -> tensor<2x5x4xi32>
func.func @bytes(%x: tensor<2x5x8xi8>, %w: tensor<8x4xi8>) -> tensor<2x5x4xi32> {
  %0 = graph.matmul_integer %x, %w : (tensor<2x5x8xi8>, tensor<8x4xi8>) -> tensor<2x5x4xi32>
  func.return %0 : tensor<2x5x4xi32>
}
