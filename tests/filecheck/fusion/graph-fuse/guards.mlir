// RUN: fuse-opt %s -p 'graph-fuse{strategy=patterns objective=kernels}' --split-input-file | filecheck %s
// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels}' --split-input-file | filecheck %s --check-prefix GREEDY

// What compilers forget to ask for. `greedy` may group more, but never what is not legal.

// The convolution's value has a second user.
// CHECK-LABEL: func.func @second_user
// CHECK-NOT: "conv_relu"
func.func @second_user(%x: tensor<1x16x8x8xf32>) -> (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>) {
  %w = graph.weight "w" : tensor<32x16x3x3xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
  %1 = graph.relu %0 : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32>
  %2 = graph.exp %0 : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32>
  func.return %1, %2 : tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>
}

// -----

// The convolution's value is an output of the model as well.
// CHECK-LABEL: func.func @output
// CHECK-NOT: "conv_relu"
func.func @output(%x: tensor<1x16x8x8xf32>) -> (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>) {
  %w = graph.weight "w" : tensor<32x16x3x3xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
  %1 = graph.relu %0 : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32>
  func.return %0, %1 : tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>
}

// -----

// C6: two uses by one user. The sum of the value with itself is no residual.
// CHECK-LABEL: func.func @twice
// CHECK-NOT: residual
// CHECK: graph.fused "matmul"(
// CHECK: graph.fused "add"(%{{.*}} = %0 : tensor<64x64xf32>)
// GREEDY-LABEL: func.func @twice
// GREEDY: %[[M:.*]] = graph.matmul
// GREEDY: graph.add %[[M]], %[[M]]
func.func @twice(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %w = graph.weight "w" : tensor<64x64xf32>
  %0 = graph.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = graph.add %0, %0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %1 : tensor<64x64xf32>
}

// -----

// C4: the residual follows from the group itself through an operator outside of it.
// CHECK-LABEL: func.func @cycle
// CHECK-NOT: "matmul_residual"
// GREEDY-LABEL: func.func @cycle
// GREEDY: graph.fused
// GREEDY: graph.transpose
func.func @cycle(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %w = graph.weight "w" : tensor<64x64xf32>
  %0 = graph.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %i = graph.weight "i" : tensor<64x64xi64>
  %1 = graph.gather_elements %0, %i {axis = 0} : (tensor<64x64xf32>, tensor<64x64xi64>) -> tensor<64x64xf32>
  %2 = graph.add %0, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = graph.transpose %1 {perm = [1, 0]} : tensor<64x64xf32> -> tensor<64x64xf32>
  func.return %2, %3 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// C14: what is added makes the result larger.
// CHECK-LABEL: func.func @larger
// CHECK: graph.fused "matmul"(
// CHECK: graph.fused "add"(
func.func @larger(%x: tensor<1x64xf32>) -> tensor<32x64xf32> {
  %w = graph.weight "w" : tensor<64x64xf32>
  %c = graph.weight "c" : tensor<32x64xf32>
  %0 = graph.matmul %x, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %1 = graph.add %0, %c : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  func.return %1 : tensor<32x64xf32>
}

// -----

// A bias that varies along the rows is none.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: "matmul_bias"
func.func @rows(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %w = graph.weight "w" : tensor<64x64xf32>
  %b = graph.weight "b" : tensor<64x1xf32>
  %0 = graph.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = graph.add %0, %b : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  func.return %1 : tensor<64x64xf32>
}

// -----

// Of a convolution the bias varies along the channels, not along the columns.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: "conv_bias"
func.func @columns(%x: tensor<1x16x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = graph.weight "w" : tensor<32x16x3x3xf32>
  %b = graph.weight "b" : tensor<8xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
  %1 = graph.add %0, %b : (tensor<1x32x8x8xf32>, tensor<8xf32>) -> tensor<1x32x8x8xf32>
  func.return %1 : tensor<1x32x8x8xf32>
}

// -----

// Parameters of the norm that are computed while the model runs.
// CHECK-LABEL: func.func @computed
// CHECK-NOT: "conv_bn
func.func @computed(%x: tensor<1x16x8x8xf32>, %s: tensor<32xf32>) -> tensor<1x32x8x8xf32> {
  %w = graph.weight "w" : tensor<32x16x3x3xf32>
  %b = graph.weight "b" : tensor<32xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
  %1 = graph.batch_normalization %0, %s, %b, %b, %b : (tensor<1x32x8x8xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<1x32x8x8xf32>
  %2 = graph.relu %1 : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32>
  func.return %2 : tensor<1x32x8x8xf32>
}

// -----

// The convolution's value is a parameter of the norm, not what is normalised.
// CHECK-LABEL: func.func @parameter
// CHECK-NOT: "conv_bn
func.func @parameter(%x: tensor<1x4x6xf32>, %y: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
  %w = graph.weight "w" : tensor<1x4x3xf32>
  %b = graph.weight "b" : tensor<4xf32>
  %0 = graph.conv %x, %w {strides = [1], pads = [0, 0], dilations = [1]} : (tensor<1x4x6xf32>, tensor<1x4x3xf32>) -> tensor<1x1x4xf32>
  %1 = graph.reshape %0 : tensor<1x1x4xf32> -> tensor<4xf32>
  %2 = graph.batch_normalization %y, %1, %b, %b, %b : (tensor<2x4x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x5xf32>
  func.return %2 : tensor<2x4x5xf32>
}

// -----

// C18: a product that broadcasts the input's channel does not go into the convolution.
// CHECK-LABEL: func.func @channels
// CHECK: graph.fused "mul"(
// CHECK: graph.fused "conv"(
// GREEDY-LABEL: func.func @channels
// GREEDY: graph.mul {{.*}} : (tensor<1x1x6x6xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x6x6xf32>
// GREEDY: graph.conv
func.func @channels(%x: tensor<1x1x6x6xf32>) -> tensor<1x4x4x4xf32> {
  %w = graph.weight "w" : tensor<4x3x3x3xf32>
  %c = graph.weight "c" : tensor<1x3x1x1xf32>
  %0 = graph.mul %x, %c : (tensor<1x1x6x6xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x6x6xf32>
  %1 = graph.conv %0, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  func.return %1 : tensor<1x4x4x4xf32>
}
