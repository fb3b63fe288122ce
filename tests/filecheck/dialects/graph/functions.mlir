// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>, %r: tensor<3xi32>, %at: tensor<2x1xi64>, %u: tensor<2x3xf32>, %n: tensor<3xi64>, %g: tensor<1x4x5x2xf32>, %p: tensor<1x2x3x3xf32>) {
  // CHECK-NEXT: {{.*}} = graph.sin %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %sin = graph.sin %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: {{.*}} = graph.round %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %round = graph.round %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: {{.*}} = graph.mod %i, %r : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %mod = graph.mod %i, %r : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK-NEXT: {{.*}} = graph.mod %x, %x {fmod = true} :
  %fmod = graph.mod %x, %x {fmod = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: {{.*}} = graph.bit_shift %i, %i {direction = "LEFT"} :
  %shift = graph.bit_shift %i, %i {direction = "LEFT"} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  // CHECK-NEXT: {{.*}} = graph.bit_cast %x {to = i32} : tensor<2x3xf32> -> tensor<2x3xi32>
  %bits = graph.bit_cast %x {to = i32} : tensor<2x3xf32> -> tensor<2x3xi32>
  // CHECK-NEXT: %sum = graph.cum_sum %x {exclusive = true, axis = 1} : tensor<2x3xf32> -> tensor<2x3xf32>
  %sum = graph.cum_sum %x {axis = 1, exclusive = true} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: {{.*}} = graph.top_k_indices %x {k = 2} : tensor<2x3xf32> -> tensor<2x2xi64>
  %top = graph.top_k_indices %x {k = 2} : tensor<2x3xf32> -> tensor<2x2xi64>
  // CHECK-NEXT: {{.*}} = graph.gather_nd %x, %at : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>
  %taken = graph.gather_nd %x, %at : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>
  // CHECK-NEXT: {{.*}} = graph.scatter_nd %x, %at, %u {reduction = "add"} :
  %written = graph.scatter_nd %x, %at, %u {reduction = "add"} : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: {{.*}} = graph.reverse_sequence %x, %n : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  %turned = graph.reverse_sequence %x, %n : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  // CHECK-NEXT: {{.*}} = graph.grid_sample %p, %g {mode = "cubic"} : (tensor<1x2x3x3xf32>, tensor<1x4x5x2xf32>) -> tensor<1x2x4x5xf32>
  %sampled = graph.grid_sample %p, %g {mode = "cubic"} : (tensor<1x2x3x3xf32>, tensor<1x4x5x2xf32>) -> tensor<1x2x4x5xf32>
  func.return
}
