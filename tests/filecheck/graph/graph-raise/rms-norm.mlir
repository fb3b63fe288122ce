// RUN: fuse-opt %s -p graph-raise | filecheck %s

// CHECK-LABEL: func.func @llama
// CHECK: %[[Y:.*]] = graph.rms_normalization %x, %w {epsilon = {{.*}}} : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @llama(%x: tensor<3x8xf32>, %w: tensor<8xf32>) -> tensor<3x8xf32> {
  %two = graph.constant dense<2.0> : tensor<f32>
  %e = graph.constant dense<1.0e-06> : tensor<f32>
  %0 = graph.pow %x, %two : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %1 = graph.reduce_mean %0 {axes = [-1]} : tensor<3x8xf32> -> tensor<3x1xf32>
  %2 = graph.add %1, %e : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %3 = graph.sqrt %2 : tensor<3x1xf32> -> tensor<3x1xf32>
  %4 = graph.reciprocal %3 : tensor<3x1xf32> -> tensor<3x1xf32>
  %5 = graph.mul %x, %4 : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %6 = graph.mul %w, %5 : (tensor<8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  func.return %6 : tensor<3x8xf32>
}

// The mean is over another axis.
// CHECK-LABEL: func.func @first_axis
// CHECK-NOT: graph.rms_normalization
func.func @first_axis(%x: tensor<3x8xf32>, %w: tensor<8xf32>) -> tensor<3x8xf32> {
  %e = graph.constant dense<1.0e-06> : tensor<f32>
  %0 = graph.mul %x, %x : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %1 = graph.reduce_mean %0 {axes = [0]} : tensor<3x8xf32> -> tensor<1x8xf32>
  %2 = graph.add %1, %e : (tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  %3 = graph.sqrt %2 : tensor<1x8xf32> -> tensor<1x8xf32>
  %4 = graph.div %x, %3 : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<3x8xf32>
  %5 = graph.mul %4, %w : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  func.return %5 : tensor<3x8xf32>
}

// A sum is no mean.
// CHECK-LABEL: func.func @sum
// CHECK-NOT: graph.rms_normalization
func.func @sum(%x: tensor<3x8xf32>, %w: tensor<8xf32>) -> tensor<3x8xf32> {
  %e = graph.constant dense<1.0e-06> : tensor<f32>
  %0 = graph.mul %x, %x : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %1 = graph.reduce_sum %0 {axes = [-1]} : tensor<3x8xf32> -> tensor<3x1xf32>
  %2 = graph.add %1, %e : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %3 = graph.sqrt %2 : tensor<3x1xf32> -> tensor<3x1xf32>
  %4 = graph.div %x, %3 : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %5 = graph.mul %4, %w : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  func.return %5 : tensor<3x8xf32>
}

// The root is an output too, and the mean of another value's squares is none.
// CHECK-LABEL: func.func @used_or_other
// CHECK-NOT: graph.rms_normalization
func.func @used_or_other(%x: tensor<3x8xf32>, %z: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x1xf32>, tensor<3x8xf32>) {
  %e = graph.constant dense<1.0e-06> : tensor<f32>
  %0 = graph.mul %x, %x : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %1 = graph.reduce_mean %0 {axes = [-1]} : tensor<3x8xf32> -> tensor<3x1xf32>
  %2 = graph.add %1, %e : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %3 = graph.sqrt %2 : tensor<3x1xf32> -> tensor<3x1xf32>
  %4 = graph.div %x, %3 : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %5 = graph.div %z, %3 : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  func.return %4, %3, %5 : tensor<3x8xf32>, tensor<3x1xf32>, tensor<3x8xf32>
}

// float16 between casts to float32 and back.
// CHECK-LABEL: func.func @half
// CHECK: graph.rms_normalization %x, %w {{.*}} : (tensor<3x8xf16>, tensor<8xf16>) -> tensor<3x8xf16>
func.func @half(%x: tensor<3x8xf16>, %w: tensor<8xf16>) -> tensor<3x8xf16> {
  %e = graph.constant dense<1.0e-06> : tensor<f32>
  %0 = graph.cast %x {to = f32} : tensor<3x8xf16> -> tensor<3x8xf32>
  %1 = graph.mul %0, %0 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %2 = graph.reduce_mean %1 {axes = [1]} : tensor<3x8xf32> -> tensor<3x1xf32>
  %3 = graph.add %2, %e : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %4 = graph.sqrt %3 : tensor<3x1xf32> -> tensor<3x1xf32>
  %5 = graph.div %0, %4 : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %6 = graph.cast %5 {to = f16} : tensor<3x8xf32> -> tensor<3x8xf16>
  %7 = graph.mul %6, %w : (tensor<3x8xf16>, tensor<8xf16>) -> tensor<3x8xf16>
  func.return %7 : tensor<3x8xf16>
}
