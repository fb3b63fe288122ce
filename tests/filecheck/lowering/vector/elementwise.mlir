// An elementwise chain: one axis, tiles shared among blocks, results in place of dying operands, the
// last tile by sub-views.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<1x128x768xf32>, %y: tensor<1x128x768xf32>) -> tensor<1x128x768xf32> {
  %0 = graph.call @chain(%x, %y) : (tensor<1x128x768xf32>, tensor<1x128x768xf32>) -> tensor<1x128x768xf32>
  func.return %0 : tensor<1x128x768xf32>
}

// CHECK-LABEL: func.func @chain(
// CHECK-SAME: npu.core = "vector", npu.blocks = 4 : i64
// CHECK: %block = npu.block_idx : index
// CHECK: %blocks = npu.block_num : index
// CHECK: scf.for %t = %block to %c10 step %blocks {
// CHECK-NEXT: %[[O:[0-9]+]] = arith.muli %t, %c10000 : index
// CHECK-NEXT: %[[R:[0-9]+]] = arith.subi %c98304, %[[O]] : index
// CHECK-NEXT: %[[N:[0-9]+]] = arith.minsi %[[R]], %c10000 : index
// CHECK-NEXT: memref.reinterpret_cast %x to offset: [0], sizes: [98304], strides: [1]
// CHECK-NEXT: memref.subview {{.*}}[%[[O]]] [%[[N]]] [1]
// CHECK-NEXT: %[[A:[0-9]+]] = npu.alloc : memref<10000xf32, #npu.space<ub>>
// CHECK-NEXT: %[[AV:[0-9]+]] = memref.subview %[[A]][0] [%[[N]]] [1]
// CHECK-NEXT: npu.load ins({{.*}}) outs(%[[AV]] :
// CHECK: npu.load ins({{.*}}) outs(%[[BV:[0-9]+]] :
// CHECK-NEXT: npu.vadd ins(%[[AV]], %[[BV]] : {{.*}}) outs(%[[AV]] :
// CHECK-NEXT: npu.vmul ins(%[[AV]], %cst : {{.*}}, f32) outs(%[[AV]] :
// CHECK-NEXT: npu.vrelu ins(%[[AV]] : {{.*}}) outs(%[[AV]] :
// CHECK-NOT: npu.alloc
// CHECK: npu.store ins(%[[AV]] :
// CHECK: func.return
graph.kernel @chain "add_scale_relu"(%x: tensor<1x128x768xf32>, %y: tensor<1x128x768xf32>) -> tensor<1x128x768xf32> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 98304>, tiles = array<i64: 10000>, blocks = 4 : i64}>} {
  %0 = graph.add %x, %y : (tensor<1x128x768xf32>, tensor<1x128x768xf32>) -> tensor<1x128x768xf32>
  %k = graph.constant dense<4.0> : tensor<f32>
  %1 = graph.div %0, %k : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128x768xf32>
  %2 = graph.relu %1 : tensor<1x128x768xf32> -> tensor<1x128x768xf32>
  graph.yield %2 : tensor<1x128x768xf32>
}
