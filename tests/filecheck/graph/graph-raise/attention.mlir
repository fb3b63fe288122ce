// RUN: fuse-opt %s -p graph-raise | filecheck %s

// CHECK-LABEL: func.func @plain
// CHECK-NEXT: %0 = graph.attention %q, %k, %v {scale = 1.0}
// CHECK-NEXT: func.return %0
func.func @plain(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %2 = graph.softmax %1 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %3 = graph.matmul %2, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %3 : tensor<2x4x6x8xf32>
}

// CHECK-LABEL: func.func @scaled
// CHECK: %[[Y:.*]] = graph.attention %q, %k, %v {scale = 0.25}
// CHECK-NEXT: func.return %[[Y]]
func.func @scaled(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %n = graph.constant dense<4.0> : tensor<f32>
  %2 = graph.div %1, %n : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %3 = graph.softmax %2 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %4 = graph.matmul %3, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %4 : tensor<2x4x6x8xf32>
}

// CHECK-LABEL: func.func @masked_right
// CHECK: %[[Y:.*]] = graph.attention %q, %k, %v, %m {scale = 0.125}
// CHECK-NEXT: func.return %[[Y]]
func.func @masked_right(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>, %m: tensor<2x1x1x6xf32>) -> tensor<2x4x6x8xf32> {
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %n = graph.constant dense<0.125> : tensor<f32>
  %2 = graph.mul %n, %1 : (tensor<f32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %3 = graph.add %2, %m : (tensor<2x4x6x6xf32>, tensor<2x1x1x6xf32>) -> tensor<2x4x6x6xf32>
  %4 = graph.softmax %3 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %5 = graph.matmul %4, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %5 : tensor<2x4x6x8xf32>
}

// CHECK-LABEL: func.func @masked_left
// CHECK: %[[Y:.*]] = graph.attention %q, %k, %v, %m {scale = 0.125}
// CHECK-NEXT: func.return %[[Y]]
func.func @masked_left(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>, %m: tensor<2x1x1x6xf32>) -> tensor<2x4x6x8xf32> {
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %n = graph.constant dense<0.125> : tensor<f32>
  %2 = graph.mul %n, %1 : (tensor<f32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %3 = graph.add %m, %2 : (tensor<2x1x1x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %4 = graph.softmax %3 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %5 = graph.matmul %4, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %5 : tensor<2x4x6x8xf32>
}

// The mask is a product of the scores' shape as well.
// CHECK-LABEL: func.func @full_mask
// CHECK: %m = graph.mul %g, %big
// CHECK: graph.attention %q, %k, %v, %m {scale = 0.125}
func.func @full_mask(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>, %g: tensor<2x4x6x6xf32>) -> tensor<2x4x6x8xf32> {
  %big = graph.constant dense<-10000.0> : tensor<f32>
  %m = graph.mul %g, %big : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %n = graph.constant dense<0.125> : tensor<f32>
  %2 = graph.mul %n, %1 : (tensor<f32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %3 = graph.add %m, %2 : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %4 = graph.softmax %3 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %5 = graph.matmul %4, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %5 : tensor<2x4x6x8xf32>
}

// Keys from a transposition that also moves the heads: one with another perm.
// CHECK-LABEL: func.func @heads
// CHECK: %[[K:.*]] = graph.transpose %k {perm = [0, 2, 1, 3]}
// CHECK-NEXT: graph.attention %q, %[[K]], %v {scale = 0.25}
func.func @heads(%q: tensor<2x4x6x8xf32>, %k: tensor<2x6x4x8xf32>, %v: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %0 = graph.transpose %k {perm = [0, 2, 3, 1]} : tensor<2x6x4x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %n = graph.constant dense<4.0> : tensor<f32>
  %2 = graph.div %1, %n : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %3 = graph.softmax %2 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %4 = graph.matmul %3, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %4 : tensor<2x4x6x8xf32>
}

// Keys that nobody transposed.
// CHECK-LABEL: func.func @keys_as_they_are
// CHECK: %[[K:.*]] = graph.transpose %k {perm = [0, 1, 3, 2]}
// CHECK: graph.attention %q, %[[K]], %v {scale = 0.25}
func.func @keys_as_they_are(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %0 = graph.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %n = graph.constant dense<4.0> : tensor<f32>
  %1 = graph.div %0, %n : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %2 = graph.softmax %1 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %3 = graph.matmul %2, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %3 : tensor<2x4x6x8xf32>
}

// The probabilities are an output too.
// CHECK-LABEL: func.func @probabilities_are_used
// CHECK-NOT: graph.attention
func.func @probabilities_are_used(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6x6xf32>) {
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %n = graph.constant dense<4.0> : tensor<f32>
  %2 = graph.div %1, %n : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %3 = graph.softmax %2 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %4 = graph.matmul %3, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %4, %3 : tensor<2x4x6x8xf32>, tensor<2x4x6x6xf32>
}

// The scores are an output too.
// CHECK-LABEL: func.func @scores_are_used
// CHECK-NOT: graph.attention
func.func @scores_are_used(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6x6xf32>) {
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %n = graph.constant dense<4.0> : tensor<f32>
  %2 = graph.div %1, %n : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %3 = graph.softmax %2 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %4 = graph.matmul %3, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %4, %2 : tensor<2x4x6x8xf32>, tensor<2x4x6x6xf32>
}

// The mask makes the scores larger.
// CHECK-LABEL: func.func @larger_mask
// CHECK-NOT: graph.attention
func.func @larger_mask(%q: tensor<6x8xf32>, %k: tensor<8x6xf32>, %v: tensor<2x6x8xf32>, %m: tensor<2x6x6xf32>) -> tensor<2x6x8xf32> {
  %0 = graph.matmul %q, %k : (tensor<6x8xf32>, tensor<8x6xf32>) -> tensor<6x6xf32>
  %1 = graph.add %0, %m : (tensor<6x6xf32>, tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %2 = graph.softmax %1 : tensor<2x6x6xf32> -> tensor<2x6x6xf32>
  %3 = graph.matmul %2, %v : (tensor<2x6x6xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  func.return %3 : tensor<2x6x8xf32>
}

// The mask adds to the batch.
// CHECK-LABEL: func.func @larger_mask_of_one_rank
// CHECK-NOT: graph.attention
func.func @larger_mask_of_one_rank(%q: tensor<1x6x8xf32>, %k: tensor<1x8x6xf32>, %v: tensor<2x6x8xf32>, %m: tensor<2x6x6xf32>) -> tensor<2x6x8xf32> {
  %0 = graph.matmul %q, %k : (tensor<1x6x8xf32>, tensor<1x8x6xf32>) -> tensor<1x6x6xf32>
  %1 = graph.add %0, %m : (tensor<1x6x6xf32>, tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %2 = graph.softmax %1 : tensor<2x6x6xf32> -> tensor<2x6x6xf32>
  %3 = graph.matmul %2, %v : (tensor<2x6x6xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  func.return %3 : tensor<2x6x8xf32>
}

// Softmax over the queries.
// CHECK-LABEL: func.func @first_axis
// CHECK-NOT: graph.attention
func.func @first_axis(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %2 = graph.softmax %1 {axis = 2} : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %3 = graph.matmul %2, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %3 : tensor<2x4x6x8xf32>
}

// The mask is scaled with the scores.
// CHECK-LABEL: func.func @scaled_mask
// CHECK-NOT: graph.attention
func.func @scaled_mask(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>, %m: tensor<6xf32>) -> tensor<2x4x6x8xf32> {
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %2 = graph.add %1, %m : (tensor<2x4x6x6xf32>, tensor<6xf32>) -> tensor<2x4x6x6xf32>
  %n = graph.constant dense<0.125> : tensor<f32>
  %3 = graph.mul %2, %n : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %4 = graph.softmax %3 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %5 = graph.matmul %4, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %5 : tensor<2x4x6x8xf32>
}

// A division by zero is no scale.
// CHECK-LABEL: func.func @by_zero
// CHECK-NOT: graph.attention
func.func @by_zero(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %n = graph.constant dense<0.0> : tensor<f32>
  %2 = graph.div %1, %n : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %3 = graph.softmax %2 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %4 = graph.matmul %3, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %4 : tensor<2x4x6x8xf32>
}

// A scale for each row is no number.
// CHECK-LABEL: func.func @scale_of_rows
// CHECK-NOT: graph.attention
func.func @scale_of_rows(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>, %n: tensor<6x1xf32>) -> tensor<2x4x6x8xf32> {
  %0 = graph.transpose %k {perm = [0, 1, 3, 2]} : tensor<2x4x6x8xf32> -> tensor<2x4x8x6xf32>
  %1 = graph.matmul %q, %0 : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %2 = graph.mul %1, %n : (tensor<2x4x6x6xf32>, tensor<6x1xf32>) -> tensor<2x4x6x6xf32>
  %3 = graph.softmax %2 : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>
  %4 = graph.matmul %3, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %4 : tensor<2x4x6x8xf32>
}

// The probabilities are the right factor.
// CHECK-LABEL: func.func @values_on_the_left
// CHECK-NOT: graph.attention
func.func @values_on_the_left(%q: tensor<6x6xf32>, %k: tensor<6x6xf32>, %v: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %0 = graph.matmul %q, %k : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %1 = graph.softmax %0 : tensor<6x6xf32> -> tensor<6x6xf32>
  %2 = graph.matmul %v, %1 : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  func.return %2 : tensor<6x6xf32>
}
