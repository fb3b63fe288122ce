// The vector half writes normalised lines of a tile to the workspace, eight at a time; the cube half
// reads them from there, for its part of the columns, and stores bias, relu and cast by itself.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

// CHECK: func.func @main
// CHECK: %ws = npu.alloc : memref<6x16x96xf16, #npu.space<gm>>
// CHECK-NEXT: npu.launch @k blocks(6)

// CHECK: func.func @k
// CHECK-SAME: %ws: memref<6x16x96xf16, #npu.space<gm>> {npu.workspace}) attributes {npu.core = "mixed"
// CHECK: [[M:%[0-9]+]] = arith.minsi {{.*}}, %c16
// CHECK: scf.for %p = %c0 to [[M]] step %c8 {
// CHECK: [[LINES:%[0-9]+]] = arith.minsi {{.*}}, %c8
// CHECK: memref.subview %x[{{%[0-9]+}}, 0] [[[LINES]], 96] [1, 1]
// CHECK: npu.vreduce
// CHECK: memref.subview %ws[%block, %p, 0] [1, [[LINES]], 96] [1, 1, 1]
// CHECK-NEXT: npu.store
// CHECK: scf.for %n =
// CHECK-SAME: step %c64 {
// CHECK: scf.for %k = %c0 to %c96 step %c48 {
// CHECK: memref.subview %ws[%block, 0, %k] [1, [[M]], 48] [1, 1, 1]
// CHECK-NEXT: npu.alloc : memref<16x48xf16, #npu.space<l1>>
// CHECK: npu.mmad ins
// CHECK: npu.fixpipe relu
// CHECK-SAME: outs({{.*}}xf16, {{.*}}#npu.space<gm>>)

func.func @main(%x: tensor<40x96xf16>, %g: tensor<96xf16>, %w: tensor<96x200xf16>, %b: tensor<200xf16>) -> tensor<40x200xf16> {
  %0 = graph.call @k(%x, %g, %w, %b) : (tensor<40x96xf16>, tensor<96xf16>, tensor<96x200xf16>, tensor<200xf16>) -> tensor<40x200xf16>
  func.return %0 : tensor<40x200xf16>
}
graph.kernel @k "layer_normalization_matmul_add_relu"(%x: tensor<40x96xf16>, %g: tensor<96xf16>, %w: tensor<96x200xf16>, %b: tensor<200xf16>) -> tensor<40x200xf16> attributes {npu.schedule = #npu.schedule<"rows", {rows = 1 : i64, m = 16 : i64, n = 64 : i64, k = 48 : i64, l0_k = 48 : i64, blocks = 6 : i64, copies = 2 : i64, span = 128 : i64, lead = 8 : i64, chunk = 0 : i64}>} {
  %0 = graph.layer_normalization %x, %g, %g {epsilon = 1.0e-05} : (tensor<40x96xf16>, tensor<96xf16>, tensor<96xf16>) -> tensor<40x96xf16>
  %1 = graph.matmul %0, %w : (tensor<40x96xf16>, tensor<96x200xf16>) -> tensor<40x200xf16>
  %2 = graph.add %1, %b : (tensor<40x200xf16>, tensor<200xf16>) -> tensor<40x200xf16>
  %3 = graph.relu %2 : tensor<40x200xf16> -> tensor<40x200xf16>
  graph.yield %3 : tensor<40x200xf16>
}
