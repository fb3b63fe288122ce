// The cube half stores a tile to its block's part of the workspace; the vector half takes it in
// chunks of lines and runs the epilogue on them.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

func.func @main(%x: tensor<100x96xf16>, %w: tensor<96x200xf16>, %b: tensor<200xf16>) -> tensor<100x200xf16> {
  %0 = graph.call @k(%x, %w, %b) : (tensor<100x96xf16>, tensor<96x200xf16>, tensor<200xf16>) -> tensor<100x200xf16>
  func.return %0 : tensor<100x200xf16>
}

// CHECK: func.func @main
// CHECK: %ws = npu.alloc : memref<3x64x112xf32, #npu.space<gm>>
// CHECK-NEXT: npu.launch @k blocks(3) (%x, %w, %b, %y, %ws

// CHECK: func.func @k
// CHECK-SAME: %ws: memref<3x64x112xf32, #npu.space<gm>> {npu.workspace}) attributes {npu.core = "mixed"
// CHECK: %block = npu.block_idx
// CHECK: scf.for %t = %block to %c4 step %blocks {
// CHECK: npu.mmad ins
// CHECK: memref.subview %ws[%block, 0, 0] [1, [[M:%[0-9]+]], [[N:%[0-9]+]]] [1, 1, 1]
// CHECK-NEXT: npu.fixpipe ins({{.*}}xf32, {{.*}}#npu.space<l0c>>) outs({{.*}}xf32, {{.*}}#npu.space<gm>>)
// CHECK-NEXT: scf.for %c = %c0 to [[M]] step %c32 {
// CHECK-NEXT: arith.subi [[M]], %c
// CHECK-NEXT: [[LINES:%[0-9]+]] = arith.minsi {{.*}}, %c32
// CHECK: memref.subview %ws[%block, %c, 0] [1, [[LINES]], [[N]]] [1, 1, 1]
// CHECK-NEXT: %tile = npu.alloc : memref<32x112xf32, #npu.space<ub>>
// CHECK: npu.load
// CHECK: npu.vadd
// CHECK: npu.vdiv
// CHECK: npu.store
graph.kernel @k "matmul_bias_gelu"(%x: tensor<100x96xf16>, %w: tensor<96x200xf16>, %b: tensor<200xf16>) -> tensor<100x200xf16> attributes {npu.schedule = #npu.schedule<"mixed", {rows = 1 : i64, m = 64 : i64, n = 112 : i64, k = 96 : i64, l0_k = 48 : i64, blocks = 3 : i64, chunk = 32 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<100x96xf16>, tensor<96x200xf16>) -> tensor<100x200xf16>
  %1 = graph.add %0, %b : (tensor<100x200xf16>, tensor<200xf16>) -> tensor<100x200xf16>
  %2 = graph.gelu %1 : tensor<100x200xf16> -> tensor<100x200xf16>
  graph.yield %2 : tensor<100x200xf16>
}
