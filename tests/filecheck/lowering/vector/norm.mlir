// A layer norm of whole rows: parameters once before the loop, sums in f32 with scratch, columns
// padded to blocks of 32 bytes.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<50x300xf16>, %g: tensor<300xf16>, %b: tensor<300xf16>) -> tensor<50x300xf16> {
  %0 = graph.call @norm(%x, %g, %b) : (tensor<50x300xf16>, tensor<300xf16>, tensor<300xf16>) -> tensor<50x300xf16>
  func.return %0 : tensor<50x300xf16>
}

// CHECK-LABEL: func.func @norm(
// CHECK: npu.load
// CHECK: npu.vcast ins({{.*}}xf16{{.*}}) outs(%[[G:[0-9]+]] : memref<1x300xf32, strided<[304, 1]>, #npu.space<ub>>)
// CHECK: npu.load
// CHECK: npu.vcast ins({{.*}}xf16{{.*}}) outs(%[[B:[0-9]+]] : memref<1x300xf32, strided<[304, 1]>, #npu.space<ub>>)
// CHECK: scf.for %t = %block to %c7 step %blocks {
// CHECK: npu.alloc : memref<8x304xf16, #npu.space<ub>>
// CHECK: npu.load ins({{.*}}) outs(%[[H:[0-9]+]] : memref<?x300xf16, strided<[304, 1]>, #npu.space<ub>>)
// CHECK: npu.vcast ins(%[[H]] : {{.*}}) outs(%[[X:[0-9]+]] : memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>)
// CHECK: %temp = npu.alloc
// CHECK: npu.vreduce "sum" ins(%[[X]] : {{.*}}) outs(%[[M:[0-9]+]] : memref<?x1xf32, strided<[8, 1]>, #npu.space<ub>>) dims [1] temp(%temp :
// CHECK-NEXT: npu.vdiv ins(%[[M]], %{{.*}}, f32) outs(%[[M]] :
// CHECK: npu.vsub ins(%[[X]], %[[M]] : {{.*}}) outs(%[[X]] : {{.*}}) temp(
// CHECK: npu.vmul ins(%[[X]], %[[X]] : {{.*}}) outs(%[[S:[0-9]+]] :
// CHECK: npu.vreduce "sum" ins(%[[S]] : {{.*}}) outs(%[[V:[0-9]+]] :
// CHECK: npu.vadd ins(%[[V]], %{{.*}}, f32)
// CHECK: npu.vsqrt ins(%[[V]] :
// CHECK: npu.vdiv ins(%[[X]], %[[V]] :
// CHECK: npu.vmul ins(%[[X]], %[[G]] :
// CHECK: npu.vadd ins(%[[X]], %[[B]] :
// CHECK: npu.vcast ins(%[[X]] : {{.*}}) outs(%[[Y:[0-9]+]] : memref<?x300xf16
// CHECK: npu.store ins(%[[Y]] :
graph.kernel @norm "layer_norm"(%x: tensor<50x300xf16>, %g: tensor<300xf16>, %b: tensor<300xf16>) -> tensor<50x300xf16> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 50, 300>, tiles = array<i64: 8, 300>, blocks = 2 : i64}>} {
  %0 = graph.layer_normalization %x, %g, %b : (tensor<50x300xf16>, tensor<300xf16>, tensor<300xf16>) -> tensor<50x300xf16>
  graph.yield %0 : tensor<50x300xf16>
}
