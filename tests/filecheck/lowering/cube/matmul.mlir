// A matmul with bias, residual and relu: tiles with tails in M and N, K in one step, bias as an
// operand of mmad, the residual as a product with an identity tile, relu on the way out.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

func.func @main(%x: tensor<250x300xf32>, %w: tensor<300x200xf32>, %b: tensor<200xf32>, %r: tensor<250x200xf32>) -> tensor<250x200xf32> {
  %0 = graph.call @k(%x, %w, %b, %r) : (tensor<250x300xf32>, tensor<300x200xf32>, tensor<200xf32>, tensor<250x200xf32>) -> tensor<250x200xf32>
  func.return %0 : tensor<250x200xf32>
}

// CHECK: func.func @k(%x: memref<250x300xf32, #npu.space<gm>>, %w: memref<300x200xf32, #npu.space<gm>>, %b: memref<200xf32, #npu.space<gm>>, %r: memref<250x200xf32, #npu.space<gm>>, %const0: memref<96x96xf32, #npu.space<gm>>, %out: memref<250x200xf32, #npu.space<gm>>)
// CHECK-SAME: npu.core = "cube", npu.blocks = 2 : i64

// The identity is loaded once, before the tiles.
// CHECK: %identity = npu.alloc : memref<96x96xf32, #npu.space<l1>>
// CHECK-NEXT: npu.load ins(%const0
// CHECK: scf.for %t = %block to %c12 step %blocks {
// CHECK-NEXT: [[ROW:%[0-9]+]] = arith.divui %t, %c3
// CHECK-NEXT: [[COL:%[0-9]+]] = arith.remui %t, %c3
// CHECK-NEXT: [[M0:%[0-9]+]] = arith.muli [[ROW]], %c64
// CHECK-NEXT: [[N0:%[0-9]+]] = arith.muli [[COL]], %c96
// CHECK-NEXT: arith.subi %c250, [[M0]]
// CHECK-NEXT: [[M:%[0-9]+]] = arith.minsi {{.*}}, %c64
// CHECK-NEXT: arith.subi %c200, [[N0]]
// CHECK-NEXT: [[N:%[0-9]+]] = arith.minsi {{.*}}, %c96
// CHECK-NEXT: %acc = npu.alloc : memref<64x96xf32, #npu.space<l0c>>
// CHECK-NEXT: [[ACC:%[0-9]+]] = memref.subview %acc[0, 0] {{\[}}[[M]], [[N]]] [1, 1]
// CHECK: %bias = npu.alloc : memref<96xf32, #npu.space<l1>>
// CHECK: scf.for %k = %c0 to %c300 step %c128 {
// CHECK-NEXT: [[FIRST:%[0-9]+]] = arith.cmpi eq, %k, %c0
// CHECK-NEXT: arith.subi %c300, %k
// CHECK-NEXT: [[K:%[0-9]+]] = arith.minsi {{.*}}, %c128
// CHECK-NEXT: memref.subview %x{{\[}}[[M0]], %k] {{\[}}[[M]], [[K]]] [1, 1]
// CHECK-NEXT: %a = npu.alloc : memref<64x128xf32, #npu.space<l1>>
// CHECK: memref.subview %w[%k, [[N0]]] {{\[}}[[K]], [[N]]] [1, 1]
// CHECK-NEXT: npu.alloc : memref<128x96xf32, #npu.space<l1>>
// CHECK: npu.mmad ins({{.*}}) bias({{.*}}) init [[FIRST]] outs([[ACC]] : {{.*}}) l0 [64]
// CHECK-NEXT: }
// CHECK: memref.subview %r{{\[}}[[M0]], [[N0]]] {{\[}}[[M]], [[N]]] [1, 1]
// CHECK: memref.subview %identity[0, 0] {{\[}}[[N]], [[N]]] [1, 1]
// CHECK-NEXT: npu.mmad ins({{.*}}) init %false outs([[ACC]]
// CHECK: [[OUT:%[0-9]+]] = memref.subview %out{{\[}}[[M0]], [[N0]]] {{\[}}[[M]], [[N]]] [1, 1]
// CHECK-NEXT: npu.fixpipe relu ins([[ACC]] : {{.*}}) outs([[OUT]]
// CHECK-NEXT: }
// CHECK-NEXT: func.return
graph.kernel @k "matmul_bias_residual_relu"(%x: tensor<250x300xf32>, %w: tensor<300x200xf32>, %b: tensor<200xf32>, %r: tensor<250x200xf32>) -> tensor<250x200xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = 64 : i64, n = 96 : i64, k = 128 : i64, l0_k = 64 : i64, blocks = 2 : i64}>} {
  %0 = graph.matmul %x, %w : (tensor<250x300xf32>, tensor<300x200xf32>) -> tensor<250x200xf32>
  %1 = graph.add %0, %b : (tensor<250x200xf32>, tensor<200xf32>) -> tensor<250x200xf32>
  %2 = graph.add %r, %1 : (tensor<250x200xf32>, tensor<250x200xf32>) -> tensor<250x200xf32>
  %3 = graph.relu %2 : tensor<250x200xf32> -> tensor<250x200xf32>
  graph.yield %3 : tensor<250x200xf32>
}
