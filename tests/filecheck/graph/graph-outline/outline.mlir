// RUN: fuse-opt %s -p graph-outline --print-debuginfo | filecheck %s
// RUN: fuse-opt %s -p graph-outline,graph-outline | filecheck %s --check-prefix AGAIN

// Equal groups share one kernel, whatever their names and places are; the place stays on the call.

// CHECK-LABEL: func.func @main
// AGAIN-LABEL: func.func @main
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %0 = graph.call @matmul_relu_1(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("layer 1")
  %0 = graph.fused "matmul_relu"(%a = %x : tensor<4x4xf32>, %b = %w : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = graph.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = graph.relu %1 : tensor<4x4xf32> -> tensor<4x4xf32>
    graph.yield %2 : tensor<4x4xf32>
  } loc("layer 1")
  // CHECK-NEXT: %1 = graph.call @matmul_relu_1(%0, %w) : {{.*}} loc("layer 2")
  %3 = graph.fused "matmul_relu"(%c = %0 : tensor<4x4xf32>, %d = %w : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %product = graph.matmul %c, %d : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = graph.relu %product : tensor<4x4xf32> -> tensor<4x4xf32>
    graph.yield %4 : tensor<4x4xf32>
  } loc("layer 2")
  // Operands the other way round.
  // CHECK-NEXT: %2 = graph.call @matmul_relu_2(%1, %w)
  %5 = graph.fused "matmul_relu"(%e = %3 : tensor<4x4xf32>, %f = %w : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %6 = graph.matmul %f, %e : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %7 = graph.relu %6 : tensor<4x4xf32> -> tensor<4x4xf32>
    graph.yield %7 : tensor<4x4xf32>
  }
  // A pattern whose name is no symbol; several results; what a user wrote goes to the kernel.
  // CHECK-NEXT: %3, %4 = graph.call @a_b_c_0(%2) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  %8, %9 = graph.fused "a b/c"(%g = %5 : tensor<4x4xf32>) -> tensor<4x4xf32>, tensor<4xf32> attributes {npu.schedule = "by hand"} {
    %10 = graph.neg %g : tensor<4x4xf32> -> tensor<4x4xf32>
    %11 = graph.reduce_sum %10 {axes = [0], keepdims = false} : tensor<4x4xf32> -> tensor<4xf32>
    graph.yield %10, %11 : tensor<4x4xf32>, tensor<4xf32>
  }
  // The same operators without that attribute are another kernel.
  // CHECK-NEXT: %5, %6 = graph.call @a_b_c_1(%2)
  %12, %13 = graph.fused "a b/c"(%h = %5 : tensor<4x4xf32>) -> tensor<4x4xf32>, tensor<4xf32> {
    %14 = graph.neg %h : tensor<4x4xf32> -> tensor<4x4xf32>
    %15 = graph.reduce_sum %14 {axes = [0], keepdims = false} : tensor<4x4xf32> -> tensor<4xf32>
    graph.yield %14, %15 : tensor<4x4xf32>, tensor<4xf32>
  }
  // CHECK-NEXT: func.return %0, %2, %3, %5, %4
  func.return %0, %5, %8, %12, %9 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}

// The name that a function has is taken.
// CHECK: func.func @matmul_relu_0
func.func @matmul_relu_0(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // An existing kernel of the same structure is called.
  // CHECK-NEXT: graph.call @mine(%x)
  %0 = graph.fused "exp"(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = graph.exp %a : tensor<4x4xf32> -> tensor<4x4xf32>
    graph.yield %1 : tensor<4x4xf32>
  }
  func.return %0 : tensor<4x4xf32>
}
graph.kernel @mine "by hand"(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.exp %a : tensor<4x4xf32> -> tensor<4x4xf32>
  graph.yield %0 : tensor<4x4xf32>
}

// CHECK: graph.kernel @mine "by hand"
// CHECK: graph.kernel @matmul_relu_1 "matmul_relu"(%{{.*}}: tensor<4x4xf32>{{.*}}, %{{.*}}: tensor<4x4xf32>{{.*}}) -> tensor<4x4xf32> {
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.yield
// CHECK: graph.kernel @matmul_relu_2 "matmul_relu"
// CHECK: graph.kernel @a_b_c_0 "a b/c"{{.*}} attributes {npu.schedule = "by hand"}
// CHECK: graph.kernel @a_b_c_1 "a b/c"
// CHECK-NOT: graph.kernel
// CHECK-NOT: graph.fused

// AGAIN-COUNT-5: graph.kernel
// AGAIN-NOT: graph.kernel
