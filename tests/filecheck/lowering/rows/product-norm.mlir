// All columns of a row are in the workspace before the vector half takes whole rows of it; the sum
// that is normalised is a result as well.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

// CHECK: func.func @k
// CHECK-SAME: %ws: memref<3x16x128xf32, #npu.space<gm>> {npu.workspace}) attributes {npu.core = "mixed"
// CHECK: scf.for %n = %c0 to %c128 step %c64 {
// CHECK: npu.mmad ins
// CHECK: memref.subview %ws[%block, 0, %n] [1, {{%[0-9]+}}, 64] [1, 1, 1]
// CHECK-NEXT: npu.fixpipe ins({{.*}}xf32, {{.*}}#npu.space<l0c>>) outs({{.*}}xf32, {{.*}}#npu.space<gm>>)
// CHECK-NEXT: }
// CHECK: scf.for %p = %c0 to {{%[0-9]+}} step %c4 {
// CHECK: memref.subview %ws[%block, %p, 0] [1, {{%[0-9]+}}, 128] [1, 1, 1]
// CHECK: npu.vadd
// CHECK: npu.vreduce
// CHECK: memref.subview %out0
// CHECK-NEXT: npu.store
// CHECK: memref.subview %out1
// CHECK-NEXT: npu.store

func.func @main(%x: tensor<40x64xf32>, %w: tensor<64x128xf32>, %r: tensor<40x128xf32>, %g: tensor<128xf32>) -> (tensor<40x128xf32>, tensor<40x128xf32>) {
  %0, %1 = graph.call @k(%x, %w, %r, %g) : (tensor<40x64xf32>, tensor<64x128xf32>, tensor<40x128xf32>, tensor<128xf32>) -> (tensor<40x128xf32>, tensor<40x128xf32>)
  func.return %0, %1 : tensor<40x128xf32>, tensor<40x128xf32>
}
graph.kernel @k "matmul_add_layer_normalization"(%x: tensor<40x64xf32>, %w: tensor<64x128xf32>, %r: tensor<40x128xf32>, %g: tensor<128xf32>) -> tensor<40x128xf32>, tensor<40x128xf32> attributes {npu.schedule = #npu.schedule<"rows", {rows = 1 : i64, m = 16 : i64, n = 64 : i64, k = 64 : i64, l0_k = 64 : i64, blocks = 3 : i64, copies = 2 : i64, span = 128 : i64, lead = 0 : i64, chunk = 4 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<40x64xf32>, tensor<64x128xf32>) -> tensor<40x128xf32>
  %1 = graph.add %0, %r : (tensor<40x128xf32>, tensor<40x128xf32>) -> tensor<40x128xf32>
  %2 = graph.layer_normalization %1, %g, %g {epsilon = 1.0e-05} : (tensor<40x128xf32>, tensor<128xf32>, tensor<128xf32>) -> tensor<40x128xf32>
  graph.yield %1, %2 : tensor<40x128xf32>, tensor<40x128xf32>
}
