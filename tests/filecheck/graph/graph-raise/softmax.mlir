// RUN: fuse-opt %s -p graph-raise | filecheck %s

// CHECK-LABEL: func.func @written_out
// CHECK-NEXT: %0 = graph.softmax %x : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: func.return %0
func.func @written_out(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.reduce_max %x {axes = [1]} : tensor<4x8xf32> -> tensor<4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = graph.exp %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = graph.reduce_sum %2 {axes = [1]} : tensor<4x8xf32> -> tensor<4x1xf32>
  %4 = graph.div %2, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}

// The power written twice.
// CHECK-LABEL: func.func @twice
// CHECK-NEXT: %0 = graph.softmax %x
func.func @twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.reduce_max %x {axes = [1]} : tensor<4x8xf32> -> tensor<4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = graph.exp %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = graph.reduce_max %x {axes = [1]} : tensor<4x8xf32> -> tensor<4x1xf32>
  %4 = graph.sub %x, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %5 = graph.exp %4 : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = graph.reduce_sum %5 {axes = [1]} : tensor<4x8xf32> -> tensor<4x1xf32>
  %7 = graph.div %2, %6 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %7 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @first_axis
// CHECK-NEXT: %0 = graph.softmax %x {axis = -2}
func.func @first_axis(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.reduce_max %x {axes = [-2]} : tensor<4x8xf32> -> tensor<1x8xf32>
  %1 = graph.sub %x, %0 : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %2 = graph.exp %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = graph.reduce_sum %2 {axes = [-2]} : tensor<4x8xf32> -> tensor<1x8xf32>
  %4 = graph.div %2, %3 : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}

// Over two axes together.
// CHECK-LABEL: func.func @both_axes
// CHECK-NOT: graph.softmax
func.func @both_axes(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.reduce_max %x {axes = [0, 1]} : tensor<4x8xf32> -> tensor<1x1xf32>
  %1 = graph.sub %x, %0 : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %2 = graph.exp %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = graph.reduce_sum %2 {axes = [0, 1]} : tensor<4x8xf32> -> tensor<1x1xf32>
  %4 = graph.div %2, %3 : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}

// The largest of one axis, the sum of another.
// CHECK-LABEL: func.func @different_axes
// CHECK-NOT: graph.softmax
func.func @different_axes(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.reduce_max %x {axes = [1]} : tensor<4x4xf32> -> tensor<4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %2 = graph.exp %1 : tensor<4x4xf32> -> tensor<4x4xf32>
  %3 = graph.reduce_sum %2 {axes = [0]} : tensor<4x4xf32> -> tensor<1x4xf32>
  %4 = graph.div %2, %3 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  func.return %4 : tensor<4x4xf32>
}

// Without keepdims the rows are divided by other rows' sums.
// CHECK-LABEL: func.func @dropped_axis
// CHECK-NOT: graph.softmax
func.func @dropped_axis(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.reduce_max %x {axes = [1], keepdims = false} : tensor<4x4xf32> -> tensor<4xf32>
  %1 = graph.sub %x, %0 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = graph.exp %1 : tensor<4x4xf32> -> tensor<4x4xf32>
  %3 = graph.reduce_sum %2 {axes = [1], keepdims = false} : tensor<4x4xf32> -> tensor<4xf32>
  %4 = graph.div %2, %3 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  func.return %4 : tensor<4x4xf32>
}

// The power is an output too.
// CHECK-LABEL: func.func @power_is_used
// CHECK-NOT: graph.softmax
func.func @power_is_used(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.reduce_max %x {axes = [1]} : tensor<4x8xf32> -> tensor<4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = graph.exp %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = graph.reduce_sum %2 {axes = [1]} : tensor<4x8xf32> -> tensor<4x1xf32>
  %4 = graph.div %2, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %4, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}
