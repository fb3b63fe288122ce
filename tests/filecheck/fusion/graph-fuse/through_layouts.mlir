// RUN: fuse-opt %s -p 'graph-fuse{strategy=greedy objective=kernels}' | filecheck %s
// RUN: fuse-opt %s -p 'graph-fuse{strategy=beam objective=kernels}' | filecheck %s
// RUN: fuse-opt %s -p 'graph-fuse{strategy=dp objective=kernels}' | filecheck %s
// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels},graph-fold-weights,graph-assign-layout' | filecheck %s --check-prefix LAYOUT

// What a depthwise convolution gives is normalised over channels last: the transposition goes along,
// and vanishes where pictures lie channels last. So does the one before the residual.
// CHECK-LABEL: func.func @main
// CHECK: graph.fused "conv_transpose_layer_normalization"
// CHECK-NEXT: graph.conv
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: graph.layer_normalization
// CHECK: graph.fused "matmul_transpose_add"
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: graph.add
// CHECK-NOT: graph.fused
// CHECK: func.return

// LAYOUT-LABEL: func.func @main
// LAYOUT: graph.fused "conv_transpose_layer_normalization"
// LAYOUT-NEXT: graph.conv
// LAYOUT-NEXT: graph.layer_normalization
// LAYOUT: graph.matmul
// LAYOUT-NEXT: graph.add
func.func @main(%a: tensor<1x3x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %e = graph.weight "e" : tensor<64x3x1x1xf32>
  %f = graph.weight "f" : tensor<64x1x7x7xf32>
  %g = graph.weight "g" : tensor<64xf32>
  %b = graph.weight "b" : tensor<64xf32>
  %w = graph.weight "w" : tensor<64x64xf32>
  %x = graph.conv %a, %e {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x56x56xf32>, tensor<64x3x1x1xf32>) -> tensor<1x64x56x56xf32>
  %c = graph.conv %x, %f {strides = [1, 1], pads = [3, 3, 3, 3], dilations = [1, 1], group = 64} : (tensor<1x64x56x56xf32>, tensor<64x1x7x7xf32>) -> tensor<1x64x56x56xf32>
  %t = graph.transpose %c {perm = [0, 2, 3, 1]} : tensor<1x64x56x56xf32> -> tensor<1x56x56x64xf32>
  %n = graph.layer_normalization %t, %g, %b {axis = -1, epsilon = 1.0e-6} : (tensor<1x56x56x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x56x56x64xf32>
  %p = graph.matmul %n, %w : (tensor<1x56x56x64xf32>, tensor<64x64xf32>) -> tensor<1x56x56x64xf32>
  %u = graph.transpose %p {perm = [0, 3, 1, 2]} : tensor<1x56x56x64xf32> -> tensor<1x64x56x56xf32>
  %r = graph.add %u, %x : (tensor<1x64x56x56xf32>, tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  func.return %r : tensor<1x64x56x56xf32>
}
