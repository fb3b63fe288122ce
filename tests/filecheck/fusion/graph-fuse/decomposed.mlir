// What has no kernel becomes what has: places that are data, running sums, the largest entries.
// RUN: fuse-opt %s -p 'graph-fuse' --split-input-file | filecheck %s

// Index vectors are numbers of rows, in i32: negative ones count from the end.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: graph.gather_nd
// CHECK: graph.cast {{.*}} {to = i32}
// CHECK: graph.gather %{{.*}}, %{{.*}} : (tensor<30x7xf32>, tensor<4xi32>) -> tensor<4x7xf32>
func.func @rows(%x: tensor<5x6x7xf32>, %i: tensor<4x2xi64>) -> tensor<4x7xf32> {
  %y = graph.gather_nd %x, %i : (tensor<5x6x7xf32>, tensor<4x2xi64>) -> tensor<4x7xf32>
  func.return %y : tensor<4x7xf32>
}

// -----

// Constant places are numbers at once: nothing is computed.
// CHECK-LABEL: func.func @known
// CHECK-NOT: graph.add
// CHECK: graph.gather %{{.*}}, %{{.*}} : (tensor<6x7xf32>, tensor<2xi64>) -> tensor<2x7xf32>
func.func @known(%x: tensor<6x7xf32>) -> tensor<2x7xf32> {
  %i = graph.constant dense<[[-1], [2]]> : tensor<2x1xi64>
  %y = graph.gather_nd %x, %i : (tensor<6x7xf32>, tensor<2x1xi64>) -> tensor<2x7xf32>
  func.return %y : tensor<2x7xf32>
}

// -----

// A short running sum is a reduction over a triangle, a long one adds shifted copies.
// CHECK-LABEL: func.func @sums
// CHECK: graph.reduce_sum
// CHECK: graph.pad
// CHECK-NOT: graph.cum_sum
func.func @sums(%x: tensor<3x8xf32>, %z: tensor<3x200xf32>) -> (tensor<3x8xf32>, tensor<3x200xf32>) {
  %a = graph.cum_sum %x {axis = 1} : tensor<3x8xf32> -> tensor<3x8xf32>
  %b = graph.cum_sum %z {axis = 1} : tensor<3x200xf32> -> tensor<3x200xf32>
  func.return %a, %b : tensor<3x8xf32>, tensor<3x200xf32>
}

// -----

// More than are searched one by one, and more updates than are put in place so, stay as they are.
// CHECK-LABEL: func.func @large
// CHECK: graph.top_k_indices
// CHECK: graph.scatter_elements
func.func @large(%x: tensor<100xf32>, %i: tensor<80xi64>, %u: tensor<80xf32>) -> (tensor<40xi64>, tensor<100xf32>) {
  %a = graph.top_k_indices %x {k = 40} : tensor<100xf32> -> tensor<40xi64>
  %b = graph.scatter_elements %x, %i, %u : (tensor<100xf32>, tensor<80xi64>, tensor<80xf32>) -> tensor<100xf32>
  func.return %a, %b : tensor<40xi64>, tensor<100xf32>
}
