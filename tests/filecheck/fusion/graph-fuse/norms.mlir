// RUN: fuse-opt %s -p 'graph-fuse{strategy=patterns objective=kernels}' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @residual
func.func @residual(%x: tensor<128x64xf32>, %y: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %s = graph.weight "s" : tensor<64xf32>
  // CHECK: graph.fused "residual_layer_norm_affine"(
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.layer_normalization
  // CHECK-NEXT: graph.yield
  %0 = graph.add %x, %y : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  %1 = graph.layer_normalization %0, %s, %s : (tensor<128x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<128x64xf32>
  func.return %1 : tensor<128x64xf32>
}

// -----

// The sum goes on to the next residual: it is a second result, which the named pattern has not.
// CHECK-LABEL: func.func @residual_goes_on
// CHECK-NOT: "residual_layer_norm_affine"
func.func @residual_goes_on(%x: tensor<128x64xf32>, %y: tensor<128x64xf32>) -> (tensor<128x64xf32>, tensor<128x64xf32>) {
  %s = graph.weight "s" : tensor<64xf32>
  %0 = graph.add %x, %y : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  %1 = graph.layer_normalization %0, %s, %s : (tensor<128x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<128x64xf32>
  func.return %0, %1 : tensor<128x64xf32>, tensor<128x64xf32>
}

// -----

// Numbers are copied into the group, masks are operands.
// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<12x128x128xf32>, %m: tensor<1x1x128xf32>) -> tensor<12x128x128xf32> {
  // CHECK: graph.fused "scale_mask_softmax"(%x_1 = %x : tensor<12x128x128xf32>, %m_1 = %m : tensor<1x1x128xf32>) -> tensor<12x128x128xf32> {
  // CHECK-NEXT: graph.constant dense<"0x0000003E"> : tensor<f32>
  // CHECK-NEXT: graph.mul
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.softmax
  // CHECK-NEXT: graph.yield
  %c = graph.constant dense<0.125> : tensor<f32>
  %0 = graph.mul %x, %c : (tensor<12x128x128xf32>, tensor<f32>) -> tensor<12x128x128xf32>
  %1 = graph.add %0, %m : (tensor<12x128x128xf32>, tensor<1x1x128xf32>) -> tensor<12x128x128xf32>
  %2 = graph.softmax %1 : tensor<12x128x128xf32> -> tensor<12x128x128xf32>
  func.return %2 : tensor<12x128x128xf32>
}

// -----

// CHECK-LABEL: func.func @only_scale
// CHECK: graph.fused "scale_softmax"(
func.func @only_scale(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %c = graph.constant dense<0.125> : tensor<f32>
  %0 = graph.div %x, %c : (tensor<128x128xf32>, tensor<f32>) -> tensor<128x128xf32>
  %1 = graph.softmax %0 : tensor<128x128xf32> -> tensor<128x128xf32>
  func.return %1 : tensor<128x128xf32>
}
