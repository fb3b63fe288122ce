// RUN: fuse-opt %s -p graph-infer-shapes --split-input-file --verify-diagnostics | filecheck %s

// Each operator alone may be right; together they are not.

// CHECK: invalid.mlir:9:3: 'graph.add' in @sizes: graph.add: shapes [2, 3] and [2, 4] do not broadcast
func.func @sizes(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %0 = graph.relu %x : tensor<2x3xf32> -> tensor<?x?xf32>
  %1 = graph.relu %y : tensor<2x4xf32> -> tensor<?x?xf32>
  %2 = graph.add %0, %1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// -----

// CHECK: 'graph.reshape' in @elements: graph.reshape: [2, 3] and [4] differ in number of elements
func.func @elements(%x: tensor<2x3xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : tensor<2x3xf32> -> tensor<?x?xf32>
  %1 = graph.reshape %0 : tensor<?x?xf32> -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// -----

// CHECK: 'graph.neg' in @declared: graph.neg: the result is tensor<2x3xf32>, not tensor<2x5xf32>
func.func @declared(%x: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %0 = graph.relu %x : tensor<2x3xf32> -> tensor<2x?xf32>
  %1 = graph.neg %0 : tensor<2x?xf32> -> tensor<2x5xf32>
  func.return %1 : tensor<2x5xf32>
}

// -----

// CHECK: 'graph.call' in @late: the type of an operand becomes more precise than its kernel's; infer shapes before graph-outline
func.func @late(%x: tensor<2x3xf32>) -> tensor<?x3xf32> {
  %0 = graph.relu %x : tensor<2x3xf32> -> tensor<?x3xf32>
  %1 = graph.call @k(%0) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %1 : tensor<?x3xf32>
}
graph.kernel @k "relu"(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = graph.relu %a : tensor<?x3xf32> -> tensor<?x3xf32>
  graph.yield %0 : tensor<?x3xf32>
}
