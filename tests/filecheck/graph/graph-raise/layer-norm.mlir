// RUN: fuse-opt %s -p graph-raise | filecheck %s

// The nine operators that exporters write.
// CHECK-LABEL: func.func @pow
// CHECK: %[[Y:.*]] = graph.layer_normalization %x, %s, %b {epsilon = 9.999999747378752e-06} : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @pow(%x: tensor<2x4x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %5 = graph.sqrt %4 : tensor<2x4x1xf32> -> tensor<2x4x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %7 = graph.mul %6, %s : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %8 = graph.add %7, %b : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  func.return %8 : tensor<2x4x8xf32>
}

// The square as a product, the quotient as a product with 1 / sqrt.
// CHECK-LABEL: func.func @product
// CHECK: %[[Y:.*]] = graph.layer_normalization %x, %s, %b {epsilon = 9.999999747378752e-06} : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @product(%x: tensor<2x4x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %2 = graph.mul %1, %1 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %5 = graph.sqrt %4 : tensor<2x4x1xf32> -> tensor<2x4x1xf32>
  %6 = graph.reciprocal %5 : tensor<2x4x1xf32> -> tensor<2x4x1xf32>
  %7 = graph.mul %1, %6 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %8 = graph.mul %7, %s : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %9 = graph.add %8, %b : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  func.return %9 : tensor<2x4x8xf32>
}

// 1 / sqrt as a division.
// CHECK-LABEL: func.func @quotient
// CHECK: %[[Y:.*]] = graph.layer_normalization %x, %s, %b {epsilon = 9.999999747378752e-06} : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @quotient(%x: tensor<2x4x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %5 = graph.sqrt %4 : tensor<2x4x1xf32> -> tensor<2x4x1xf32>
  %unit = graph.constant dense<1.0> : tensor<f32>
  %6 = graph.div %unit, %5 : (tensor<f32>, tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %7 = graph.mul %6, %1 : (tensor<2x4x1xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %8 = graph.mul %7, %s : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %9 = graph.add %8, %b : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  func.return %9 : tensor<2x4x8xf32>
}

// Without bias.
// CHECK-LABEL: func.func @no_bias
// CHECK: graph.layer_normalization %x, %s {epsilon = 9.999999747378752e-06}
func.func @no_bias(%x: tensor<2x4x8xf32>, %s: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %5 = graph.sqrt %4 : tensor<2x4x1xf32> -> tensor<2x4x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %7 = graph.mul %s, %6 : (tensor<8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  func.return %7 : tensor<2x4x8xf32>
}

// Over the last two axes.
// CHECK-LABEL: func.func @two_axes
// CHECK: graph.layer_normalization %x, %s, %b {axis = -2, epsilon
func.func @two_axes(%x: tensor<2x4x8xf32>, %s: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [1, 2]} : tensor<2x4x8xf32> -> tensor<2x1x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x1x1xf32>) -> tensor<2x4x8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [1, 2]} : tensor<2x4x8xf32> -> tensor<2x1x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<2x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %5 = graph.sqrt %4 : tensor<2x1x1xf32> -> tensor<2x1x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<2x1x1xf32>) -> tensor<2x4x8xf32>
  %7 = graph.mul %6, %s : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %8 = graph.add %7, %b : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  func.return %8 : tensor<2x4x8xf32>
}

// What is added to the product is no bias of the axes: it stays.
// CHECK-LABEL: func.func @residual
// CHECK: %[[N:.*]] = graph.layer_normalization %x, %s {
// CHECK-NEXT: graph.add %[[N]], %b
func.func @residual(%x: tensor<2x4x8xf32>, %s: tensor<8xf32>, %b: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %5 = graph.sqrt %4 : tensor<2x4x1xf32> -> tensor<2x4x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %7 = graph.mul %6, %s : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %8 = graph.add %7, %b : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  func.return %8 : tensor<2x4x8xf32>
}

// C12: a scale that makes the result larger is not part of the norm.
// CHECK-LABEL: func.func @enlarged
// CHECK-NOT: graph.layer_normalization
func.func @enlarged(%x: tensor<1x1xf32>, %s: tensor<2xf32>) -> tensor<1x2xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<1x1xf32> -> tensor<1x1xf32>
  %1 = graph.sub %x, %0 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<1x1xf32> -> tensor<1x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  %5 = graph.sqrt %4 : tensor<1x1xf32> -> tensor<1x1xf32>
  %6 = graph.div %1, %5 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %7 = graph.mul %6, %s : (tensor<1x1xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %7 : tensor<1x2xf32>
}

// Not the last axes.
// CHECK-LABEL: func.func @first_axis
// CHECK-NOT: graph.layer_normalization
func.func @first_axis(%x: tensor<2x4x8xf32>, %s: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [0]} : tensor<2x4x8xf32> -> tensor<1x4x8xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [0]} : tensor<2x4x8xf32> -> tensor<1x4x8xf32>
  %4 = graph.add %3, %epsilon : (tensor<1x4x8xf32>, tensor<f32>) -> tensor<1x4x8xf32>
  %5 = graph.sqrt %4 : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
  %7 = graph.mul %6, %s : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  func.return %7 : tensor<2x4x8xf32>
}

// Epsilon is no number.
// CHECK-LABEL: func.func @epsilon_of_a_row
// CHECK-NOT: graph.layer_normalization
func.func @epsilon_of_a_row(%x: tensor<2x4x8xf32>, %s: tensor<8xf32>, %e: tensor<2x4x1xf32>) -> tensor<2x4x8xf32> {
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %2 = graph.mul %1, %1 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %4 = graph.add %3, %e : (tensor<2x4x1xf32>, tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %5 = graph.sqrt %4 : tensor<2x4x1xf32> -> tensor<2x4x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %7 = graph.mul %6, %s : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  func.return %7 : tensor<2x4x8xf32>
}

// The centred value has another user.
// CHECK-LABEL: func.func @centred_is_used
// CHECK-NOT: graph.layer_normalization
func.func @centred_is_used(%x: tensor<2x4x8xf32>, %s: tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>) {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %5 = graph.sqrt %4 : tensor<2x4x1xf32> -> tensor<2x4x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %7 = graph.mul %6, %s : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  func.return %7, %1 : tensor<2x4x8xf32>, tensor<2x4x8xf32>
}

// The mean is of another value.
// CHECK-LABEL: func.func @other_mean
// CHECK-NOT: graph.layer_normalization
func.func @other_mean(%x: tensor<2x4x8xf32>, %z: tensor<2x4x8xf32>, %s: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %0 = graph.reduce_mean %z {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %2 = graph.mul %1, %1 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %e = graph.constant dense<1.0e-05> : tensor<f32>
  %4 = graph.add %3, %e : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %5 = graph.sqrt %4 : tensor<2x4x1xf32> -> tensor<2x4x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %7 = graph.mul %6, %s : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  func.return %7 : tensor<2x4x8xf32>
}

// The scale varies along an axis that is not normalised: a norm without scale, then the product.
// CHECK-LABEL: func.func @scale_of_rows
// CHECK: %[[N:.*]] = graph.layer_normalization %x, %{{.*}} {{.*}}
// CHECK-NEXT: graph.mul %[[N]], %s
func.func @scale_of_rows(%x: tensor<2x4x8xf32>, %s: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %5 = graph.sqrt %4 : tensor<2x4x1xf32> -> tensor<2x4x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %7 = graph.mul %6, %s : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  func.return %7 : tensor<2x4x8xf32>
}

// An epsilon of higher rank makes the result larger.
// CHECK-LABEL: func.func @higher_epsilon
// CHECK-NOT: graph.layer_normalization
func.func @higher_epsilon(%x: tensor<2x4x8xf32>, %s: tensor<8xf32>) -> tensor<1x2x4x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<1x1x1x1xf32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %2 = graph.mul %1, %1 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<2x4x8xf32> -> tensor<2x4x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<2x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x4x1xf32>
  %5 = graph.sqrt %4 : tensor<1x2x4x1xf32> -> tensor<1x2x4x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<1x2x4x1xf32>) -> tensor<1x2x4x8xf32>
  %7 = graph.mul %6, %s : (tensor<1x2x4x8xf32>, tensor<8xf32>) -> tensor<1x2x4x8xf32>
  func.return %7 : tensor<1x2x4x8xf32>
}

// Without keepdims other rows' means are subtracted.
// CHECK-LABEL: func.func @dropped_axis
// CHECK-NOT: graph.layer_normalization
func.func @dropped_axis(%x: tensor<4x4xf32>, %s: tensor<4xf32>) -> tensor<4x4xf32> {
  %e = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [1], keepdims = false} : tensor<4x4xf32> -> tensor<4xf32>
  %1 = graph.sub %x, %0 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = graph.mul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.reduce_mean %2 {axes = [1], keepdims = false} : tensor<4x4xf32> -> tensor<4xf32>
  %4 = graph.add %3, %e : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = graph.sqrt %4 : tensor<4xf32> -> tensor<4xf32>
  %6 = graph.div %1, %5 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %7 = graph.mul %6, %s : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  func.return %7 : tensor<4x4xf32>
}

// Not the last axes, though the scale would fit.
// CHECK-LABEL: func.func @first_axis_alone
// CHECK-NOT: graph.layer_normalization
func.func @first_axis_alone(%x: tensor<2x4x8xf32>, %s: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [0]} : tensor<2x4x8xf32> -> tensor<1x4x8xf32>
  %1 = graph.sub %x, %0 : (tensor<2x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %3 = graph.reduce_mean %2 {axes = [0]} : tensor<2x4x8xf32> -> tensor<1x4x8xf32>
  %4 = graph.add %3, %epsilon : (tensor<1x4x8xf32>, tensor<f32>) -> tensor<1x4x8xf32>
  %5 = graph.sqrt %4 : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  %6 = graph.div %1, %5 : (tensor<2x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
  %7 = graph.mul %6, %s : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  func.return %7 : tensor<2x4x8xf32>
}

// Rows of unknown number are fine, an unknown length of the row is not.
// CHECK-LABEL: func.func @dynamic_rows
// CHECK: graph.layer_normalization %x, %s, %b
func.func @dynamic_rows(%x: tensor<?x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<?x8xf32> -> tensor<?x1xf32>
  %1 = graph.sub %x, %0 : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<?x8xf32> -> tensor<?x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %5 = graph.sqrt %4 : tensor<?x1xf32> -> tensor<?x1xf32>
  %6 = graph.div %1, %5 : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %7 = graph.mul %6, %s : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %8 = graph.add %7, %b : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  func.return %8 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @dynamic_length
// CHECK: %[[N:.*]] = graph.layer_normalization %x, %{{.*}} {{.*}}
// CHECK-NEXT: graph.mul %[[N]], %s
// CHECK-NEXT: graph.add
func.func @dynamic_length(%x: tensor<4x?xf32>, %s: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<4x?xf32> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [-1]} : tensor<4x?xf32> -> tensor<4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<4x?xf32>, tensor<4x1xf32>) -> tensor<4x?xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %2 = graph.pow %1, %two : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  %3 = graph.reduce_mean %2 {axes = [-1]} : tensor<4x?xf32> -> tensor<4x1xf32>
  %4 = graph.add %3, %epsilon : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %5 = graph.sqrt %4 : tensor<4x1xf32> -> tensor<4x1xf32>
  %6 = graph.div %1, %5 : (tensor<4x?xf32>, tensor<4x1xf32>) -> tensor<4x?xf32>
  %7 = graph.mul %6, %s : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  %8 = graph.add %7, %b : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  func.return %8 : tensor<4x?xf32>
}
