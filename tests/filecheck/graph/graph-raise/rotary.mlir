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

// Neighbours are a pair: even entries and odd ones.
// CHECK-LABEL: func.func @pairs
// CHECK-DAG: %[[X1:.*]] = graph.slice %x {starts = [0], ends = [7], axes = [1], steps = [2]} : tensor<5x8xf32> -> tensor<5x4xf32>
// CHECK-DAG: %[[X2:.*]] = graph.slice %x {starts = [1], ends = [8], axes = [1], steps = [2]} : tensor<5x8xf32> -> tensor<5x4xf32>
// CHECK-NOT: graph.neg
// CHECK: %[[P:.*]] = graph.concat %{{.*}}, %{{.*}} {axis = 2} : (tensor<5x4x1xf32>, tensor<5x4x1xf32>) -> tensor<5x4x2xf32>
// CHECK-NEXT: graph.reshape %[[P]] : tensor<5x4x2xf32> -> tensor<5x8xf32>
func.func @pairs(%x: tensor<5x8xf32>, %c: tensor<5x8xf32>, %s: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %0 = graph.slice %x {starts = [0], ends = [8], axes = [1], steps = [2]} : tensor<5x8xf32> -> tensor<5x4xf32>
  %1 = graph.slice %x {starts = [1], ends = [8], axes = [1], steps = [2]} : tensor<5x8xf32> -> tensor<5x4xf32>
  %2 = graph.neg %1 : tensor<5x4xf32> -> tensor<5x4xf32>
  %3 = graph.unsqueeze %2 {axes = [2]} : tensor<5x4xf32> -> tensor<5x4x1xf32>
  %4 = graph.unsqueeze %0 {axes = [2]} : tensor<5x4xf32> -> tensor<5x4x1xf32>
  %5 = graph.concat %3, %4 {axis = -1} : (tensor<5x4x1xf32>, tensor<5x4x1xf32>) -> tensor<5x4x2xf32>
  %6 = graph.reshape %5 : tensor<5x4x2xf32> -> tensor<5x8xf32>
  %7 = graph.mul %x, %c : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %8 = graph.mul %6, %s : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %9 = graph.add %7, %8 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  func.return %9 : tensor<5x8xf32>
}

// Halves put together as pairs are no rotation of this kind.
// CHECK-LABEL: func.func @mixed
// CHECK: graph.neg
func.func @mixed(%x: tensor<5x8xf32>, %c: tensor<5x8xf32>, %s: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %0 = graph.slice %x {starts = [0], ends = [4], axes = [1], steps = [1]} : tensor<5x8xf32> -> tensor<5x4xf32>
  %1 = graph.slice %x {starts = [4], ends = [8], axes = [1], steps = [1]} : tensor<5x8xf32> -> tensor<5x4xf32>
  %2 = graph.neg %1 : tensor<5x4xf32> -> tensor<5x4xf32>
  %3 = graph.unsqueeze %2 {axes = [2]} : tensor<5x4xf32> -> tensor<5x4x1xf32>
  %4 = graph.unsqueeze %0 {axes = [2]} : tensor<5x4xf32> -> tensor<5x4x1xf32>
  %5 = graph.concat %3, %4 {axis = -1} : (tensor<5x4x1xf32>, tensor<5x4x1xf32>) -> tensor<5x4x2xf32>
  %6 = graph.reshape %5 : tensor<5x4x2xf32> -> tensor<5x8xf32>
  %7 = graph.mul %x, %c : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %8 = graph.mul %6, %s : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %9 = graph.add %7, %8 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  func.return %9 : tensor<5x8xf32>
}

// Pieces of a split that are rotated already become slices, which a kernel reads in place.
// CHECK-LABEL: func.func @rotated_pieces
// CHECK-NOT: graph.split
// CHECK: graph.concat
func.func @rotated_pieces(%x: tensor<5x8xf32>, %c: tensor<5x4xf32>, %s: tensor<5x4xf32>) -> tensor<5x8xf32> {
  %0, %1 = graph.split %x {axis = 1, sizes = [4, 4]} : tensor<5x8xf32> -> tensor<5x4xf32>, tensor<5x4xf32>
  %2 = graph.mul %0, %c : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %3 = graph.mul %s, %1 : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %4 = graph.sub %2, %3 : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %5 = graph.mul %0, %s : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %6 = graph.mul %1, %c : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %7 = graph.add %5, %6 : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %8 = graph.concat %4, %7 {axis = 1} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x8xf32>
  func.return %8 : tensor<5x8xf32>
}
