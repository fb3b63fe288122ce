// RUN: fuse-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s

// CHECK: graph.fused: the region ends with graph.yield
func.func @no_end(%x: tensor<4xf32>) {
  %0 = graph.fused "relu"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    "test.termop"(%a) : (tensor<4xf32>) -> ()
  }
  func.return
}

// -----

// CHECK: Operation graph.relu terminates block in single-block region but is not a terminator
func.func @no_terminator(%x: tensor<4xf32>) {
  %0 = graph.fused "relu"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %y = graph.relu %a : tensor<4xf32> -> tensor<4xf32>
  }
  func.return
}

// -----

// CHECK: graph.fused: graph.yield gives tensor<4xf32>, not tensor<5xf32>
func.func @result(%x: tensor<4xf32>) {
  %0 = graph.fused "relu"(%a = %x : tensor<4xf32>) -> tensor<5xf32> {
    %y = graph.relu %a : tensor<4xf32> -> tensor<4xf32>
    graph.yield %y : tensor<4xf32>
  }
  func.return
}

// -----

// CHECK: graph.fused: gives no result, so it computes nothing
func.func @nothing(%x: tensor<4xf32>) {
  "graph.fused"(%x) <{pattern = "relu"}> ({
  ^bb0(%a: tensor<4xf32>):
    "graph.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// CHECK: graph.fused: block arguments and inputs differ in type or number
func.func @arguments(%x: tensor<4xf32>) {
  %0 = "graph.fused"(%x) <{pattern = "relu"}> ({
  ^bb0(%a: tensor<4xf16>):
    "graph.yield"(%a) : (tensor<4xf16>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: graph.fused: 'w' is read inside; make the weight an operand
func.func @weight(%x: tensor<4xf32>) {
  %0 = graph.fused "add"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %w = graph.weight "w" : tensor<4xf32>
    %y = graph.add %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %y : tensor<4xf32>
  }
  func.return
}

// -----

// CHECK: graph.fused: graph.fused stands inside; kernels do not nest
func.func @nested(%x: tensor<4xf32>) {
  %0 = graph.fused "outer"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = graph.fused "inner"(%b = %a : tensor<4xf32>) -> tensor<4xf32> {
      graph.yield %b : tensor<4xf32>
    }
    graph.yield %1 : tensor<4xf32>
  }
  func.return
}

// -----

// A group sees nothing but its operands.
// CHECK: %x is used but not defined
func.func @isolated(%y: tensor<4xf32>) {
  %0 = graph.fused "relu"(%a = %y : tensor<4xf32>) -> tensor<4xf32> {
    %1 = graph.relu %x : tensor<4xf32> -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  func.return
}

// -----

// CHECK: graph.kernel: block arguments and function type differ
"graph.kernel"() <{sym_name = "k", pattern = "relu", function_type = (tensor<4xf32>) -> tensor<4xf32>}> ({
^bb0(%a: tensor<5xf32>):
  "graph.yield"(%a) : (tensor<5xf32>) -> ()
}) : () -> ()

// -----

// CHECK: graph.kernel: graph.yield gives tensor<4xf32>, not tensor<4xf16>
graph.kernel @k "relu"(%a: tensor<4xf32>) -> tensor<4xf16> {
  graph.yield %a : tensor<4xf32>
}

// -----

// CHECK: graph.kernel: graph.call stands inside; kernels do not nest
graph.kernel @k "relu"(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  graph.yield %0 : tensor<4xf32>
}

// -----

// CHECK: graph.call: no kernel @nobody
func.func @unknown(%x: tensor<4xf32>) {
  %0 = graph.call @nobody(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// A function is no kernel.
// CHECK: graph.call: no kernel @function
func.func @function(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.call @function(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// CHECK: graph.call @k: called as (tensor<5xf32>) -> tensor<5xf32>, defined as (tensor<4xf32>) -> tensor<4xf32>
func.func @type(%x: tensor<5xf32>) {
  %0 = graph.call @k(%x) : (tensor<5xf32>) -> tensor<5xf32>
  func.return
}
graph.kernel @k "relu"(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %a : tensor<4xf32> -> tensor<4xf32>
  graph.yield %0 : tensor<4xf32>
}

// -----

// CHECK: Redefinition of symbol "k"
graph.kernel @k "relu"(%a: tensor<4xf32>) -> tensor<4xf32> {
  graph.yield %a : tensor<4xf32>
}
graph.kernel @k "relu"(%a: tensor<5xf32>) -> tensor<5xf32> {
  graph.yield %a : tensor<5xf32>
}
