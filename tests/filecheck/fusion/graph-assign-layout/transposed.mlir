// What follows a convolution in its group goes channels last with it: a transposition to channels last
// is gone, another one is what remains of it, reduced axes move.
//
// RUN: fuse-opt %s -p "graph-assign-layout" --split-input-file | filecheck %s

// CHECK-LABEL: func.func @to_last
// CHECK: graph.fused "conv_transpose"(%{{.*}} : tensor<1x9x9x24xf32>, %{{.*}} : tensor<3x3x1x24xf32>) -> tensor<1x9x9x24xf32> {
// CHECK-NEXT: %[[Y:.*]] = graph.conv
// CHECK-SAME: y_layout = "NHWC"
// CHECK-NEXT: graph.yield %[[Y]]
// CHECK-NOT: graph.transpose
// CHECK: func.return %{{.*}} : tensor<1x9x9x24xf32>
func.func @to_last(%x: tensor<1x24x9x9xf32>) -> tensor<1x9x9x24xf32> {
  %w = graph.weight "w" : tensor<24x1x3x3xf32>
  %0 = graph.fused "conv_transpose"(%a = %x : tensor<1x24x9x9xf32>, %b = %w : tensor<24x1x3x3xf32>) -> tensor<1x9x9x24xf32> {
    %1 = graph.conv %a, %b {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 24} : (tensor<1x24x9x9xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x9x9xf32>
    %2 = graph.transpose %1 {perm = [0, 2, 3, 1]} : tensor<1x24x9x9xf32> -> tensor<1x9x9x24xf32>
    graph.yield %2 : tensor<1x9x9x24xf32>
  }
  func.return %0 : tensor<1x9x9x24xf32>
}

// -----

// CHECK-LABEL: func.func @other
// CHECK: graph.conv {{.*}} -> tensor<1x9x7x24xf32>
// CHECK-NEXT: graph.transpose %{{.*}} {perm = [2, 0, 1, 3]} : tensor<1x9x7x24xf32> -> tensor<7x1x9x24xf32>
func.func @other(%x: tensor<1x24x9x7xf32>) -> tensor<7x1x9x24xf32> {
  %w = graph.weight "w" : tensor<24x1x3x3xf32>
  %0 = graph.fused "conv_transpose"(%a = %x : tensor<1x24x9x7xf32>, %b = %w : tensor<24x1x3x3xf32>) -> tensor<7x1x9x24xf32> {
    %1 = graph.conv %a, %b {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 24} : (tensor<1x24x9x7xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x9x7xf32>
    %2 = graph.transpose %1 {perm = [3, 0, 2, 1]} : tensor<1x24x9x7xf32> -> tensor<7x1x9x24xf32>
    graph.yield %2 : tensor<7x1x9x24xf32>
  }
  func.return %0 : tensor<7x1x9x24xf32>
}

// -----

// CHECK-LABEL: func.func @means
// CHECK: graph.reduce_mean %{{.*}} {axes = [1, 2]} : tensor<2x9x7x24xf32> -> tensor<2x1x1x24xf32>
// CHECK-NEXT: graph.reduce_max %{{.*}} {keepdims = false, axes = [1, 2]} : tensor<2x9x7x24xf32> -> tensor<2x24xf32>
func.func @means(%x: tensor<2x24x9x7xf32>) -> (tensor<2x24x1x1xf32>, tensor<2x24xf32>) {
  %w = graph.weight "w" : tensor<24x1x3x3xf32>
  %0, %1 = graph.fused "conv_reduce_mean"(%a = %x : tensor<2x24x9x7xf32>, %b = %w : tensor<24x1x3x3xf32>) -> tensor<2x24x1x1xf32>, tensor<2x24xf32> {
    %2 = graph.conv %a, %b {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 24} : (tensor<2x24x9x7xf32>, tensor<24x1x3x3xf32>) -> tensor<2x24x9x7xf32>
    %3 = graph.reduce_mean %2 {axes = [2, 3]} : tensor<2x24x9x7xf32> -> tensor<2x24x1x1xf32>
    %4 = graph.reduce_max %2 {axes = [-1, 2], keepdims = false} : tensor<2x24x9x7xf32> -> tensor<2x24xf32>
    graph.yield %3, %4 : tensor<2x24x1x1xf32>, tensor<2x24xf32>
  }
  func.return %0, %1 : tensor<2x24x1x1xf32>, tensor<2x24xf32>
}

// -----

// Rows alone, reduced without being kept, would leave the channels behind the columns: it stays.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: NHWC
// CHECK: graph.reduce_sum %{{.*}} {keepdims = false, axes = [2]} : tensor<2x24x9x7xf32> -> tensor<2x24x7xf32>
func.func @rows(%x: tensor<2x24x9x7xf32>) -> tensor<2x24x7xf32> {
  %w = graph.weight "w" : tensor<24x1x3x3xf32>
  %0 = graph.fused "conv_reduce_sum"(%a = %x : tensor<2x24x9x7xf32>, %b = %w : tensor<24x1x3x3xf32>) -> tensor<2x24x7xf32> {
    %2 = graph.conv %a, %b {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 24} : (tensor<2x24x9x7xf32>, tensor<24x1x3x3xf32>) -> tensor<2x24x9x7xf32>
    %3 = graph.reduce_sum %2 {axes = [2], keepdims = false} : tensor<2x24x9x7xf32> -> tensor<2x24x7xf32>
    graph.yield %3 : tensor<2x24x7xf32>
  }
  func.return %0 : tensor<2x24x7xf32>
}

// -----

// A transposition to channels first before the convolution is gone as well; one is left behind it.
// CHECK-LABEL: func.func @to_first
// CHECK: graph.fused "transpose_conv"(%{{.*}} = %x : tensor<1x9x7x24xf32>, %{{.*}} : tensor<3x3x1x24xf32>) -> tensor<1x24x9x7xf32> {
// CHECK-NEXT: graph.conv
// CHECK-NEXT: graph.transpose %{{.*}} {perm = [0, 3, 1, 2]} : tensor<1x9x7x24xf32> -> tensor<1x24x9x7xf32>
// CHECK-NEXT: graph.yield
func.func @to_first(%x: tensor<1x9x7x24xf32>) -> tensor<1x24x9x7xf32> {
  %w = graph.weight "w" : tensor<24x1x3x3xf32>
  %0 = graph.fused "transpose_conv"(%a = %x : tensor<1x9x7x24xf32>, %b = %w : tensor<24x1x3x3xf32>) -> tensor<1x24x9x7xf32> {
    %1 = graph.transpose %a {perm = [0, 3, 1, 2]} : tensor<1x9x7x24xf32> -> tensor<1x24x9x7xf32>
    %2 = graph.conv %1, %b {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 24} : (tensor<1x24x9x7xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x9x7xf32>
    graph.yield %2 : tensor<1x24x9x7xf32>
  }
  func.return %0 : tensor<1x24x9x7xf32>
}
