// RUN: fuse-opt %s -p graph-raise --split-input-file | filecheck %s

// CHECK-LABEL: func.func @dequantised
// CHECK: %[[P:.*]] = graph.matmul_integer %x, %w : (tensor<5x8xi8>, tensor<8x4xi8>) -> tensor<5x4xi32>
// CHECK-NEXT: %[[F:.*]] = graph.cast %[[P]] {to = f32}
// CHECK-NEXT: %[[S:.*]] = graph.mul %s, %t : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.mul %[[F]], %[[S]]
// CHECK-NEXT: func.return %[[Y]]
func.func @dequantised(%x: tensor<5x8xi8>) -> tensor<5x4xf32> {
  %w = graph.weight "w" : tensor<8x4xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.weight "t" : tensor<4xf32>
  %0 = graph.cast %x {to = f32} : tensor<5x8xi8> -> tensor<5x8xf32>
  %1 = graph.mul %0, %s : (tensor<5x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  %2 = graph.cast %w {to = f32} : tensor<8x4xi8> -> tensor<8x4xf32>
  %3 = graph.mul %t, %2 : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = graph.matmul %1, %3 : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  func.return %4 : tensor<5x4xf32>
}

// -----

// A scale for each row is found when the network runs.
// CHECK-LABEL: func.func @rows
// CHECK: graph.matmul_integer
// CHECK: graph.mul %{{.*}}, %r : (tensor<5x4xf32>, tensor<5x1xf32>) -> tensor<5x4xf32>
func.func @rows(%x: tensor<5x8xi8>, %r: tensor<5x1xf32>) -> tensor<5x4xf32> {
  %w = graph.weight "w" : tensor<8x4xi8>
  %0 = graph.cast %x {to = f32} : tensor<5x8xi8> -> tensor<5x8xf32>
  %1 = graph.mul %0, %r : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  %2 = graph.cast %w {to = f32} : tensor<8x4xi8> -> tensor<8x4xf32>
  %3 = graph.matmul %1, %2 : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  func.return %3 : tensor<5x4xf32>
}

// -----

// Scales along the axis that is summed cannot go behind the sum.
// CHECK-LABEL: func.func @along_the_sum
// CHECK-NOT: graph.matmul_integer
func.func @along_the_sum(%x: tensor<5x8xi8>) -> tensor<5x4xf32> {
  %w = graph.weight "w" : tensor<8x4xi8>
  %t = graph.weight "t" : tensor<8x1xf32>
  %0 = graph.cast %x {to = f32} : tensor<5x8xi8> -> tensor<5x8xf32>
  %2 = graph.cast %w {to = f32} : tensor<8x4xi8> -> tensor<8x4xf32>
  %3 = graph.mul %2, %t : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %4 = graph.matmul %0, %3 : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  func.return %4 : tensor<5x4xf32>
}

// -----

// A zero point makes differences of nine bits, and unsigned bytes are none of the cube core's.
// CHECK-LABEL: func.func @zero_point
// CHECK-NOT: graph.matmul_integer
func.func @zero_point(%x: tensor<5x8xi8>, %u: tensor<5x8xui8>) -> (tensor<5x4xf32>, tensor<5x4xf32>) {
  %w = graph.weight "w" : tensor<8x4xi8>
  %z = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.cast %x {to = f32} : tensor<5x8xi8> -> tensor<5x8xf32>
  %1 = graph.sub %0, %z : (tensor<5x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  %2 = graph.cast %w {to = f32} : tensor<8x4xi8> -> tensor<8x4xf32>
  %3 = graph.matmul %1, %2 : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  %4 = graph.cast %u {to = f32} : tensor<5x8xui8> -> tensor<5x8xf32>
  %5 = graph.matmul %4, %2 : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  func.return %3, %5 : tensor<5x4xf32>, tensor<5x4xf32>
}

// -----

// What MatMulInteger is imported as; in f32 the sums were exact.
// CHECK-LABEL: func.func @whole
// CHECK: %[[P:.*]] = graph.matmul_integer %x, %w : (tensor<5x8xi8>, tensor<8x4xi8>) -> tensor<5x4xi32>
// CHECK-NEXT: func.return %[[P]]
func.func @whole(%x: tensor<5x8xi8>, %w: tensor<8x4xi8>) -> tensor<5x4xi32> {
  %0 = graph.cast %x {to = f32} : tensor<5x8xi8> -> tensor<5x8xf32>
  %1 = graph.cast %w {to = f32} : tensor<8x4xi8> -> tensor<8x4xf32>
  %2 = graph.matmul %0, %1 : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  %3 = graph.cast %2 {to = i32} : tensor<5x4xf32> -> tensor<5x4xi32>
  func.return %3 : tensor<5x4xi32>
}

// -----

// A gemm of turned weights with a bias.
// CHECK-LABEL: func.func @gemm
// CHECK: %[[T:.*]] = graph.transpose %w {perm = [1, 0]} : tensor<4x8xi8> -> tensor<8x4xi8>
// CHECK: graph.matmul_integer %x, %[[T]]
// CHECK: graph.add
func.func @gemm(%x: tensor<5x8xi8>, %w: tensor<4x8xi8>, %b: tensor<4xf32>) -> tensor<5x4xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.cast %x {to = f32} : tensor<5x8xi8> -> tensor<5x8xf32>
  %1 = graph.mul %0, %s : (tensor<5x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  %2 = graph.cast %w {to = f32} : tensor<4x8xi8> -> tensor<4x8xf32>
  %3 = graph.gemm %1, %2, %b {trans_b = true} : (tensor<5x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  func.return %3 : tensor<5x4xf32>
}
