// RUN: fuse-opt %s -p 'graph-fuse{strategy=patterns objective=kernels}' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @ffn
func.func @ffn(%x: tensor<1x128x64xf32>) -> tensor<1x128x256xf32> {
  %w = graph.weight "w" : tensor<64x256xf32>
  %b = graph.weight "b" : tensor<256xf32>
  // CHECK: graph.fused "matmul_bias_gelu"(%x_1 = %x : tensor<1x128x64xf32>, %w_1 = %w : tensor<64x256xf32>, %b_1 = %b : tensor<256xf32>) -> tensor<1x128x256xf32> {
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.gelu
  // CHECK-NEXT: graph.yield
  %0 = graph.matmul %x, %w : (tensor<1x128x64xf32>, tensor<64x256xf32>) -> tensor<1x128x256xf32>
  %1 = graph.add %b, %0 : (tensor<256xf32>, tensor<1x128x256xf32>) -> tensor<1x128x256xf32>
  %2 = graph.gelu %1 : tensor<1x128x256xf32> -> tensor<1x128x256xf32>
  func.return %2 : tensor<1x128x256xf32>
}

// -----

// The residual is another input of the group; so is the right factor that is no weight.
// CHECK-LABEL: func.func @residual
func.func @residual(%x: tensor<128x64xf16>, %y: tensor<64x64xf16>, %r: tensor<128x64xf16>) -> tensor<128x64xf16> {
  %b = graph.weight "b" : tensor<64xf16>
  // CHECK: graph.fused "matmul_bias_residual_relu"(%{{.*}} = %x : tensor<128x64xf16>, %{{.*}} = %y : tensor<64x64xf16>, %{{.*}} = %b : tensor<64xf16>, %{{.*}} = %r : tensor<128x64xf16>) -> tensor<128x64xf16> {
  %0 = graph.matmul %x, %y : (tensor<128x64xf16>, tensor<64x64xf16>) -> tensor<128x64xf16>
  %1 = graph.add %0, %b : (tensor<128x64xf16>, tensor<64xf16>) -> tensor<128x64xf16>
  %2 = graph.add %r, %1 : (tensor<128x64xf16>, tensor<128x64xf16>) -> tensor<128x64xf16>
  %3 = graph.relu %2 : tensor<128x64xf16> -> tensor<128x64xf16>
  func.return %3 : tensor<128x64xf16>
}

// -----

// A gemm with its own bias; a bias that is computed is no bias but still a broadcast operand.
// CHECK-LABEL: func.func @gemm
func.func @gemm(%x: tensor<128x64xf32>, %b: tensor<32xf32>) -> (tensor<128x32xf32>, tensor<128x32xf32>) {
  %w = graph.weight "w" : tensor<64x32xf32>
  %c = graph.weight "c" : tensor<32xf32>
  // CHECK: graph.fused "gemm_bias_relu"(
  %0 = graph.gemm %x, %w, %c : (tensor<128x64xf32>, tensor<64x32xf32>, tensor<32xf32>) -> tensor<128x32xf32>
  %1 = graph.relu %0 : tensor<128x32xf32> -> tensor<128x32xf32>
  // CHECK: graph.fused "matmul"(
  %2 = graph.matmul %x, %w : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>
  // CHECK: graph.fused "add"(
  %3 = graph.add %2, %b : (tensor<128x32xf32>, tensor<32xf32>) -> tensor<128x32xf32>
  func.return %1, %3 : tensor<128x32xf32>, tensor<128x32xf32>
}
