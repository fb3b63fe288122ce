// RUN: fuse-opt %s -p graph-schedule,graph-to-npu --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'graph.concat' in @main: tensor<4x8xf32> is not made by a kernel, so it cannot be made in the concat's buffer
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>) {
  %a = graph.call @exp_0(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = graph.concat %a, %x {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  func.return %c : tensor<4x16xf32>
}
graph.kernel @exp_0 "exp"(%x_1: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {graph.output_strides = [array<i64: 16, 1>]} {
  %0 = graph.exp %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
  graph.yield %0 : tensor<4x8xf32>
}

// -----

// CHECK: 'graph.concat' in @main: two-places: a value would live in two buffers; copy it for one
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>) {
  %a = graph.call @exp_0(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = graph.concat %a, %a {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  func.return %c : tensor<4x16xf32>
}
graph.kernel @exp_0 "exp"(%x_1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.exp %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
  graph.yield %0 : tensor<4x8xf32>
}

// -----

// CHECK: graph.output_strides: tensor<4x8xf32> needs 2 positive strides, found array<i64: 16>
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  %a = graph.call @exp_0(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %a : tensor<4x8xf32>
}
graph.kernel @exp_0 "exp"(%x_1: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {graph.output_strides = [array<i64: 16>]} {
  %0 = graph.exp %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
  graph.yield %0 : tensor<4x8xf32>
}

// -----

// CHECK: output 0 is a part of a larger buffer; copy it in a kernel
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x4xf32>) {
  %a = graph.call @exp_0(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = graph.slice %a {starts = [0], ends = [4], axes = [1], steps = [1]} : tensor<4x8xf32> -> tensor<4x4xf32>
  func.return %b : tensor<4x4xf32>
}
graph.kernel @exp_0 "exp"(%x_1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.exp %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
  graph.yield %0 : tensor<4x8xf32>
}
