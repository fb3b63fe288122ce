// RUN: fuse-opt %s -p graph-assign-layout --split-input-file --print-debuginfo | filecheck %s

// Channels last between convolutions, filters [kernel][I][O] in @weights; the padded convolution reads
// a transposed picture, the last one stores its result transposed.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = graph.weight "w" : tensor<32x32x3x3xf32>
  %v = graph.weight "v" : tensor<32x32x1x1xf32>
  // CHECK-DAG: %[[T:.*]] = graph.fused "transpose"(%{{.*}} = %x : tensor<1x32x8x8xf32>{{.*}}) -> tensor<1x8x8x32xf32> {
  // CHECK-DAG: graph.transpose {{.*}} {perm = [0, 2, 3, 1]} : {{.*}} loc("one")
  // CHECK-DAG: %[[W:.*]] = graph.weight "w.last" : tensor<3x3x32x32xf32>
  // CHECK: %[[A:.*]] = graph.fused "conv_relu"(%{{.*}} = %[[T]] : {{.*}}, %{{.*}} = %[[W]] : {{.*}}) -> tensor<1x8x8x32xf32> {
  // CHECK-NEXT: graph.conv {{.*}} {x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC", strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x8x8x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x8x8x32xf32> loc("conv1")
  // CHECK-NEXT: graph.relu {{.*}} : tensor<1x8x8x32xf32> -> tensor<1x8x8x32xf32>
  // CHECK-NEXT: graph.yield
  // CHECK-NEXT: } loc("one")
  %0 = graph.fused "conv_relu"(%x1 = %x : tensor<1x32x8x8xf32>, %w1 = %w : tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32> {
    %1 = graph.conv %x1, %w1 {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32> loc("conv1")
    %2 = graph.relu %1 : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32>
    graph.yield %2 : tensor<1x32x8x8xf32>
  } loc("one")
  // A bias [C, 1, 1] that is added is turned as well; the elementwise group between follows.
  // CHECK: %[[B:.*]] = graph.fused "add"(%{{.*}} = %[[A]] : tensor<1x8x8x32xf32>
  // CHECK: graph.add {{.*}} : (tensor<1x8x8x32xf32>, tensor<1x1x1x32xf32>) -> tensor<1x8x8x32xf32>
  %b = graph.weight "b" : tensor<32x1x1xf32>
  %3 = graph.fused "add"(%y1 = %0 : tensor<1x32x8x8xf32>, %b1 = %b : tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32> {
    %4 = graph.add %y1, %b1 : (tensor<1x32x8x8xf32>, tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32>
    graph.yield %4 : tensor<1x32x8x8xf32>
  }
  // The residual is the first group's result, channels last already.
  // CHECK: %[[C:.*]] = graph.fused "conv_residual"(%{{.*}} = %[[B]] : {{.*}}, %{{.*}} = %{{.*}} : tensor<1x1x32x32xf32>{{.*}}, %{{.*}} = %[[A]] : tensor<1x8x8x32xf32>{{.*}}) -> tensor<1x32x1x64xf32> {
  // CHECK-NEXT: graph.reshape {{.*}} : tensor<1x8x8x32xf32> -> tensor<1x1x64x32xf32>
  // CHECK-NEXT: graph.conv {{.*}}{x_layout = "NHWC", w_layout = "HWIO", strides{{.*}} -> tensor<1x32x1x64xf32>
  // CHECK-NEXT: graph.reshape {{.*}} : tensor<1x8x8x32xf32> -> tensor<1x1x64x32xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.transpose {{.*}} {perm = [0, 3, 1, 2]} : tensor<1x1x64x32xf32> -> tensor<1x32x1x64xf32>
  // CHECK-NEXT: graph.add %{{.*}}, %[[R]]
  // CHECK-NEXT: graph.yield
  // CHECK: %[[Y:.*]] = graph.reshape %[[C]] : tensor<1x32x1x64xf32> -> tensor<1x32x8x8xf32>
  // CHECK: func.return %[[Y]]
  %5 = graph.fused "conv_residual"(%z1 = %3 : tensor<1x32x8x8xf32>, %v1 = %v : tensor<32x32x1x1xf32>, %r1 = %0 : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
    %6 = graph.conv %z1, %v1 {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32>
    %7 = graph.add %6, %r1 : (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
    graph.yield %7 : tensor<1x32x8x8xf32>
  }
  func.return %5 : tensor<1x32x8x8xf32>
}
// CHECK: func.func @weights() -> (tensor<3x3x32x32xf32> {graph.name = "w.last"}, tensor<1x1x1x32xf32> {graph.name = "b.last"}, tensor<1x1x32x32xf32> {graph.name = "v.last"}) {
// CHECK: graph.transpose {{.*}} {perm = [2, 3, 1, 0]} : tensor<32x32x3x3xf32> -> tensor<3x3x32x32xf32>
// CHECK: graph.reshape {{.*}} : tensor<32x1x1xf32> -> tensor<1x32x1x1xf32>
// CHECK-NEXT: graph.transpose {{.*}} {perm = [0, 2, 3, 1]} : tensor<1x32x1x1xf32> -> tensor<1x1x1x32xf32>
// CHECK-NOT: loc(unknown)

// -----

// A stem: few channels, so the transposition pads, and the convolution has no pads left.
// CHECK-LABEL: func.func @stem
// CHECK: graph.fused "transpose_pad"(%{{.*}} = %x : tensor<1x3x224x224xf32>{{.*}}) -> tensor<1x230x230x3xf32> {
// CHECK: graph.pad {{.*}} {pads = [0, 3, 3, 0, 0, 3, 3, 0]}
// CHECK: graph.conv {{.*}} strides = [2, 2], pads = [0, 0, 0, 0]{{.*}} : (tensor<1x230x230x3xf32>, tensor<7x7x3x64xf32>) -> tensor<1x64x112x112xf32>
func.func @stem(%x: tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf32> {
  %w = graph.weight "w" : tensor<64x3x7x7xf32>
  %0 = graph.fused "conv"(%x1 = %x : tensor<1x3x224x224xf32>, %w1 = %w : tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32> {
    %1 = graph.conv %x1, %w1 {strides = [2, 2], pads = [3, 3, 3, 3], dilations = [1, 1]} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
    graph.yield %1 : tensor<1x64x112x112xf32>
  }
  func.return %0 : tensor<1x64x112x112xf32>
}

// -----

// Pooling to one pixel: the matrix behind it is a view, no transposition.
// CHECK-LABEL: func.func @pixel
// CHECK: graph.global_average_pool {{.*}} {layout = "NHWC"} : tensor<1x4x4x32xf32> -> tensor<1x1x1x32xf32>
// CHECK: graph.reshape {{.*}} : tensor<1x1x1x32xf32> -> tensor<1x32xf32>
// CHECK-NOT: "transpose"
// CHECK: func.return
func.func @pixel(%x: tensor<1x32x4x4xf32>) -> tensor<1x32xf32> {
  %0 = graph.fused "global_average_pool"(%x1 = %x : tensor<1x32x4x4xf32>) -> tensor<1x32x1x1xf32> {
    %1 = graph.global_average_pool %x1 : tensor<1x32x4x4xf32> -> tensor<1x32x1x1xf32>
    graph.yield %1 : tensor<1x32x1x1xf32>
  }
  %2 = graph.flatten %0 : tensor<1x32x1x1xf32> -> tensor<1x32xf32>
  func.return %2 : tensor<1x32xf32>
}

// -----

// Without windows nothing changes.
// CHECK-LABEL: func.func @matmul
// CHECK-NOT: transpose
// CHECK-NOT: @weights
func.func @matmul(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %w = graph.weight "w" : tensor<8x8xf32>
  %0 = graph.fused "matmul"(%x1 = %x : tensor<8x8xf32>, %w1 = %w : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %1 = graph.matmul %x1, %w1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    graph.yield %1 : tensor<8x8xf32>
  }
  func.return %0 : tensor<8x8xf32>
}

// -----

// A group that needs channels first takes a value that the group before transposes back.
// CHECK-LABEL: func.func @softmax
// CHECK: graph.max_pool {{.*}}layout = "NHWC"
// CHECK: {perm = [0, 3, 1, 2]}
// CHECK: graph.softmax {{.*}} : tensor<1x32x4x4xf32> -> tensor<1x32x4x4xf32>
func.func @softmax(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32> {
  %0 = graph.fused "max_pool"(%x1 = %x : tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32> {
    %1 = graph.max_pool %x1 {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x32x8x8xf32> -> tensor<1x32x4x4xf32>
    graph.yield %1 : tensor<1x32x4x4xf32>
  }
  %2 = graph.fused "softmax"(%x2 = %0 : tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32> {
    %3 = graph.softmax %x2 : tensor<1x32x4x4xf32> -> tensor<1x32x4x4xf32>
    graph.yield %3 : tensor<1x32x4x4xf32>
  }
  func.return %2 : tensor<1x32x4x4xf32>
}

// -----

// An operand of higher rank would put the channels elsewhere: it takes channels first.
// CHECK-LABEL: func.func @higher_rank
// CHECK: perm = [0, 3, 1, 2]
// CHECK: graph.add {{.*}} : (tensor<1x32x4x4xf32>, tensor<1x1x1x1x1xf32>) -> tensor<1x1x32x4x4xf32>
func.func @higher_rank(%x: tensor<1x32x8x8xf32>, %b: tensor<1x1x1x1x1xf32>) -> tensor<1x1x32x4x4xf32> {
  %0 = graph.fused "max_pool"(%x1 = %x : tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32> {
    %1 = graph.max_pool %x1 {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x32x8x8xf32> -> tensor<1x32x4x4xf32>
    graph.yield %1 : tensor<1x32x4x4xf32>
  }
  %2 = graph.fused "add"(%x2 = %0 : tensor<1x32x4x4xf32>, %b2 = %b : tensor<1x1x1x1x1xf32>) -> tensor<1x1x32x4x4xf32> {
    %3 = graph.add %x2, %b2 : (tensor<1x32x4x4xf32>, tensor<1x1x1x1x1xf32>) -> tensor<1x1x32x4x4xf32>
    graph.yield %3 : tensor<1x1x32x4x4xf32>
  }
  func.return %2 : tensor<1x1x32x4x4xf32>
}

// -----

// What is channels last already stays.
// CHECK-LABEL: func.func @last
// CHECK-NOT: transpose
// CHECK: graph.conv {{.*}} {x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC", strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]}
// CHECK-NOT: transpose
func.func @last(%x: tensor<1x8x8x32xf32>) -> tensor<1x8x8x16xf32> {
  %w = graph.weight "w" : tensor<1x1x32x16xf32>
  %0 = graph.fused "conv"(%x1 = %x : tensor<1x8x8x32xf32>, %w1 = %w : tensor<1x1x32x16xf32>) -> tensor<1x8x8x16xf32> {
    %1 = graph.conv %x1, %w1 {x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC", strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x8x8x32xf32>, tensor<1x1x32x16xf32>) -> tensor<1x8x8x16xf32>
    graph.yield %1 : tensor<1x8x8x16xf32>
  }
  func.return %0 : tensor<1x8x8x16xf32>
}
