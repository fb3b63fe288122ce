// RUN: fuse-opt %s -p graph-simplify --print-debuginfo | filecheck %s

// Equal operators become one that names both, the first one last; what nobody needs goes away.

// CHECK-LABEL: func.func @equal
func.func @equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.constant dense<2.0> : tensor<f32>
  %b = graph.constant dense<2.0> : tensor<f32>
  %w = graph.weight "w" : tensor<4xf32>
  %v = graph.weight "w" : tensor<4xf32>
  %0 = graph.mul %x, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("first")
  %1 = graph.mul %x, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("second")
  %2 = graph.sub %0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.sub %1, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %0 = graph.mul %x, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc(fused["second", "first"])
  // CHECK-NEXT: %1 = graph.sub %0, %w
  // CHECK-NEXT: %2 = graph.add %1, %1
  %4 = graph.add %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %2
  func.return %4 : tensor<4xf32>
}

// Other operands, attributes, types, signs of zero or marks of a user make a difference.
// CHECK-LABEL: func.func @different
func.func @different(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>) {
  // CHECK-NEXT: graph.sub %x, %y
  %0 = graph.sub %x, %y : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: graph.sub %y, %x
  %1 = graph.sub %y, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: graph.pad %x {pads
  %2 = graph.pad %x {pads = [1, 0, 1, 0]} : tensor<2x2xf32> -> tensor<4x2xf32>
  // CHECK-NEXT: graph.pad %x {value = -0.0
  %3 = graph.pad %x {pads = [1, 0, 1, 0], value = -0.0} : tensor<2x2xf32> -> tensor<4x2xf32>
  // CHECK-NEXT: graph.sub %x, %y attributes {my.mark}
  %4 = graph.sub %x, %y attributes {my.mark} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %0, %1, %2, %3, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>
}

// Dead: operators, groups and calls. What may do something else stays.
// CHECK-LABEL: func.func @dead
func.func @dead(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: "test.op"
  %0 = "test.op"() : () -> tensor<4xf32>
  %1 = graph.exp %x : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.log %1 : tensor<4xf32> -> tensor<4xf32>
  %3 = graph.fused "relu"(%a = %2 : tensor<4xf32>) -> tensor<4xf32> {
    %y = graph.relu %a : tensor<4xf32> -> tensor<4xf32>
    graph.yield %y : tensor<4xf32>
  }
  // CHECK-NEXT: func.return %x
  func.return %x : tensor<4xf32>
}

// Inside of a group the same holds.
// CHECK-LABEL: func.func @group
func.func @group(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.fused
  %0 = graph.fused "relu"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: graph.relu
    %y = graph.relu %a : tensor<4xf32> -> tensor<4xf32>
    %z = graph.identity %y : tensor<4xf32> -> tensor<4xf32>
    // CHECK-NEXT: graph.yield
    graph.yield %z : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
