// RUN: fuse-opt %s -p "graph-fuse{objective=kernels}" | filecheck %s

// RMS norm in f16 computes in f32 inside.
// CHECK-LABEL: func.func @rms_norm
// CHECK: graph.fused
// CHECK: graph.cast %{{.*}} {to = f32}
// CHECK: graph.reduce_mean %{{.*}} {axes = [1]} : tensor<3x8xf32> -> tensor<3x1xf32>
// CHECK: graph.cast %{{.*}} {to = f16}
func.func @rms_norm(%x: tensor<3x8xf16>, %w: tensor<8xf16>) -> tensor<3x8xf16> {
  %0 = graph.rms_normalization %x, %w : (tensor<3x8xf16>, tensor<8xf16>) -> tensor<3x8xf16>
  func.return %0 : tensor<3x8xf16>
}

// A scale of 1 is left out.
// CHECK-LABEL: func.func @no_scale
// CHECK: graph.div
// CHECK-NEXT: graph.yield
func.func @no_scale(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %one = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.rms_normalization %x, %one : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  func.return %0 : tensor<3x8xf32>
}

// Activations have instructions of their own.
// CHECK-LABEL: func.func @activation
// CHECK: graph.fused "swish"
// CHECK: graph.swish %{{.*}} {alpha = 1.702}
func.func @activation(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %0 = graph.swish %x {alpha = 1.702} : tensor<3x8xf32> -> tensor<3x8xf32>
  func.return %0 : tensor<3x8xf32>
}
