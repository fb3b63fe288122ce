// RUN: fuse-opt %s -p "graph-in-place{objective=kernels}" --split-input-file | filecheck %s

// Both operands are made by groups: they write their columns of one buffer.

// CHECK-LABEL: @both
// CHECK:      %a = graph.fused "exp"({{.*}}) -> tensor<4x16xf32> attributes {graph.output_strides = [array<i64: 48, 1>]}
// CHECK:      %b = graph.fused "tanh"({{.*}}) -> tensor<4x32xf32> attributes {graph.output_strides = [array<i64: 48, 1>]}
// CHECK:      %c = graph.concat %a, %b {axis = 1} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<4x48xf32>
// CHECK-NEXT: graph.fused "neg"({{.*}}) -> tensor<4x48xf32> {
func.func @both(%x: tensor<4x16xf32>, %y: tensor<4x32xf32>) -> (tensor<4x48xf32>) {
  %a = graph.fused "exp"(%x_1 = %x : tensor<4x16xf32>) -> tensor<4x16xf32> {
    %0 = graph.exp %x_1 : tensor<4x16xf32> -> tensor<4x16xf32>
    graph.yield %0 : tensor<4x16xf32>
  }
  %b = graph.fused "tanh"(%y_1 = %y : tensor<4x32xf32>) -> tensor<4x32xf32> {
    %1 = graph.tanh %y_1 : tensor<4x32xf32> -> tensor<4x32xf32>
    graph.yield %1 : tensor<4x32xf32>
  }
  %c = graph.fused "concat"(%a_1 = %a : tensor<4x16xf32>, %b_1 = %b : tensor<4x32xf32>) -> tensor<4x48xf32> {
    %2 = graph.concat %a_1, %b_1 {axis = 1} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<4x48xf32>
    graph.yield %2 : tensor<4x48xf32>
  }
  %d = graph.fused "neg"(%c_1 = %c : tensor<4x48xf32>) -> tensor<4x48xf32> {
    %3 = graph.neg %c_1 : tensor<4x48xf32> -> tensor<4x48xf32>
    graph.yield %3 : tensor<4x48xf32>
  }
  func.return %d : tensor<4x48xf32>
}

// -----

// A concat of a concat: all live in the outer one, and who reads the inner one reads it with strides.

// CHECK-LABEL: @nested
// CHECK: graph.fused "exp"({{.*}}) -> tensor<4x8xf32> attributes {graph.output_strides = [array<i64: 24, 1>]}
// CHECK: graph.fused "tanh"({{.*}}) -> tensor<4x8xf32> attributes {graph.output_strides = [array<i64: 24, 1>]}
// CHECK: %c = graph.concat
// CHECK: graph.fused "relu_slice"({{.*}} = %c : tensor<4x16xf32>) -> tensor<4x8xf32> attributes {graph.input_strides = [array<i64: 24, 1>], graph.output_strides = [array<i64: 24, 1>]}
// CHECK: %e = graph.concat %c, %d {axis = 1}
// CHECK-NEXT: func.return %e
func.func @nested(%x: tensor<4x8xf32>) -> (tensor<4x24xf32>) {
  %a = graph.fused "exp"(%x_1 = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = graph.exp %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
    graph.yield %0 : tensor<4x8xf32>
  }
  %b = graph.fused "tanh"(%x_1 = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %1 = graph.tanh %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
    graph.yield %1 : tensor<4x8xf32>
  }
  %c = graph.fused "concat"(%a_1 = %a : tensor<4x8xf32>, %b_1 = %b : tensor<4x8xf32>) -> tensor<4x16xf32> {
    %2 = graph.concat %a_1, %b_1 {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    graph.yield %2 : tensor<4x16xf32>
  }
  %d = graph.fused "relu_slice"(%c_1 = %c : tensor<4x16xf32>) -> tensor<4x8xf32> {
    %3 = graph.slice %c_1 {starts = [4], ends = [12], axes = [1], steps = [1]} : tensor<4x16xf32> -> tensor<4x8xf32>
    %4 = graph.relu %3 : tensor<4x8xf32> -> tensor<4x8xf32>
    graph.yield %4 : tensor<4x8xf32>
  }
  %e = graph.fused "concat"(%c_1 = %c : tensor<4x16xf32>, %d_1 = %d : tensor<4x8xf32>) -> tensor<4x24xf32> {
    %5 = graph.concat %c_1, %d_1 {axis = 1} : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
    graph.yield %5 : tensor<4x24xf32>
  }
  func.return %e : tensor<4x24xf32>
}

// -----

// An input of the network, and the second use of a value, are copied by one group.

// CHECK-LABEL: @copied
// CHECK:      %a = graph.fused "exp"({{.*}}) -> tensor<4x8xf32> attributes {graph.output_strides = [array<i64: 24, 1>]}
// CHECK:      %[[C:.*]], %[[D:.*]] = graph.fused "copy"(%{{.*}} = %x : tensor<4x8xf32>, %{{.*}} = %a : tensor<4x8xf32>) -> tensor<4x8xf32>, tensor<4x8xf32> attributes {graph.input_strides = [unit, array<i64: 24, 1>], graph.output_strides = [array<i64: 24, 1>, array<i64: 24, 1>]}
// CHECK:      graph.concat %[[C]], %a, %[[D]] {axis = 1}
func.func @copied(%x: tensor<4x8xf32>) -> (tensor<4x24xf32>) {
  %a = graph.fused "exp"(%x_1 = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = graph.exp %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
    graph.yield %0 : tensor<4x8xf32>
  }
  %c = graph.fused "concat"(%x_1 = %x : tensor<4x8xf32>, %a_1 = %a : tensor<4x8xf32>) -> tensor<4x24xf32> {
    %1 = graph.concat %x_1, %a_1, %a_1 {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
    graph.yield %1 : tensor<4x24xf32>
  }
  func.return %c : tensor<4x24xf32>
}

// -----

// Nothing can be in place: an input, and a value that the network returns. The group stays.

// CHECK-LABEL: @left
// CHECK-NOT: strides
// CHECK: graph.fused "concat"
func.func @left(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x8xf32>) {
  %a = graph.fused "exp"(%x_1 = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = graph.exp %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
    graph.yield %0 : tensor<4x8xf32>
  }
  %c = graph.fused "concat"(%x_1 = %x : tensor<4x8xf32>, %a_1 = %a : tensor<4x8xf32>) -> tensor<4x16xf32> {
    %1 = graph.concat %x_1, %a_1 {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    graph.yield %1 : tensor<4x16xf32>
  }
  func.return %c, %a : tensor<4x16xf32>, tensor<4x8xf32>
}

// -----

// Rows behind rows are runs of memory: no strides are needed. Halves of them are read in place.

// CHECK-LABEL: @rows
// CHECK-NOT: output_strides
// CHECK: %c = graph.concat %a, %b {axis = 0}
// CHECK-NEXT: %l, %r = graph.split %c {axis = 1, sizes = [4, 4]}
// CHECK-NEXT: graph.fused "sub"(%{{.*}} = %l : tensor<8x4xf32>, %{{.*}} = %r : tensor<8x4xf32>) -> tensor<8x4xf32> attributes {graph.input_strides = [array<i64: 8, 1>, array<i64: 8, 1>]}
func.func @rows(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>) {
  %a = graph.fused "exp"(%x_1 = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = graph.exp %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
    graph.yield %0 : tensor<4x8xf32>
  }
  %b = graph.fused "tanh"(%x_1 = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %1 = graph.tanh %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
    graph.yield %1 : tensor<4x8xf32>
  }
  %c = graph.fused "concat"(%a_1 = %a : tensor<4x8xf32>, %b_1 = %b : tensor<4x8xf32>) -> tensor<8x8xf32> {
    %2 = graph.concat %a_1, %b_1 {axis = 0} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    graph.yield %2 : tensor<8x8xf32>
  }
  %l, %r = graph.fused "split"(%c_1 = %c : tensor<8x8xf32>) -> tensor<8x4xf32>, tensor<8x4xf32> {
    %3, %4 = graph.split %c_1 {axis = 1, sizes = [4, 4]} : tensor<8x8xf32> -> tensor<8x4xf32>, tensor<8x4xf32>
    graph.yield %3, %4 : tensor<8x4xf32>, tensor<8x4xf32>
  }
  %d = graph.fused "sub"(%l_1 = %l : tensor<8x4xf32>, %r_1 = %r : tensor<8x4xf32>) -> tensor<8x4xf32> {
    %5 = graph.sub %l_1, %r_1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    graph.yield %5 : tensor<8x4xf32>
  }
  func.return %d : tensor<8x4xf32>
}
