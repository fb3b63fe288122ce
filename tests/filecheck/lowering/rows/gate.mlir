// Two products of the same rows, tile by tile of columns: both are in their workspaces before the
// vector half joins them.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

// CHECK: func.func @k
// CHECK-SAME: %ws0: memref<4x32x64xf32, #npu.space<gm>> {npu.workspace}, %ws1: memref<4x32x64xf32, #npu.space<gm>> {npu.workspace}) attributes {npu.core = "mixed"
// CHECK: npu.fixpipe
// CHECK-NOT: npu.vexp
// CHECK: npu.fixpipe
// CHECK: scf.for %p = %c0 to %c32 step %c16 {
// CHECK: memref.subview %ws{{[01]}}[%block, %p, 0] [1, 16, 64] [1, 1, 1]
// CHECK: npu.vexp
// CHECK: memref.subview %ws{{[01]}}[%block, %p, 0] [1, 16, 64] [1, 1, 1]
// CHECK: npu.vmul
// CHECK: npu.store

func.func @main(%x: tensor<64x48xf16>, %w: tensor<48x128xf16>, %v: tensor<48x128xf16>) -> tensor<64x128xf16> {
  %0 = graph.call @k(%x, %w, %v) : (tensor<64x48xf16>, tensor<48x128xf16>, tensor<48x128xf16>) -> tensor<64x128xf16>
  func.return %0 : tensor<64x128xf16>
}
graph.kernel @k "gate"(%x: tensor<64x48xf16>, %w: tensor<48x128xf16>, %v: tensor<48x128xf16>) -> tensor<64x128xf16> attributes {npu.schedule = #npu.schedule<"rows", {rows = 1 : i64, m = 32 : i64, n = 64 : i64, k = 48 : i64, l0_k = 48 : i64, blocks = 4 : i64, copies = 2 : i64, span = 64 : i64, lead = 0 : i64, chunk = 16 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<64x48xf16>, tensor<48x128xf16>) -> tensor<64x128xf16>
  %1 = graph.matmul %x, %v : (tensor<64x48xf16>, tensor<48x128xf16>) -> tensor<64x128xf16>
  %2 = graph.swish %0 : tensor<64x128xf16> -> tensor<64x128xf16>
  %3 = graph.mul %2, %1 : (tensor<64x128xf16>, tensor<64x128xf16>) -> tensor<64x128xf16>
  graph.yield %3 : tensor<64x128xf16>
}
