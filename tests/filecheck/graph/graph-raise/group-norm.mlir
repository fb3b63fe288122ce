// RUN: fuse-opt %s -p graph-raise | filecheck %s

// As torch writes it: an instance norm of the groups, then scale and bias of the channels.
// CHECK-LABEL: func.func @grouped
// CHECK: %[[Y:.*]] = graph.group_normalization %x, %{{.*}}, %{{.*}} {epsilon = {{.*}}, num_groups = 2} : (tensor<2x6x3x5xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x3x5xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @grouped(%x: tensor<2x6x3x5xf32>, %s: tensor<6x1x1xf32>, %b: tensor<1x6x1x1xf32>) -> tensor<2x6x3x5xf32> {
  %e = graph.constant dense<1.0e-05> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %g = graph.reshape %x : tensor<2x6x3x5xf32> -> tensor<2x2x45xf32>
  %0 = graph.reduce_mean %g {axes = [2]} : tensor<2x2x45xf32> -> tensor<2x2x1xf32>
  %1 = graph.sub %g, %0 : (tensor<2x2x45xf32>, tensor<2x2x1xf32>) -> tensor<2x2x45xf32>
  %2 = graph.mul %1, %1 : (tensor<2x2x45xf32>, tensor<2x2x45xf32>) -> tensor<2x2x45xf32>
  %3 = graph.reduce_mean %2 {axes = [2]} : tensor<2x2x45xf32> -> tensor<2x2x1xf32>
  %4 = graph.add %3, %e : (tensor<2x2x1xf32>, tensor<f32>) -> tensor<2x2x1xf32>
  %5 = graph.sqrt %4 : tensor<2x2x1xf32> -> tensor<2x2x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x2x45xf32>, tensor<2x2x1xf32>) -> tensor<2x2x45xf32>
  %7 = graph.add %6, %zero : (tensor<2x2x45xf32>, tensor<f32>) -> tensor<2x2x45xf32>
  %8 = graph.reshape %7 : tensor<2x2x45xf32> -> tensor<2x6x3x5xf32>
  %9 = graph.mul %8, %s : (tensor<2x6x3x5xf32>, tensor<6x1x1xf32>) -> tensor<2x6x3x5xf32>
  %10 = graph.add %9, %b : (tensor<2x6x3x5xf32>, tensor<1x6x1x1xf32>) -> tensor<2x6x3x5xf32>
  func.return %10 : tensor<2x6x3x5xf32>
}

// The statistics of the batch, not of a group: only what is inside may be a norm.
// CHECK-LABEL: func.func @batch
// CHECK-NOT: graph.group_normalization
func.func @batch(%x: tensor<2x6x3x5xf32>, %s: tensor<6x1x1xf32>, %b: tensor<6x1x1xf32>) -> tensor<2x6x3x5xf32> {
  %e = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [0, 2, 3]} : tensor<2x6x3x5xf32> -> tensor<1x6x1x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x6x3x5xf32>, tensor<1x6x1x1xf32>) -> tensor<2x6x3x5xf32>
  %2 = graph.mul %1, %1 : (tensor<2x6x3x5xf32>, tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  %3 = graph.reduce_mean %2 {axes = [0, 2, 3]} : tensor<2x6x3x5xf32> -> tensor<1x6x1x1xf32>
  %4 = graph.add %3, %e : (tensor<1x6x1x1xf32>, tensor<f32>) -> tensor<1x6x1x1xf32>
  %5 = graph.sqrt %4 : tensor<1x6x1x1xf32> -> tensor<1x6x1x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x6x3x5xf32>, tensor<1x6x1x1xf32>) -> tensor<2x6x3x5xf32>
  %7 = graph.mul %6, %s : (tensor<2x6x3x5xf32>, tensor<6x1x1xf32>) -> tensor<2x6x3x5xf32>
  %8 = graph.add %7, %b : (tensor<2x6x3x5xf32>, tensor<6x1x1xf32>) -> tensor<2x6x3x5xf32>
  func.return %8 : tensor<2x6x3x5xf32>
}

// A bias of positions is none of channels.
// CHECK-LABEL: func.func @bias_of_positions
// CHECK: graph.group_normalization
// CHECK-NEXT: graph.add
func.func @bias_of_positions(%x: tensor<2x6x3x5xf32>, %s: tensor<6x1x1xf32>, %b: tensor<3x5xf32>) -> tensor<2x6x3x5xf32> {
  %e = graph.constant dense<1.0e-05> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = [2, 3]} : tensor<2x6x3x5xf32> -> tensor<2x6x1x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x6x3x5xf32>, tensor<2x6x1x1xf32>) -> tensor<2x6x3x5xf32>
  %2 = graph.mul %1, %1 : (tensor<2x6x3x5xf32>, tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  %3 = graph.reduce_mean %2 {axes = [2, 3]} : tensor<2x6x3x5xf32> -> tensor<2x6x1x1xf32>
  %4 = graph.add %3, %e : (tensor<2x6x1x1xf32>, tensor<f32>) -> tensor<2x6x1x1xf32>
  %5 = graph.sqrt %4 : tensor<2x6x1x1xf32> -> tensor<2x6x1x1xf32>
  %6 = graph.div %1, %5 : (tensor<2x6x3x5xf32>, tensor<2x6x1x1xf32>) -> tensor<2x6x3x5xf32>
  %7 = graph.mul %6, %s : (tensor<2x6x3x5xf32>, tensor<6x1x1xf32>) -> tensor<2x6x3x5xf32>
  %8 = graph.add %7, %b : (tensor<2x6x3x5xf32>, tensor<3x5xf32>) -> tensor<2x6x3x5xf32>
  func.return %8 : tensor<2x6x3x5xf32>
}
