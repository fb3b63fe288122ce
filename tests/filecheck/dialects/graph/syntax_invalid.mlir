// RUN: fuse-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s
// CHECK: graph.softmax has no attribute 'axes', only axis
func.func @unknown_attribute(%x: tensor<2x3xf32>) {
  %0 = graph.softmax %x {axes = 1} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.relu has no attribute 'alpha', only none
func.func @no_attributes(%x: tensor<2x3xf32>) {
  %0 = graph.relu %x {alpha = 1} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: attribute 'axis' is given twice
func.func @twice(%x: tensor<2x3xf32>) {
  %0 = graph.softmax %x {axis = 1, axis = 0} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: attribute 'axis' is 1.500000e+00 : f64, expected an integer
func.func @no_integer(%x: tensor<2x3xf32>) {
  %0 = graph.softmax %x {axis = 1.5} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: attribute 'perm' is 1 : i64, expected a list of integers, like [0, 1]
func.func @no_list(%x: tensor<2x3xf32>) {
  %0 = graph.transpose %x {perm = 1} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: attribute 'keepdims' is 1 : i64, expected true or false
func.func @no_truth(%x: tensor<2x3xf32>) {
  %0 = graph.reduce_sum %x {axes = [0], keepdims = 1} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: attribute 'alpha' is "a", expected a number
func.func @no_number(%x: tensor<2x3xf32>) {
  %0 = graph.leaky_relu %x {alpha = "a"} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: attribute 'approximate' is true, expected a string
func.func @no_string(%x: tensor<2x3xf32>) {
  %0 = graph.gelu %x {approximate = true} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: attribute 'to' is 1 : i64, expected an element type
func.func @no_type(%x: tensor<2x3xf32>) {
  %0 = graph.cast %x {to = 1} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: attribute 'alpha' is 1.000000e+00 : f32, expected a number
func.func @narrow(%x: tensor<2x3xf32>) {
  %0 = graph.leaky_relu %x {alpha = 1.0 : f32} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: expected 1 operand types but had 2
func.func @types(%x: tensor<2x3xf32>) {
  %0 = graph.add %x, %x : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.constant: expected dense<...> : tensor<...>
func.func @constant() {
  %0 = graph.constant 1 : i64
  func.return
}

// -----

// CHECK: Shape mismatch in dense literal. Expected 3 elements from the type, but got 2 elements.
func.func @elements() {
  %0 = graph.constant dense<"0x0000803F0000803F"> : tensor<3xf32>
  func.return
}

// -----

// CHECK: more bits than f32 has
func.func @bits() {
  %0 = graph.constant dense<0x1FF800000> : tensor<f32>
  func.return
}

// -----

// CHECK: identifier expected
func.func @dim_name(%x: tensor<?xf32, #graph.dims<["a b"]>>) {
  %0 = graph.identity %x : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}
