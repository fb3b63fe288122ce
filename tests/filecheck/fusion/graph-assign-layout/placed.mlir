// RUN: fuse-opt %s -p graph-assign-layout | filecheck %s

// Concat, slice and pad of what is channels last stay so: their axes move with the channels.

// CHECK:     graph.fused "relu_pool"
// CHECK:     graph.concat {{.*}} {axis = 3} : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x16xf32>
// CHECK:     graph.slice {{.*}} axes = [3]{{.*}} : tensor<1x4x4x16xf32> -> tensor<1x4x4x12xf32>
// CHECK:     graph.pad {{.*}} {{{.*}}pads = [0, 1, 2, 3, 0, 4, 5, 6]} : tensor<1x4x4x12xf32> -> tensor<1x9x11x21xf32>
func.func @main(%x: tensor<1x8x4x4xf32>) -> (tensor<1x21x9x11xf32>) {
  %a = graph.fused "relu_pool"(%x_1 = %x : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
    %0 = graph.max_pool %x_1 {layout = "NCHW", kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32>
    graph.yield %0 : tensor<1x8x4x4xf32>
  }
  %b = graph.fused "concat"(%a_1 = %a : tensor<1x8x4x4xf32>) -> tensor<1x16x4x4xf32> {
    %1 = graph.concat %a_1, %a_1 {axis = -3} : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x16x4x4xf32>
    graph.yield %1 : tensor<1x16x4x4xf32>
  }
  %c = graph.fused "slice"(%b_1 = %b : tensor<1x16x4x4xf32>) -> tensor<1x12x4x4xf32> {
    %2 = graph.slice %b_1 {starts = [2], ends = [14], axes = [1], steps = [1]} : tensor<1x16x4x4xf32> -> tensor<1x12x4x4xf32>
    graph.yield %2 : tensor<1x12x4x4xf32>
  }
  %d = graph.fused "pad"(%c_1 = %c : tensor<1x12x4x4xf32>) -> tensor<1x21x9x11xf32> {
    %3 = graph.pad %c_1 {pads = [0, 3, 1, 2, 0, 6, 4, 5], value = 1.0} : tensor<1x12x4x4xf32> -> tensor<1x21x9x11xf32>
    graph.yield %3 : tensor<1x21x9x11xf32>
  }
  func.return %d : tensor<1x21x9x11xf32>
}
