// RUN: fuse-opt %s -p graph-raise | filecheck %s

// CHECK-LABEL: func.func @batch_norm_written_out
// CHECK: %[[W:.*]] = graph.mul %w, %{{.*}} : (tensor<4x3x1x1xf32>, tensor<4x1x1x1xf32>) -> tensor<4x3x1x1xf32>
// CHECK: %[[Y:.*]] = graph.conv %x, %[[W]], %{{.*}} {
// CHECK-NEXT: func.return %[[Y]]
func.func @batch_norm_written_out(%x: tensor<1x3x5x5xf32>) -> tensor<1x4x5x5xf32> {
  %w = graph.weight "w" : tensor<4x3x1x1xf32>
  %s = graph.weight "s" : tensor<4x1x1xf32>
  %b = graph.weight "b" : tensor<1x4x1x1xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x5xf32>
  %1 = graph.mul %0, %s : (tensor<1x4x5x5xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x5xf32>
  %2 = graph.add %b, %1 : (tensor<1x4x1x1xf32>, tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  func.return %2 : tensor<1x4x5x5xf32>
}

// C2: the convolution has a second user, which would see other numbers.
// CHECK-LABEL: func.func @second_user
// CHECK: %[[T:.*]] = graph.conv %x, %w {
// CHECK-NEXT: graph.mul %[[T]]
func.func @second_user(%x: tensor<1x3x5x5xf32>) -> (tensor<1x4x5x5xf32>, tensor<1x4x5x5xf32>) {
  %w = graph.weight "w" : tensor<4x3x1x1xf32>
  %s = graph.weight "s" : tensor<4x1x1xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x5xf32>
  %1 = graph.mul %0, %s : (tensor<1x4x5x5xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x5xf32>
  func.return %1, %0 : tensor<1x4x5x5xf32>, tensor<1x4x5x5xf32>
}

// A factor of each column, and one that is computed.
// CHECK-LABEL: func.func @columns
// CHECK: graph.conv %x, %w
// CHECK-NEXT: graph.mul
// CHECK-NEXT: graph.mul
func.func @columns(%x: tensor<1x3x4x4xf32>, %z: tensor<4x1x1xf32>) -> tensor<1x4x4x4xf32> {
  %w = graph.weight "w" : tensor<4x3x1x1xf32>
  %s = graph.weight "s" : tensor<4xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32>
  %1 = graph.mul %0, %s : (tensor<1x4x4x4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  %2 = graph.mul %1, %z : (tensor<1x4x4x4xf32>, tensor<4x1x1xf32>) -> tensor<1x4x4x4xf32>
  func.return %2 : tensor<1x4x4x4xf32>
}

// One channel becomes four.
// CHECK-LABEL: func.func @larger
// CHECK: graph.conv %x, %w
// CHECK-NEXT: graph.mul
func.func @larger(%x: tensor<1x3x5x5xf32>) -> tensor<1x4x5x5xf32> {
  %w = graph.weight "w" : tensor<1x3x1x1xf32>
  %s = graph.weight "s" : tensor<4x1x1xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x5x5xf32>, tensor<1x3x1x1xf32>) -> tensor<1x1x5x5xf32>
  %1 = graph.mul %0, %s : (tensor<1x1x5x5xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x5xf32>
  func.return %1 : tensor<1x4x5x5xf32>
}

// A number less the convolution has the other sign.
// CHECK-LABEL: func.func @other_way_round
// CHECK: graph.conv %x, %w
// CHECK-NEXT: graph.sub
func.func @other_way_round(%x: tensor<1x3x5x5xf32>) -> tensor<1x4x5x5xf32> {
  %w = graph.weight "w" : tensor<4x3x1x1xf32>
  %s = graph.weight "s" : tensor<4x1x1xf32>
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x5xf32>
  %1 = graph.sub %s, %0 : (tensor<4x1x1xf32>, tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  func.return %1 : tensor<1x4x5x5xf32>
}

// What Caffe writes apart from its batch norm: scale and bias go into those of the norm.
// CHECK-LABEL: func.func @scale_behind_norm
// CHECK: %[[S:.*]] = graph.mul %s, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[B:.*]] = graph.mul %b, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[C:.*]] = graph.add %[[B]], %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[Y:.*]] = graph.batch_normalization %x, %[[S]], %[[C]], %m, %v
// CHECK-NEXT: func.return %[[Y]]
func.func @scale_behind_norm(%x: tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32> {
  %s = graph.weight "s" : tensor<4xf32>
  %b = graph.weight "b" : tensor<4xf32>
  %m = graph.weight "m" : tensor<4xf32>
  %v = graph.weight "v" : tensor<4xf32>
  %k = graph.weight "k" : tensor<4x1x1xf32>
  %c = graph.weight "c" : tensor<1x4x1x1xf32>
  %0 = graph.batch_normalization %x, %s, %b, %m, %v : (tensor<1x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x5x5xf32>
  %1 = graph.mul %0, %k : (tensor<1x4x5x5xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x5xf32>
  %2 = graph.add %c, %1 : (tensor<1x4x1x1xf32>, tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  func.return %2 : tensor<1x4x5x5xf32>
}

// The norm's own scale is computed; the norm has a second user; a factor of each column.
// CHECK-LABEL: func.func @norms_that_stay
// CHECK: graph.batch_normalization %x, %s, %b
// CHECK-NEXT: graph.mul
// CHECK: graph.batch_normalization %x, %b, %b
// CHECK-NEXT: graph.mul
// CHECK: graph.batch_normalization %x, %b, %b
// CHECK-NEXT: graph.mul
func.func @norms_that_stay(%x: tensor<1x4x4x4xf32>, %s: tensor<4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  %b = graph.weight "b" : tensor<4xf32>
  %k = graph.weight "k" : tensor<4x1x1xf32>
  %0 = graph.batch_normalization %x, %s, %b, %b, %b : (tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  %1 = graph.mul %0, %k : (tensor<1x4x4x4xf32>, tensor<4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %2 = graph.batch_normalization %x, %b, %b, %b, %b {epsilon = 0.001} : (tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  %3 = graph.mul %2, %k : (tensor<1x4x4x4xf32>, tensor<4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %4 = graph.batch_normalization %x, %b, %b, %b, %b : (tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  %5 = graph.mul %4, %b : (tensor<1x4x4x4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  func.return %1, %2, %3, %5 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}
