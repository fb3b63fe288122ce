// RUN: fuse-opt %s -p graph-simplify | filecheck %s

// What does nothing goes away, bit for bit.

// CHECK-LABEL: func.func @neutral
func.func @neutral(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %minus_zero = graph.constant dense<-0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %0 = graph.sub %x, %zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = graph.add %0, %minus_zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = graph.add %minus_zero, %1 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.mul %2, %one : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %4 = graph.mul %one, %3 : (tensor<1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = graph.div %4, %one : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %6 = graph.identity %5 : tensor<2x3xf32> -> tensor<2x3xf32>
  %7 = graph.concat %6 {axis = 1} : tensor<2x3xf32> -> tensor<2x3xf32>
  %8 = graph.cast %7 {to = f32} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %x : tensor<2x3xf32>
  func.return %8 : tensor<2x3xf32>
}

// C24: x + 0 makes +0 of -0, 0 - x is no x, and of x / 2 nothing is known.
// CHECK-LABEL: func.func @not_neutral
func.func @not_neutral(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %minus_zero = graph.constant dense<-0.0> : tensor<f32>
  // CHECK: graph.add %x, %zero
  %0 = graph.add %x, %zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: graph.sub %zero, %0
  %1 = graph.sub %zero, %0 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: graph.sub %1, %minus_zero
  %2 = graph.sub %1, %minus_zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: graph.mul %2, %minus_zero
  %3 = graph.mul %2, %minus_zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// Integers have one zero.
// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<2xi64>) -> tensor<2xi64> {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %0 = graph.add %zero, %x : (tensor<i64>, tensor<2xi64>) -> tensor<2xi64>
  %1 = graph.sub %0, %zero : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  %2 = graph.div %1, %one : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  // CHECK-NEXT: func.return %x
  func.return %2 : tensor<2xi64>
}

// A neutral operand that makes the result larger does something.
// CHECK-LABEL: func.func @larger
func.func @larger(%x: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<1x3xf32>) {
  %ones = graph.constant dense<1.0> : tensor<2x1xf32>
  %one = graph.constant dense<1.0> : tensor<1x1xf32>
  // CHECK: graph.mul %x, %ones
  %0 = graph.mul %x, %ones : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: graph.mul %x, %one
  %1 = graph.mul %x, %one : (tensor<3xf32>, tensor<1x1xf32>) -> tensor<1x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<1x3xf32>
}

// CHECK-LABEL: func.func @repeated
func.func @repeated(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %0 = graph.relu %x
  %0 = graph.relu %x : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.relu %0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK-NEXT: %1 = graph.abs %0
  %2 = graph.abs %1 : tensor<4xf32> -> tensor<4xf32>
  %3 = graph.abs %2 : tensor<4xf32> -> tensor<4xf32>
  // CHECK-NEXT: %2 = graph.neg %1
  %4 = graph.neg %3 : tensor<4xf32> -> tensor<4xf32>
  // CHECK-NEXT: func.return %0, %1, %2
  func.return %1, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
