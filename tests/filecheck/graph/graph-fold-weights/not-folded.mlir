// RUN: fuse-opt %s -p graph-fold-weights --split-input-file | filecheck %s

// C2: the convolution's own value has another user, which would see the folded weights.
// CHECK-LABEL: func.func @second_user
// CHECK: graph.batch_normalization
// CHECK-NOT: @weights
func.func @second_user(%x: tensor<1x2x4x4xf32>) -> (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) {
  %w = graph.weight "w" : tensor<3x2x3x3xf32>
  %s = graph.weight "s" : tensor<3xf32>
  %0, %1 = graph.fused "conv_bn"(%x1 = %x : tensor<1x2x4x4xf32>, %w1 = %w : tensor<3x2x3x3xf32>, %s1 = %s : tensor<3xf32>) -> tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32> {
    %2 = graph.conv %x1, %w1 {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
    %3 = graph.batch_normalization %2, %s1, %s1, %s1, %s1 : (tensor<1x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
    %4 = graph.relu %2 : tensor<1x3x2x2xf32> -> tensor<1x3x2x2xf32>
    graph.yield %3, %4 : tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>
  }
  func.return %0, %1 : tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>
}

// -----

// Parameters that are computed while the model runs.
// CHECK-LABEL: func.func @computed
// CHECK: graph.batch_normalization
func.func @computed(%x: tensor<1x2x4x4xf32>, %s: tensor<3xf32>) -> tensor<1x3x2x2xf32> {
  %w = graph.weight "w" : tensor<3x2x3x3xf32>
  %0 = graph.fused "conv_bn"(%x1 = %x : tensor<1x2x4x4xf32>, %w1 = %w : tensor<3x2x3x3xf32>, %s1 = %s : tensor<3xf32>) -> tensor<1x3x2x2xf32> {
    %2 = graph.conv %x1, %w1 {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
    %3 = graph.batch_normalization %2, %s1, %s1, %s1, %s1 : (tensor<1x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
    graph.yield %3 : tensor<1x3x2x2xf32>
  }
  func.return %0 : tensor<1x3x2x2xf32>
}

// -----

// Two norms in a row: the first one goes in, the second one stays.
// CHECK-LABEL: func.func @two_norms
// CHECK: graph.conv
// CHECK-NEXT: graph.batch_normalization
// CHECK-NEXT: graph.yield
func.func @two_norms(%x: tensor<1x2x4x4xf32>) -> tensor<1x3x2x2xf32> {
  %w = graph.weight "w" : tensor<3x2x3x3xf32>
  %s = graph.weight "s" : tensor<3xf32>
  %0 = graph.fused "auto"(%x1 = %x : tensor<1x2x4x4xf32>, %w1 = %w : tensor<3x2x3x3xf32>, %s1 = %s : tensor<3xf32>) -> tensor<1x3x2x2xf32> {
    %2 = graph.conv %x1, %w1 {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
    %3 = graph.batch_normalization %2, %s1, %s1, %s1, %s1 : (tensor<1x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
    %4 = graph.batch_normalization %3, %s1, %s1, %s1, %s1 : (tensor<1x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
    graph.yield %4 : tensor<1x3x2x2xf32>
  }
  func.return %0 : tensor<1x3x2x2xf32>
}

// -----

// A matmul's product is a gemm with bias afterwards; of a batch of them the channels are others.
// CHECK-LABEL: func.func @matmul
// CHECK: graph.gemm {{.*}} : (tensor<5x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: graph.yield
// CHECK: graph.matmul
// CHECK-NEXT: graph.batch_normalization
func.func @matmul(%x: tensor<5x3xf32>, %z: tensor<2x4x3xf32>) -> (tensor<5x4xf32>, tensor<2x4x4xf32>) {
  %w = graph.weight "w" : tensor<3x4xf32>
  %s = graph.weight "s" : tensor<4xf32>
  %0 = graph.fused "matmul_bn"(%x1 = %x : tensor<5x3xf32>, %w1 = %w : tensor<3x4xf32>, %s1 = %s : tensor<4xf32>) -> tensor<5x4xf32> {
    %2 = graph.matmul %x1, %w1 : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    %3 = graph.batch_normalization %2, %s1, %s1, %s1, %s1 : (tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
    graph.yield %3 : tensor<5x4xf32>
  }
  %1 = graph.fused "matmul_bn"(%x2 = %z : tensor<2x4x3xf32>, %w2 = %w : tensor<3x4xf32>, %s2 = %s : tensor<4xf32>) -> tensor<2x4x4xf32> {
    %4 = graph.matmul %x2, %w2 : (tensor<2x4x3xf32>, tensor<3x4xf32>) -> tensor<2x4x4xf32>
    %5 = graph.batch_normalization %4, %s2, %s2, %s2, %s2 : (tensor<2x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x4xf32>
    graph.yield %5 : tensor<2x4x4xf32>
  }
  func.return %0, %1 : tensor<5x4xf32>, tensor<2x4x4xf32>
}

// -----

// f16 weights are folded in f32 and rounded once; small parameters that stand in the text fold too.
// CHECK-LABEL: func.func @half
// CHECK: graph.conv {{.*}} : (tensor<1x2x4x4xf16>, tensor<2x2x3x3xf16>, tensor<2xf16>) -> tensor<1x2x2x2xf16>
// CHECK-NEXT: graph.yield
// CHECK-LABEL: func.func @weights
// CHECK: graph.sqrt {{.*}} : tensor<2xf32>
// CHECK: %[[W:.*]] = graph.mul {{.*}} -> tensor<2x2x3x3xf32>
// CHECK: graph.cast %[[W]] {to = f16}
func.func @half(%x: tensor<1x2x4x4xf16>) -> tensor<1x2x2x2xf16> {
  %w = graph.weight "w" : tensor<2x2x3x3xf16>
  %s = graph.constant dense<[1.0, 2.0]> : tensor<2xf16>
  %0 = graph.fused "conv_bn"(%x1 = %x : tensor<1x2x4x4xf16>, %w1 = %w : tensor<2x2x3x3xf16>, %s1 = %s : tensor<2xf16>) -> tensor<1x2x2x2xf16> {
    %2 = graph.conv %x1, %w1 {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x2x4x4xf16>, tensor<2x2x3x3xf16>) -> tensor<1x2x2x2xf16>
    %3 = graph.batch_normalization %2, %s1, %s1, %s1, %s1 : (tensor<1x2x2x2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<1x2x2x2xf16>
    graph.yield %3 : tensor<1x2x2x2xf16>
  }
  func.return %0 : tensor<1x2x2x2xf16>
}
