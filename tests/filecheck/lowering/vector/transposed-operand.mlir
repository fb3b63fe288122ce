// An operand that lies transposed is loaded as it lies and turned in ub; the output of a reduction
// over the first axis needs no transposition.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<64x48xf32>, %y: tensor<48x64xf32>) -> (tensor<64x48xf32>, tensor<48xf32>) {
  %0, %1 = graph.call @turned(%x, %y) : (tensor<64x48xf32>, tensor<48x64xf32>) -> (tensor<64x48xf32>, tensor<48xf32>)
  func.return %0, %1 : tensor<64x48xf32>, tensor<48xf32>
}

// CHECK-LABEL: func.func @turned(
// CHECK: npu.load ins({{.*}}) outs(%{{[0-9]+}} : memref<64x48xf32
// CHECK: npu.load ins({{.*}}) outs(%[[R:[0-9]+]] : memref<48x64xf32
// CHECK: npu.vtranspose ins(%[[R]] : {{.*}}) outs(%{{[0-9]+}} : memref<64x48xf32, {{.*}}) permutation [1, 0]
// CHECK: npu.vreduce "max" {{.*}} dims [0]
// CHECK-NOT: npu.vtranspose
graph.kernel @turned "add_max"(%x: tensor<64x48xf32>, %y: tensor<48x64xf32>) -> tensor<64x48xf32>, tensor<48xf32> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 64, 48>, tiles = array<i64: 64, 48>, blocks = 1 : i64}>} {
  %0 = graph.transpose %y {perm = [1, 0]} : tensor<48x64xf32> -> tensor<64x48xf32>
  %1 = graph.add %x, %0 : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %2 = graph.reduce_max %1 {axes = [0], keepdims = false} : tensor<64x48xf32> -> tensor<48xf32>
  graph.yield %1, %2 : tensor<64x48xf32>, tensor<48xf32>
}
