// RUN: fuse-opt %s -p graph-simplify,graph-raise,graph-fuse --pattern-stats -o %t 2>&1 | filecheck %s
// RUN: fuse-opt %s -p graph-simplify --pattern-stats 2>/dev/null | filecheck %s --check-prefix=IR

// A line for each rule that had an operator to look at, by pass, on stderr.
// CHECK:      graph-simplify {{ *}}tried  matched  applied
// CHECK:        implicit-broadcast {{ *}}11        1        1
// CHECK-NEXT:   {{[0-9]+}} rules found no operator to look at
// CHECK-NEXT: graph-raise {{ *}}tried  matched  applied
// CHECK:        raise-softmax {{ *}}2        2        1
// CHECK:      graph-fuse {{ *}}tried  matched  applied
// CHECK:        {{[a-z_]+}} {{ *}}- {{ *[0-9]+ *[0-9]+$}}

// IR-NOT: tried
// IR: builtin.module
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf16>, %z: tensor<4x1xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.reduce_max %x {axes = [1]} : tensor<4x8xf32> -> tensor<4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = graph.exp %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = graph.reduce_sum %2 {axes = [1]} : tensor<4x8xf32> -> tensor<4x1xf32>
  %4 = graph.div %2, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %5 = graph.reduce_max %4 {axes = [0, 1]} : tensor<4x8xf32> -> tensor<1x1xf32>
  %6 = graph.sub %4, %5 : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %7 = graph.exp %6 : tensor<4x8xf32> -> tensor<4x8xf32>
  %8 = graph.reduce_sum %7 {axes = [0, 1]} : tensor<4x8xf32> -> tensor<1x1xf32>
  // A softmax over two axes: the expression is there, the operator for it is not.
  %9 = graph.div %7, %8 : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %10 = graph.cast %y {to = f32} : tensor<4x8xf16> -> tensor<4x8xf32>
  %11 = graph.expand %z : tensor<4x1xf32> -> tensor<4x8xf32>
  %12 = graph.add %10, %11 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %9, %12 : tensor<4x8xf32>, tensor<4x8xf32>
}
