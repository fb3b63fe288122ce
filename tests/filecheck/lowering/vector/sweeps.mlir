// A softmax whose rows are tiled: one sweep for the maximum, one for the sum, one that computes the
// powers again and divides.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<8x1000xf32>) -> tensor<8x1000xf32> {
  %0 = graph.call @softmax(%x) : (tensor<8x1000xf32>) -> tensor<8x1000xf32>
  func.return %0 : tensor<8x1000xf32>
}

// CHECK-LABEL: func.func @softmax(
// CHECK: npu.vbrc ins(%{{.*}} : f32) outs(%[[M:[0-9]+]] : memref<4x1xf32, strided<[8, 1]>, #npu.space<ub>>)
// CHECK-NEXT: scf.for %s1 = %c0 to %c1000 step %c256 {
// CHECK: npu.load
// CHECK: npu.vreduce "max" ins({{.*}}) outs(%[[P:[0-9]+]] :
// CHECK-NEXT: npu.vmax ins(%[[M]], %[[P]] : {{.*}}) outs(%[[M]] :
// CHECK-NEXT: }
// CHECK: npu.vbrc ins(%{{.*}} : f32) outs(%[[S:[0-9]+]] :
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c1000 step %c256 {
// CHECK: npu.load
// CHECK: npu.vsub ins(%{{[0-9]+}}, %[[M]] :
// CHECK-NEXT: npu.vexp
// CHECK: npu.vreduce "sum"
// CHECK-NEXT: npu.vadd ins(%[[S]], %{{[0-9]+}} : {{.*}}) outs(%[[S]] :
// CHECK-NEXT: }
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c1000 step %c256 {
// CHECK: npu.load
// CHECK: npu.vsub
// CHECK: npu.vexp
// CHECK: npu.vdiv ins(%{{[0-9]+}}, %[[S]] :
// CHECK: npu.store
// CHECK-NEXT: }
// CHECK-NEXT: func.return
graph.kernel @softmax "softmax"(%x: tensor<8x1000xf32>) -> tensor<8x1000xf32> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 8, 1000>, tiles = array<i64: 4, 256>, blocks = 2 : i64}>} {
  %0 = graph.softmax %x : tensor<8x1000xf32> -> tensor<8x1000xf32>
  graph.yield %0 : tensor<8x1000xf32>
}
