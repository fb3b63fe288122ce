// Convolutions of single pixels one behind the other: every second filter keeps [O][I], which is the
// order that its sum on the vector cores wants; a convolution alone may be one for the cube.
//
// RUN: fuse-opt %s -p "graph-fuse{objective=kernels},graph-fold-weights,graph-assign-layout" | filecheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x64x7x7xf32> {graph.name = "x"}, %q: tensor<1x64x1x1xf32> {graph.name = "q"}) -> (tensor<1x64x7x7xf32> {graph.name = "y"}, tensor<1x8x1x1xf32> {graph.name = "z"}) {
  %v = graph.weight "v" : tensor<12x64x1x1xf32>
  %w = graph.weight "w" : tensor<64x12x1x1xf32>
  // CHECK: %[[V:.*]] = graph.weight "v" : tensor<12x64x1x1xf32>
  // CHECK: graph.weight "w.last" : tensor<1x1x12x64xf32>
  // CHECK: graph.fused "auto_global_average_pool_{{.*}}, %[[V1:.*]] = %[[V]] :
  // CHECK: graph.conv %{{.*}}, %[[V1]] {x_layout = "NHWC", y_layout = "NHWC", strides
  // CHECK: graph.conv {{.*}} w_layout = "HWIO"
  // CHECK: graph.mul
  // CHECK: graph.weight "u.last" : tensor<1x1x64x8xf32>
  // CHECK: graph.fused "conv"
  // CHECK: graph.conv {{.*}} w_layout = "HWIO"
  %0 = graph.global_average_pool %x : tensor<1x64x7x7xf32> -> tensor<1x64x1x1xf32>
  %1 = graph.conv %0, %v {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x64x1x1xf32>, tensor<12x64x1x1xf32>) -> tensor<1x12x1x1xf32>
  %2 = graph.relu %1 : tensor<1x12x1x1xf32> -> tensor<1x12x1x1xf32>
  %3 = graph.conv %2, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x12x1x1xf32>, tensor<64x12x1x1xf32>) -> tensor<1x64x1x1xf32>
  %4 = graph.sigmoid %3 : tensor<1x64x1x1xf32> -> tensor<1x64x1x1xf32>
  %5 = graph.mul %x, %4 : (tensor<1x64x7x7xf32>, tensor<1x64x1x1xf32>) -> tensor<1x64x7x7xf32>
  %u = graph.weight "u" : tensor<8x64x1x1xf32>
  %6 = graph.conv %q, %u {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x64x1x1xf32>, tensor<8x64x1x1xf32>) -> tensor<1x8x1x1xf32>
  func.return %5, %6 : tensor<1x64x7x7xf32>, tensor<1x8x1x1xf32>
}
