// RUN: fuse-opt %s -p graph-fold-weights | filecheck %s

// The norm of a convolution goes into its filter and bias; the group takes the folded weights.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x3x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %w = graph.weight "w" : tensor<4x3x3x3xf32>
  %s = graph.weight "s" : tensor<4xf32>
  %b = graph.weight "b" : tensor<4xf32>
  %m = graph.weight "m" : tensor<4xf32>
  %v = graph.weight "v" : tensor<4xf32>
  %c = graph.weight "c" : tensor<4xf32>
  // CHECK-DAG: %[[W:.*]] = graph.weight "w.bn" : tensor<4x3x3x3xf32>
  // CHECK-DAG: %[[B:.*]] = graph.weight "b.bn" : tensor<4xf32>
  // CHECK: graph.fused "conv_bn_relu"({{.*}} = %x : {{.*}} = %[[W]] : tensor<4x3x3x3xf32>, {{.*}} = %[[B]] : tensor<4xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK-NEXT: graph.conv {{.*}}, {{.*}}, {{.*}} {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]}
  // CHECK-NEXT: graph.relu
  // CHECK-NEXT: graph.yield
  %0 = graph.fused "conv_bn_relu"(%x1 = %x : tensor<1x3x8x8xf32>, %w1 = %w : tensor<4x3x3x3xf32>, %s1 = %s : tensor<4xf32>, %b1 = %b : tensor<4xf32>, %m1 = %m : tensor<4xf32>, %v1 = %v : tensor<4xf32>) -> tensor<1x4x8x8xf32> {
    %1 = graph.conv %x1, %w1 {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
    %2 = graph.batch_normalization %1, %s1, %b1, %m1, %v1 {epsilon = 0.5} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    %3 = graph.relu %2 : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>
    graph.yield %3 : tensor<1x4x8x8xf32>
  }
  // A filter that another group shares is folded for each of them; an old bias goes in as well.
  // CHECK-DAG: %[[W2:.*]] = graph.weight "w.bn.2" : tensor<4x3x3x3xf32>
  // CHECK-DAG: %[[B2:.*]] = graph.weight "b.bn.2" : tensor<4xf32>
  // CHECK: graph.fused "conv_bias_bn"({{.*}} = %x : {{.*}} = %[[W2]] : tensor<4x3x3x3xf32>, {{.*}} = %[[B2]] : tensor<4xf32>)
  %4 = graph.fused "conv_bias_bn"(%x2 = %x : tensor<1x3x8x8xf32>, %w2 = %w : tensor<4x3x3x3xf32>, %c2 = %c : tensor<4xf32>, %s2 = %s : tensor<4xf32>, %b2 = %b : tensor<4xf32>, %m2 = %m : tensor<4xf32>, %v2 = %v : tensor<4xf32>) -> tensor<1x4x8x8xf32> {
    %5 = graph.conv %x2, %w2, %c2 {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    %6 = graph.batch_normalization %5, %s2, %b2, %m2, %v2 : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    graph.yield %6 : tensor<1x4x8x8xf32>
  }
  func.return %0, %4 : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}

// s / sqrt(v + epsilon) is computed once for each norm, the filter scaled along its output channels.
// CHECK-LABEL: func.func @weights() -> (tensor<4x3x3x3xf32> {graph.name = "w.bn"}, tensor<4xf32> {graph.name = "b.bn"}, tensor<4x3x3x3xf32> {graph.name = "w.bn.2"}, tensor<4xf32> {graph.name = "b.bn.2"}) {
// CHECK: %[[SCALE:.*]] = graph.weight "s"
// CHECK: %[[OFFSET:.*]] = graph.weight "b"
// CHECK: %[[MEAN:.*]] = graph.weight "m"
// CHECK: %[[VAR:.*]] = graph.weight "v"
// CHECK: %[[FILTER:.*]] = graph.weight "w"
// CHECK: %[[EPS:.*]] = graph.constant dense<"0x0000003F">
// CHECK: %[[SUM:.*]] = graph.add %[[VAR]], %[[EPS]]
// CHECK: %[[ROOT:.*]] = graph.sqrt %[[SUM]]
// CHECK: %[[S:.*]] = graph.div %[[SCALE]], %[[ROOT]]
// CHECK: %[[R:.*]] = graph.reshape %[[S]] : tensor<4xf32> -> tensor<4x1x1x1xf32>
// CHECK: graph.mul %[[FILTER]], %[[R]]
// CHECK: %[[P:.*]] = graph.mul %[[MEAN]], %[[S]]
// CHECK: graph.sub %[[OFFSET]], %[[P]]
// CHECK: %[[OLD:.*]] = graph.weight "c"
// CHECK: graph.sub %[[MEAN]], %[[OLD]]
