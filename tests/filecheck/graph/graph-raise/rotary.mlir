// RUN: fuse-opt %s -p graph-raise | filecheck %s

// CHECK-LABEL: func.func @halves
// CHECK-DAG: %[[X1:.*]] = graph.slice %x {starts = [0], ends = [4], axes = [1], steps = [1]} : tensor<5x8xf32> -> tensor<5x4xf32>
// CHECK-DAG: %[[X2:.*]] = graph.slice %x {starts = [4], ends = [8], axes = [1], steps = [1]} : tensor<5x8xf32> -> tensor<5x4xf32>
// CHECK: graph.sub
// CHECK: graph.add
// CHECK-NEXT: %[[Y:.*]] = graph.concat %{{.*}}, %{{.*}} {axis = 1}
// CHECK-NEXT: func.return %[[Y]]
func.func @halves(%x: tensor<5x8xf32>, %c: tensor<5x8xf32>, %s: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %0 = graph.slice %x {starts = [0], ends = [4], axes = [1], steps = [1]} : tensor<5x8xf32> -> tensor<5x4xf32>
  %1 = graph.slice %x {starts = [4], ends = [8], axes = [1], steps = [1]} : tensor<5x8xf32> -> tensor<5x4xf32>
  %2 = graph.neg %1 : tensor<5x4xf32> -> tensor<5x4xf32>
  %3 = graph.concat %2, %0 {axis = -1} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x8xf32>
  %4 = graph.mul %x, %c : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = graph.mul %3, %s : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %6 = graph.add %4, %5 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  func.return %6 : tensor<5x8xf32>
}

// By a split.
// CHECK-LABEL: func.func @pieces
// CHECK-NOT: graph.neg
func.func @pieces(%x: tensor<5x8xf32>, %c: tensor<5x8xf32>, %s: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %0, %1 = graph.split %x {axis = 1, sizes = [4, 4]} : tensor<5x8xf32> -> tensor<5x4xf32>, tensor<5x4xf32>
  %2 = graph.neg %1 : tensor<5x4xf32> -> tensor<5x4xf32>
  %3 = graph.concat %2, %0 {axis = 1} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x8xf32>
  %4 = graph.mul %c, %x : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = graph.mul %s, %3 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %6 = graph.add %5, %4 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  func.return %6 : tensor<5x8xf32>
}

// The first half is negated: no rotation of this kind.
// CHECK-LABEL: func.func @other_sign
// CHECK: graph.neg
func.func @other_sign(%x: tensor<5x8xf32>, %c: tensor<5x8xf32>, %s: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %0, %1 = graph.split %x {axis = 1, sizes = [4, 4]} : tensor<5x8xf32> -> tensor<5x4xf32>, tensor<5x4xf32>
  %2 = graph.neg %0 : tensor<5x4xf32> -> tensor<5x4xf32>
  %3 = graph.concat %1, %2 {axis = 1} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x8xf32>
  %4 = graph.mul %x, %c : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = graph.mul %3, %s : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %6 = graph.add %4, %5 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  func.return %6 : tensor<5x8xf32>
}

// Unequal pieces, another value, the wrong axis.
// CHECK-LABEL: func.func @unequal
// CHECK: graph.neg
func.func @unequal(%x: tensor<5x8xf32>, %c: tensor<5x8xf32>, %s: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %0, %1 = graph.split %x {axis = 1, sizes = [2, 6]} : tensor<5x8xf32> -> tensor<5x2xf32>, tensor<5x6xf32>
  %2 = graph.neg %1 : tensor<5x6xf32> -> tensor<5x6xf32>
  %3 = graph.concat %2, %0 {axis = 1} : (tensor<5x6xf32>, tensor<5x2xf32>) -> tensor<5x8xf32>
  %4 = graph.mul %x, %c : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = graph.mul %3, %s : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %6 = graph.add %4, %5 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  func.return %6 : tensor<5x8xf32>
}

// CHECK-LABEL: func.func @other_value
// CHECK: graph.neg
func.func @other_value(%x: tensor<5x8xf32>, %z: tensor<5x8xf32>, %c: tensor<5x8xf32>, %s: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %0, %1 = graph.split %z {axis = 1, sizes = [4, 4]} : tensor<5x8xf32> -> tensor<5x4xf32>, tensor<5x4xf32>
  %2 = graph.neg %1 : tensor<5x4xf32> -> tensor<5x4xf32>
  %3 = graph.concat %2, %0 {axis = 1} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x8xf32>
  %4 = graph.mul %x, %c : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = graph.mul %3, %s : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %6 = graph.add %4, %5 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  func.return %6 : tensor<5x8xf32>
}

// The rotated value is an output too.
// CHECK-LABEL: func.func @rotated_is_used
// CHECK: graph.neg
func.func @rotated_is_used(%x: tensor<5x8xf32>, %c: tensor<5x8xf32>, %s: tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5x8xf32>) {
  %0, %1 = graph.split %x {axis = 1, sizes = [4, 4]} : tensor<5x8xf32> -> tensor<5x4xf32>, tensor<5x4xf32>
  %2 = graph.neg %1 : tensor<5x4xf32> -> tensor<5x4xf32>
  %3 = graph.concat %2, %0 {axis = 1} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x8xf32>
  %4 = graph.mul %x, %c : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = graph.mul %3, %s : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %6 = graph.add %4, %5 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  func.return %6, %3 : tensor<5x8xf32>, tensor<5x8xf32>
}
