// Rows of a table: one index and one load for each row of the tile, then as any vector kernel. A
// constant index is an argument like a table.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%t: tensor<50x96xf32>, %i: tensor<2x8xi64>, %p: tensor<8x96xf32>) -> (tensor<2x8x96xf32>, tensor<1x96xf32>) {
  %0 = graph.call @embed(%t, %i, %p) : (tensor<50x96xf32>, tensor<2x8xi64>, tensor<8x96xf32>) -> tensor<2x8x96xf32>
  %1 = graph.call @second(%t) : (tensor<50x96xf32>) -> tensor<1x96xf32>
  func.return %0, %1 : tensor<2x8x96xf32>, tensor<1x96xf32>
}

// CHECK-LABEL: func.func @embed(
// CHECK: scf.for %row = %c0 to %c4 step %c1 {
// CHECK: %[[I:[0-9]+]] = memref.load %i[%{{.*}}] : memref<2x8xi64, #npu.space<gm>>
// CHECK: %[[W:[0-9]+]] = arith.addi %[[I]], %{{.*}} : i64
// CHECK: %[[N:[0-9]+]] = arith.cmpi slt, %[[I]],
// CHECK: arith.select %[[N]], %[[W]], %[[I]] : i64
// CHECK: npu.load ins(%{{.*}} : memref<1x96xf32, strided<[1, 1], offset: ?>, #npu.space<gm>>)
// CHECK-NEXT: }
// CHECK: npu.load
// CHECK: npu.vadd
// CHECK: npu.store
graph.kernel @embed "gather_add"(%t: tensor<50x96xf32>, %i: tensor<2x8xi64>, %p: tensor<8x96xf32>) -> tensor<2x8x96xf32> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 2, 8, 96>, tiles = array<i64: 1, 4, 96>, blocks = 4 : i64, copies = 2 : i64}>} {
  %0 = graph.gather %t, %i {axis = 0} : (tensor<50x96xf32>, tensor<2x8xi64>) -> tensor<2x8x96xf32>
  %1 = graph.add %0, %p : (tensor<2x8x96xf32>, tensor<8x96xf32>) -> tensor<2x8x96xf32>
  graph.yield %1 : tensor<2x8x96xf32>
}

// CHECK-LABEL: func.func @second(
// CHECK-SAME: %const0: memref<1xi64, #npu.space<gm>>
// CHECK: memref.load %const0[%c0]
graph.kernel @second "gather"(%t: tensor<50x96xf32>) -> tensor<1x96xf32> {
  %i = graph.constant dense<2> : tensor<1xi64>
  %0 = graph.gather %t, %i {axis = 0} : (tensor<50x96xf32>, tensor<1xi64>) -> tensor<1x96xf32>
  graph.yield %0 : tensor<1x96xf32>
}
