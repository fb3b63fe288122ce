// RUN: fuse-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: graph.sin: has no meaning on i32; cast to a floating type
func.func @a(%x: tensor<2xi32>) {
  %y = graph.sin %x : tensor<2xi32> -> tensor<2xi32>
  func.return
}

// -----

// CHECK: graph.bitwise_and: has no meaning on f32; cast to an integer
func.func @b(%x: tensor<2xf32>) {
  %y = graph.bitwise_and %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: graph.bit_shift: direction 'UP', expected LEFT or RIGHT
func.func @c(%x: tensor<2xi32>) {
  %y = graph.bit_shift %x, %x {direction = "UP"} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return
}

// -----

// CHECK: graph.top_k_indices: k is 4, axis 0 of [3] has 3
func.func @d(%x: tensor<3xf32>) {
  %y = graph.top_k_indices %x {k = 4} : tensor<3xf32> -> tensor<4xi64>
  func.return
}

// -----

// CHECK: graph.gather_nd: indices [2, 3] into 2 axes
func.func @e(%x: tensor<3x4xf32>, %at: tensor<2x3xi64>) {
  %y = graph.gather_nd %x, %at : (tensor<3x4xf32>, tensor<2x3xi64>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: graph.scatter_nd: the indices are f32; cast them to i64
func.func @f(%x: tensor<3xf32>, %at: tensor<2x1xf32>, %u: tensor<2xf32>) {
  %y = graph.scatter_nd %x, %at, %u : (tensor<3xf32>, tensor<2x1xf32>, tensor<2xf32>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: graph.scatter_elements: reduction 'sub'; use none, add, mul, max or min
func.func @g(%x: tensor<3xf32>, %at: tensor<2xi64>, %u: tensor<2xf32>) {
  %y = graph.scatter_elements %x, %at, %u {reduction = "sub"} : (tensor<3xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: graph.det: [2, 3] does not end with a square matrix
func.func @h(%x: tensor<2x3xf32>) {
  %y = graph.det %x : tensor<2x3xf32> -> tensor<f32>
  func.return
}
