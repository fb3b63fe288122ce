// RUN: fuse-opt %s --split-input-file --verify-diagnostics | filecheck %s
// CHECK: graph.add: operands have different element types: f32, f16; cast them to one
func.func @types(%x: tensor<2x3xf32>, %y: tensor<2x3xf16>) {
  %0 = graph.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.mul: shapes [2, 3] and [2, 4] do not broadcast
func.func @sizes(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  %0 = graph.mul %x, %y : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.add: the result is tensor<1x2x3xf32>, not tensor<2x3xf32>
func.func @result(%x: tensor<2x3xf32>, %y: tensor<1x2x3xf32>) {
  %0 = graph.add %x, %y : (tensor<2x3xf32>, tensor<1x2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.add: shapes [0, 3] and [5, 3] do not broadcast
func.func @zero(%x: tensor<0x3xf32>, %y: tensor<5x3xf32>) {
  %0 = graph.add %x, %y : (tensor<0x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  func.return
}

// -----

// CHECK: graph.relu: the result is tensor<2x3xf32>, not tensor<2x3xf16>
func.func @element(%x: tensor<2x3xf32>) {
  %0 = graph.relu %x : tensor<2x3xf32> -> tensor<2x3xf16>
  func.return
}

// -----

// CHECK: graph.less: the result is tensor<2x3xi1>, not tensor<2x3xf32>
func.func @comparison(%x: tensor<2x3xf32>) {
  %0 = graph.less %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.exp: has no meaning on i32; cast to a floating type
func.func @floating(%x: tensor<2x3xi32>) {
  %0 = graph.exp %x : tensor<2x3xi32> -> tensor<2x3xi32>
  func.return
}

// -----

// CHECK: graph.add: has no meaning on i1; cast to a number
func.func @truth(%x: tensor<2x3xi1>) {
  %0 = graph.add %x, %x : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return
}

// -----

// CHECK: graph.and: has no meaning on f32; cast to i1
func.func @logic(%x: tensor<2x3xf32>) {
  %0 = graph.and %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.where: the condition is f32; cast it to i1
func.func @condition(%c: tensor<2x3xf32>, %x: tensor<2x3xf32>) {
  %0 = graph.where %c, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.where: operands have different element types: f32, i64
func.func @branches(%c: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xi64>) {
  %0 = graph.where %c, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.identity: elements of type complex<f32> are not known; use f16, bf16, f32, f64, i1
func.func @unknown_element(%x: tensor<2xcomplex<f32>>) {
  %0 = graph.identity %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  func.return
}

// -----

// CHECK: graph.cast: elements of type index are not known
func.func @index(%x: tensor<2xf32>) {
  %0 = graph.cast %x {to = index} : tensor<2xf32> -> tensor<2xindex>
  func.return
}

// -----

// CHECK: graph.cast: the result is tensor<2x3xf16>, not tensor<2x3xf32>
func.func @cast(%x: tensor<2x3xf32>) {
  %0 = graph.cast %x {to = f16} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: operand 'x' at position 0 does not verify
func.func @no_tensor(%x: memref<2xf32>) {
  %0 = "graph.relu"(%x) : (memref<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: property 'to' expected
func.func @missing(%x: tensor<2x3xf32>) {
  %0 = "graph.cast"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
