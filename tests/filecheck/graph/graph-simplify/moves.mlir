// RUN: fuse-opt %s -p graph-simplify | filecheck %s

// CHECK-LABEL: func.func @slice_of_slice
// CHECK-NEXT: %0 = graph.slice %x {starts = [4], ends = [6], axes = [1], steps = [1]} : tensor<2x8xf32> -> tensor<2x2xf32>
// CHECK-NEXT: func.return %0
func.func @slice_of_slice(%x: tensor<2x8xf32>) -> tensor<2x2xf32> {
  %0 = graph.slice %x {starts = [2], ends = [8], axes = [1], steps = [1]} : tensor<2x8xf32> -> tensor<2x6xf32>
  %1 = graph.slice %0 {starts = [2], ends = [-2], axes = [-1], steps = [1]} : tensor<2x6xf32> -> tensor<2x2xf32>
  func.return %1 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @taken_apart_and_joined
// CHECK-NEXT: func.return %x
func.func @taken_apart_and_joined(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0, %1 = graph.split %x {axis = 1, sizes = [3, 5]} : tensor<2x8xf32> -> tensor<2x3xf32>, tensor<2x5xf32>
  %2 = graph.concat %0, %1 {axis = 1} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  func.return %2 : tensor<2x8xf32>
}

// The halves change places.
// CHECK-LABEL: func.func @rolled
// CHECK: graph.split
// CHECK-NEXT: graph.concat
func.func @rolled(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0, %1 = graph.split %x {axis = 1, sizes = [4, 4]} : tensor<2x8xf32> -> tensor<2x4xf32>, tensor<2x4xf32>
  %2 = graph.concat %1, %0 {axis = 1} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  func.return %2 : tensor<2x8xf32>
}

// The inner concat is an output too, so it is made all the same.
// CHECK-LABEL: func.func @used_concat
// CHECK-NEXT: %0 = graph.concat %x, %z
// CHECK-NEXT: %1 = graph.concat %0, %x
func.func @used_concat(%x: tensor<2x4xf32>, %z: tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<6x4xf32>) {
  %0 = graph.concat %x, %z {axis = 0} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = graph.concat %0, %x {axis = 0} : (tensor<4x4xf32>, tensor<2x4xf32>) -> tensor<6x4xf32>
  func.return %0, %1 : tensor<4x4xf32>, tensor<6x4xf32>
}

// Of unknown sizes it is not known where a slice lies.
// CHECK-LABEL: func.func @dynamic
// CHECK-NEXT: graph.slice
// CHECK-NEXT: graph.slice
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.slice %x {starts = [2], ends = [8], axes = [0], steps = [1]} : tensor<?xf32> -> tensor<?xf32>
  %1 = graph.slice %0 {starts = [-2], ends = [9], axes = [0], steps = [1]} : tensor<?xf32> -> tensor<?xf32>
  func.return %1 : tensor<?xf32>
}

// An empty slice stays what it is.
// CHECK-LABEL: func.func @empty
// CHECK: -> tensor<0xf32>
func.func @empty(%x: tensor<8xf32>) -> tensor<0xf32> {
  %0 = graph.slice %x {starts = [2], ends = [8], axes = [0], steps = [1]} : tensor<8xf32> -> tensor<6xf32>
  %1 = graph.slice %0 {starts = [5], ends = [2], axes = [0], steps = [1]} : tensor<6xf32> -> tensor<0xf32>
  func.return %1 : tensor<0xf32>
}

// Queries, keys and values of one projection, taken by their number.
// CHECK-LABEL: func.func @numbered
// CHECK-NEXT: %0 = graph.slice %x {starts = [1], ends = [2], axes = [0], steps = [1]} : tensor<3x4x8xf32> -> tensor<1x4x8xf32>
// CHECK-NEXT: %1 = graph.reshape %0 : tensor<1x4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: func.return %1
func.func @numbered(%x: tensor<3x4x8xf32>) -> tensor<4x8xf32> {
  %i = graph.constant dense<1> : tensor<i64>
  %0 = graph.gather %x, %i : (tensor<3x4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @computed_number
// CHECK-NEXT: graph.gather
func.func @computed_number(%x: tensor<3x4x8xf32>, %i: tensor<i64>) -> tensor<4x8xf32> {
  %0 = graph.gather %x, %i : (tensor<3x4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}

// Keys turned behind merged heads, as torch's dynamo exporter writes it.
// CHECK-LABEL: func.func @merged_heads
// CHECK-NEXT: %0 = graph.transpose %x {perm = [0, 1, 3, 2]} : tensor<2x4x5x8xf32> -> tensor<2x4x8x5xf32>
// CHECK-NEXT: func.return %0
func.func @merged_heads(%x: tensor<2x4x5x8xf32>) -> tensor<2x4x8x5xf32> {
  %0 = graph.reshape %x : tensor<2x4x5x8xf32> -> tensor<8x5x8xf32>
  %1 = graph.transpose %0 {perm = [0, 2, 1]} : tensor<8x5x8xf32> -> tensor<8x8x5xf32>
  %2 = graph.reshape %1 : tensor<8x8x5xf32> -> tensor<2x4x8x5xf32>
  func.return %2 : tensor<2x4x8x5xf32>
}
