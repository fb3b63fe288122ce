// RUN: fuse-opt %s -p 'graph-raise{only=norm}' | filecheck %s --check-prefix NORM
// RUN: fuse-opt %s -p 'graph-raise{only=norm,attention}' | filecheck %s --check-prefix BOTH
// RUN: %not 3 fuse-opt %s -p 'graph-raise{only=softmax}' 2>&1 | filecheck %s --check-prefix UNKNOWN

// UNKNOWN: graph-raise: unknown rules 'softmax', expected some of integer, gelu, activation, group_norm, instance_norm, norm, attention, rotary, affine

// The softmax has to be there before attention can be seen in it.
// NORM-LABEL: func.func @main
// NORM: graph.matmul
// NORM-NEXT: graph.softmax
// NORM-NEXT: graph.matmul
// BOTH-LABEL: func.func @main
// BOTH: graph.attention
func.func @main(%q: tensor<4x8xf32>, %k: tensor<8x4xf32>, %v: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.matmul %q, %k : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = graph.reduce_max %0 {axes = [-1]} : tensor<4x4xf32> -> tensor<4x1xf32>
  %2 = graph.sub %0, %1 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %3 = graph.exp %2 : tensor<4x4xf32> -> tensor<4x4xf32>
  %4 = graph.reduce_sum %3 {axes = [-1]} : tensor<4x4xf32> -> tensor<4x1xf32>
  %5 = graph.div %3, %4 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %6 = graph.matmul %5, %v : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %6 : tensor<4x8xf32>
}
