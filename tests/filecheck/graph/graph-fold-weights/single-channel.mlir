// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels},graph-fold-weights' | filecheck %s

// The parameters of a norm of one channel are single numbers that stand in the text: it is folded
// into the convolution all the same.
// CHECK-LABEL: func.func @main
// CHECK: graph.fused "{{[a-z0-9_]+}}"({{.*}}tensor<1x3x3x3xf32>{{.*}}tensor<1xf32>)
// CHECK-NEXT: graph.conv
// CHECK-NOT: graph.batch_normalization
// CHECK-LABEL: func.func @weights
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x1x8x8xf32> {
  %w = graph.weight "w" : tensor<1x3x3x3xf32>
  %s = graph.constant dense<2.0> : tensor<1xf32>
  %b = graph.constant dense<0.5> : tensor<1xf32>
  %m = graph.constant dense<0.25> : tensor<1xf32>
  %v = graph.constant dense<4.0> : tensor<1xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x3x8x8xf32>, tensor<1x3x3x3xf32>) -> tensor<1x1x8x8xf32>
  %1 = graph.batch_normalization %0, %s, %b, %m, %v : (tensor<1x1x8x8xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x8x8xf32>
  func.return %1 : tensor<1x1x8x8xf32>
}
