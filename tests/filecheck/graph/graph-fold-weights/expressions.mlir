// RUN: fuse-opt %s -p graph-fold-weights --split-input-file --print-debuginfo | filecheck %s

// What follows from weights and constants alone is computed in @weights; main reads it by name.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %w = graph.weight "w" : tensor<4x4xf32>
  %c = graph.constant dense<2.0> : tensor<f32>
  %t = graph.transpose %w {perm = [1, 0]} : tensor<4x4xf32> -> tensor<4x4xf32> loc("turn")
  %s = graph.mul %t, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32> loc("double")
  %e = graph.eye_like : tensor<4x4xf32> loc("eye")
  // CHECK: %s = graph.weight "s" : tensor<4x4xf32> loc("double")
  // CHECK-NEXT: %e = graph.weight "e" : tensor<4x4xf32> loc("eye")
  // CHECK-NEXT: %0 = graph.matmul %x, %s
  %0 = graph.matmul %x, %s : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("product")
  // CHECK-NEXT: %1 = graph.add %0, %e
  %1 = graph.add %0, %e : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: func.return %1, %s
  func.return %1, %s : tensor<4x4xf32>, tensor<4x4xf32>
}
// CHECK: func.func @weights() -> (tensor<4x4xf32> {graph.name = "s"}, tensor<4x4xf32> {graph.name = "e"}) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<4x4xf32>
// CHECK-NEXT: %t = graph.transpose %w {perm = [1, 0]} : {{.*}} loc("turn")
// CHECK-NEXT: %c = graph.constant
// CHECK-NEXT: %s = graph.mul %t, %c : {{.*}} loc("double")
// CHECK-NEXT: %e = graph.eye_like
// CHECK-NEXT: func.return %s, %e
// CHECK-NOT: loc(unknown)

// -----

// The derived name may not hide a stored weight, nor another derived one.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-DAG: graph.weight "v.2" : tensor<2xf32>
  // CHECK-DAG: graph.weight "v" : tensor<2xf32>
  // CHECK-DAG: graph.weight "v.3" : tensor<2xf32>
  %stored = graph.weight "v" : tensor<2xf32>
  %v = graph.exp %stored : tensor<2xf32> -> tensor<2xf32>
  %v_1 = graph.log %stored : tensor<2xf32> -> tensor<2xf32>
  %0 = graph.add %x, %v : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.add %x, %v_1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.add %x, %stored : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// What @weights computes already stays; what nobody reads any more goes away.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %e = graph.weight "e"
  %d = graph.weight "d" : tensor<2xf32>
  %e = graph.exp %d : tensor<2xf32> -> tensor<2xf32>
  %0 = graph.add %x, %e : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
// CHECK: func.func @weights() -> (tensor<2xf32> {graph.name = "e"}) {
// CHECK-NEXT: %w = graph.weight "w"
// CHECK-NEXT: %d = graph.neg %w
// CHECK-NEXT: %e = graph.exp %d
// CHECK-NEXT: func.return %e
func.func @weights() -> (tensor<2xf32> {graph.name = "d"}, tensor<2xf32> {graph.name = "unused"}) {
  %w = graph.weight "w" : tensor<2xf32>
  %d = graph.neg %w : tensor<2xf32> -> tensor<2xf32>
  %u = graph.abs %w : tensor<2xf32> -> tensor<2xf32>
  func.return %d, %u : tensor<2xf32>, tensor<2xf32>
}

// -----

// Nothing to fold: no function appears.
// CHECK-LABEL: func.func @main
// CHECK-NOT: @weights
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = graph.weight "w" : tensor<2xf32>
  %0 = graph.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
