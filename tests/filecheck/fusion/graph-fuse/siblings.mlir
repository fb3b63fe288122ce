// RUN: fuse-opt %s -p "graph-fuse{objective=kernels}" | filecheck %s

// Two parts of one concat that read the same values: one kernel with two results.
// CHECK-LABEL: func.func @rotary
// CHECK: %{{.*}}, %{{.*}} = graph.fused "rotary"
// CHECK: graph.concat
func.func @rotary(%x: tensor<5x16xf32>, %c: tensor<5x8xf32>, %s: tensor<5x8xf32>) -> tensor<5x16xf32> {
  %0 = graph.slice %x {starts = [0], ends = [8], axes = [1], steps = [1]} : tensor<5x16xf32> -> tensor<5x8xf32>
  %1 = graph.slice %x {starts = [8], ends = [16], axes = [1], steps = [1]} : tensor<5x16xf32> -> tensor<5x8xf32>
  %2 = graph.mul %0, %c : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %3 = graph.mul %1, %s : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %4 = graph.sub %2, %3 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = graph.mul %1, %c : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %6 = graph.mul %0, %s : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %7 = graph.add %5, %6 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %8 = graph.concat %4, %7 {axis = 1} : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x16xf32>
  func.return %8 : tensor<5x16xf32>
}

// Parts that have nothing in common stay apart.
// CHECK-LABEL: func.func @strangers
// CHECK: %{{.*}} = graph.fused "exp"
// CHECK: %{{.*}} = graph.fused "tanh"
func.func @strangers(%x: tensor<5x8xf32>, %z: tensor<5x8xf32>) -> tensor<5x16xf32> {
  %0 = graph.exp %x : tensor<5x8xf32> -> tensor<5x8xf32>
  %1 = graph.tanh %z : tensor<5x8xf32> -> tensor<5x8xf32>
  %2 = graph.concat %0, %1 {axis = 1} : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x16xf32>
  func.return %2 : tensor<5x16xf32>
}

// What reads one value becomes one kernel with two results, of two sizes as well.
// CHECK-LABEL: func.func @sizes
// CHECK: %{{.*}}, %{{.*}} = graph.fused "exp_reduce_max"
func.func @sizes(%x: tensor<5x8xf32>) -> tensor<5x9xf32> {
  %0 = graph.exp %x : tensor<5x8xf32> -> tensor<5x8xf32>
  %1 = graph.reduce_max %x {axes = [1]} : tensor<5x8xf32> -> tensor<5x1xf32>
  %2 = graph.concat %0, %1 {axis = 1} : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x9xf32>
  func.return %2 : tensor<5x9xf32>
}

// What reads a result in another shape joins its kernel: group norm, then an activation.
// CHECK-LABEL: func.func @through_a_view
// CHECK: graph.fused
// CHECK-NOT: graph.fused
// CHECK-LABEL: func.func @end
func.func @through_a_view(%x: tensor<2x6x3x5xf32>, %s: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<2x6x3x5xf32> {
  %0 = graph.group_normalization %x, %s, %b {num_groups = 2} : (tensor<2x6x3x5xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x3x5xf32>
  %1 = graph.swish %0 : tensor<2x6x3x5xf32> -> tensor<2x6x3x5xf32>
  func.return %1 : tensor<2x6x3x5xf32>
}

func.func @end(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
