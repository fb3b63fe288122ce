// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels}' --split-input-file --print-debuginfo | filecheck %s

// Automatic fusion: a chain of any operators over one space is one group.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<64x64xf32>, %y: tensor<64xf32>) -> tensor<64x1xf32> {
  // CHECK: %0 = graph.fused "exp_mul_reduce_sum_sqrt"(%x_1 = %x : tensor<64x64xf32>, %y_1 = %y : tensor<64xf32>) -> tensor<64x1xf32> {
  // CHECK-NEXT: graph.exp {{.*}} loc("a")
  // CHECK-NEXT: graph.mul {{.*}} loc("b")
  // CHECK-NEXT: graph.reduce_sum {{.*}} loc("c")
  // CHECK-NEXT: graph.sqrt {{.*}} loc("d")
  // CHECK-NEXT: graph.yield {{.*}} loc(
  // CHECK-NEXT: } loc(fused["a", "b", "c", "d"])
  %0 = graph.exp %x : tensor<64x64xf32> -> tensor<64x64xf32> loc("a")
  %1 = graph.mul %0, %y : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32> loc("b")
  %2 = graph.reduce_sum %1 {axes = [1]} : tensor<64x64xf32> -> tensor<64x1xf32> loc("c")
  %3 = graph.sqrt %2 : tensor<64x1xf32> -> tensor<64x1xf32> loc("d")
  func.return %3 : tensor<64x1xf32>
}

// -----

// What follows from weights alone stays outside, and views between groups cost nothing.
// CHECK-LABEL: func.func @outside
func.func @outside(%x: tensor<64x64xf32>, %i: tensor<8xi64>) -> tensor<8x8x8xf32> {
  // CHECK: %w = graph.weight "w"
  // CHECK-NEXT: %t = graph.transpose %w
  // CHECK-NEXT: graph.fused "matmul"(%{{.*}} = %x : tensor<64x64xf32>{{.*}}, %{{.*}} = %t : tensor<64x64xf32>
  // CHECK: graph.fused "gather"(
  // CHECK: %{{.*}} = graph.reshape
  // CHECK-NEXT: func.return
  %w = graph.weight "w" : tensor<64x64xf32>
  %t = graph.transpose %w {perm = [1, 0]} : tensor<64x64xf32> -> tensor<64x64xf32>
  %0 = graph.matmul %x, %t : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = graph.gather %0, %i : (tensor<64x64xf32>, tensor<8xi64>) -> tensor<8x64xf32>
  %2 = graph.reshape %1 : tensor<8x64xf32> -> tensor<8x8x8xf32>
  func.return %2 : tensor<8x8x8xf32>
}

// -----

// Transpositions disappear into the kernel around them: heads of attention, read and written.
// CHECK-LABEL: func.func @heads
func.func @heads(%q: tensor<1x128x64xf32>, %k: tensor<1x128x64xf32>, %v: tensor<1x128x64xf32>) -> tensor<1x128x64xf32> {
  // CHECK-NOT: graph.attention
  // CHECK-NOT: graph.fused "transpose"
  // CHECK: graph.fused "attention_scale"({{.*}} = %q : tensor<1x128x64xf32>, {{.*}} = %k : tensor<1x128x64xf32>, {{.*}} = %v : tensor<1x128x64xf32>)
  // CHECK: graph.transpose {{.*}} {perm = [0, 2, 3, 1]} : tensor<1x128x4x16xf32> -> tensor<1x4x16x128xf32>
  // CHECK-NEXT: graph.matmul
  // CHECK: graph.softmax
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.transpose {{.*}} {perm = [0, 2, 1, 3]} : tensor<1x4x128x16xf32> -> tensor<1x128x4x16xf32>
  // CHECK-NOT: graph.fused
  // CHECK: func.return
  %q0 = graph.reshape %q : tensor<1x128x64xf32> -> tensor<1x128x4x16xf32>
  %k0 = graph.reshape %k : tensor<1x128x64xf32> -> tensor<1x128x4x16xf32>
  %v0 = graph.reshape %v : tensor<1x128x64xf32> -> tensor<1x128x4x16xf32>
  %q1 = graph.transpose %q0 {perm = [0, 2, 1, 3]} : tensor<1x128x4x16xf32> -> tensor<1x4x128x16xf32>
  %k1 = graph.transpose %k0 {perm = [0, 2, 1, 3]} : tensor<1x128x4x16xf32> -> tensor<1x4x128x16xf32>
  %v1 = graph.transpose %v0 {perm = [0, 2, 1, 3]} : tensor<1x128x4x16xf32> -> tensor<1x4x128x16xf32>
  %0 = graph.attention %q1, %k1, %v1 {scale = 0.25} : (tensor<1x4x128x16xf32>, tensor<1x4x128x16xf32>, tensor<1x4x128x16xf32>) -> tensor<1x4x128x16xf32>
  %1 = graph.transpose %0 {perm = [0, 2, 1, 3]} : tensor<1x4x128x16xf32> -> tensor<1x128x4x16xf32>
  %2 = graph.reshape %1 : tensor<1x128x4x16xf32> -> tensor<1x128x64xf32>
  func.return %2 : tensor<1x128x64xf32>
}

// -----

// A transposition that nobody can do on the way is a group of its own.
// CHECK-LABEL: func.func @alone
// CHECK: graph.fused "transpose"(
// CHECK-NEXT: graph.transpose
func.func @alone(%x: tensor<64x32xf32>) -> tensor<32x64xf32> {
  %0 = graph.transpose %x {perm = [1, 0]} : tensor<64x32xf32> -> tensor<32x64xf32>
  func.return %0 : tensor<32x64xf32>
}

// -----

// C4: {a, b} and d, but not a, b and d: c lies between them.
// CHECK-LABEL: func.func @convex
func.func @convex(%x: tensor<1x1x4x8xf32>, %i: tensor<1x4x8x2xf32>) -> tensor<1x1x4x8xf32> {
  // CHECK: %a, %b = graph.fused "relu_exp"(
  // CHECK: %c = graph.fused "grid_sample"(%{{.*}} = %b :
  // CHECK: %d = graph.fused "add"(%{{.*}} = %a : {{.*}}, %{{.*}} = %c : {{.*}})
  %a = graph.relu %x : tensor<1x1x4x8xf32> -> tensor<1x1x4x8xf32>
  %b = graph.exp %a : tensor<1x1x4x8xf32> -> tensor<1x1x4x8xf32>
  %c = graph.grid_sample %b, %i : (tensor<1x1x4x8xf32>, tensor<1x4x8x2xf32>) -> tensor<1x1x4x8xf32>
  %d = graph.add %a, %c : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  func.return %d : tensor<1x1x4x8xf32>
}

// -----

// Nothing to compute, and what nobody needs.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: graph.fused
func.func @nothing(%x: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<4x8xf32>) {
  %0 = graph.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %1 = graph.exp %x : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return %0, %x : tensor<32xf32>, tensor<4x8xf32>
}
