// RUN: fuse-opt %s -p graph-simplify | filecheck %s

// Small constants are computed; C26: 64-bit division is exact and truncates.
// CHECK-LABEL: func.func @division
func.func @division() -> (tensor<i64>, tensor<3xi64>, tensor<i1>) {
  %a = graph.constant dense<9007199254740993> : tensor<i64>
  %one = graph.constant dense<[1]> : tensor<1xi64>
  %n = graph.constant dense<[-7, 7, -7]> : tensor<3xi64>
  %d = graph.constant dense<[2, -2, -2]> : tensor<3xi64>
  %scalar = graph.reshape %one : tensor<1xi64> -> tensor<i64>
  %minus = graph.neg %scalar : tensor<i64> -> tensor<i64>
  %0 = graph.div %a, %minus : (tensor<i64>, tensor<i64>) -> tensor<i64>
  // CHECK-DAG: dense<"0xFFFFFFFFFFFFDFFF"> : tensor<i64>
  %1 = graph.div %n, %d : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  // CHECK-DAG: dense<"0xFDFFFFFFFFFFFFFFFDFFFFFFFFFFFFFF0300000000000000"> : tensor<3xi64>
  %2 = graph.equal %0, %a : (tensor<i64>, tensor<i64>) -> tensor<i1>
  // CHECK-DAG: dense<"0x00"> : tensor<i1>
  // CHECK-NOT: graph.div
  func.return %0, %1, %2 : tensor<i64>, tensor<3xi64>, tensor<i1>
}

// C24: signs of zeros, inf and nan come out as they are.
// CHECK-LABEL: func.func @special
func.func @special() -> (tensor<2xf32>, tensor<2xf32>, tensor<ui8>) {
  %x = graph.constant dense<[-0.0, 2.0]> : tensor<2xf32>
  %minus_zero = graph.constant dense<-0.0> : tensor<f32>
  %0 = graph.mul %x, %minus_zero : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK-DAG: dense<"0x0000000000000080"> : tensor<2xf32>
  %1 = graph.reciprocal %x : tensor<2xf32> -> tensor<2xf32>
  // CHECK-DAG: dense<"0x000080FF0000003F"> : tensor<2xf32>
  %a = graph.constant dense<250> : tensor<ui8>
  %b = graph.constant dense<10> : tensor<ui8>
  %2 = graph.add %a, %b : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>
  // CHECK-DAG: dense<"0x04"> : tensor<ui8>
  func.return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<ui8>
}

// Several results, and a result without elements.
// CHECK-LABEL: func.func @pieces
func.func @pieces() -> (tensor<2xf32>, tensor<1xf32>, tensor<0xf32>) {
  %x = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %p, %q = graph.split %x {sizes = [2, 1]} : tensor<3xf32> -> tensor<2xf32>, tensor<1xf32>
  %e = graph.slice %x {starts = [0], ends = [2], axes = [0], steps = [-1]} : tensor<3xf32> -> tensor<0xf32>
  // CHECK-DAG: dense<"0x0000803F00000040"> : tensor<2xf32>
  // CHECK-DAG: dense<"0x00004040"> : tensor<1xf32>
  // CHECK-DAG: dense<"0x"> : tensor<0xf32>
  // CHECK-NOT: graph.s
  func.return %p, %q, %e : tensor<2xf32>, tensor<1xf32>, tensor<0xf32>
}

// 64 bytes are folded, 68 are left to @weights; weights and inputs are not known here.
// CHECK-LABEL: func.func @limits
func.func @limits(%x: tensor<f32>) -> (tensor<16xf32>, tensor<17xf32>, tensor<f32>, tensor<f32>) {
  %s = graph.constant dense<1.0> : tensor<f32>
  %w = graph.weight "w" : tensor<f32>
  // CHECK: graph.constant dense<"{{.*}}"> : tensor<16xf32>
  %0 = graph.expand %s : tensor<f32> -> tensor<16xf32>
  // CHECK: graph.expand {{.*}} -> tensor<17xf32>
  %1 = graph.expand %s : tensor<f32> -> tensor<17xf32>
  // CHECK: graph.exp %w
  %2 = graph.exp %w : tensor<f32> -> tensor<f32>
  // CHECK: graph.exp %x
  %3 = graph.exp %x : tensor<f32> -> tensor<f32>
  func.return %0, %1, %2, %3 : tensor<16xf32>, tensor<17xf32>, tensor<f32>, tensor<f32>
}

// What has no meaning is left as it is: the index is outside of the table.
// CHECK-LABEL: func.func @no_meaning
func.func @no_meaning() -> tensor<f32> {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = graph.constant dense<7> : tensor<i64>
  // CHECK: graph.gather
  %0 = graph.gather %x, %i : (tensor<2xf32>, tensor<i64>) -> tensor<f32>
  func.return %0 : tensor<f32>
}
