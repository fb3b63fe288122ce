// Two tiles in flight: scores of the next tile go to a workspace of their own before the vector
// cores make weights of these, so that both cores work at once. The third tile of a block may not be
// there; a loop of no or one turn stands around it.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

func.func @main(%q: tensor<5x32x16xf16>, %k: tensor<5x40x16xf16>, %v: tensor<5x40x16xf16>) -> tensor<5x32x16xf16> {
  %0 = graph.call @k(%q, %k, %v) : (tensor<5x32x16xf16>, tensor<5x40x16xf16>, tensor<5x40x16xf16>) -> tensor<5x32x16xf16>
  func.return %0 : tensor<5x32x16xf16>
}

// CHECK: func.func @main
// CHECK: npu.launch @k blocks(2)

// CHECK: func.func @k
// CHECK-SAME: %ws0: memref<2x32x40xf32, #npu.space<gm>> {npu.workspace}, %ws1: memref<2x32x48xf16, #npu.space<gm>> {npu.workspace}, %ws2: memref<2x32x40xf32, #npu.space<gm>> {npu.workspace}, %ws3: memref<2x32x48xf16, #npu.space<gm>> {npu.workspace}) attributes {npu.core = "mixed"
// CHECK: %block = npu.block_idx
// CHECK-NEXT: [[W0:%[0-9]+]] = memref.reinterpret_cast %ws1 to offset: [0], sizes: [2, 32, 40], strides: [1536, 48, 1]
// CHECK-NEXT: [[W1:%[0-9]+]] = memref.reinterpret_cast %ws3 to
// Scores of the first tile.
// CHECK: npu.mmad b_transpose
// CHECK: memref.subview %ws0[%block, 0, 0] [1, 32, 40]
// CHECK-NEXT: npu.fixpipe
// CHECK: scf.for %t = %block to %c3 step %blocks {
// Scores of the second tile, if there is one.
// CHECK: scf.for {{.*}} to {{.*}} step %c1 {
// CHECK: memref.subview %ws2[%block, 0, 0] [1, 32, 40]
// CHECK-NEXT: npu.fixpipe
// CHECK-NEXT: }
// Weights and values of the first.
// CHECK-NEXT: scf.for %c = %c0 to %c32 step %c16 {
// CHECK: memref.subview %ws0[%block, %c, 0] [1, 16, 40]
// CHECK: npu.load
// CHECK: npu.vreduce "max"
// CHECK: npu.vexp
// CHECK: npu.vreduce "sum"
// CHECK: npu.vdiv
// CHECK: npu.vcast
// CHECK: memref.subview [[W0]][%block, %c, 0] [1, 16, 40]
// CHECK-NEXT: npu.store
// CHECK: memref.subview [[W0]][%block, 0, 0] [1, 32, 40]
// CHECK: npu.mmad
// CHECK: npu.fixpipe {{.*}}xf16
// Scores of the next one.
// CHECK: scf.for
// CHECK: npu.fixpipe {{.*}}memref<32x40xf32, strided<[40, 1], offset: ?>
// CHECK-NEXT: }
// Weights and values of the second.
// CHECK-NEXT: scf.for
// CHECK: memref.subview %ws2[%block, {{.*}}, 0] [1, 16, 40]
// CHECK: memref.subview [[W1]][%block, {{.*}}, 0] [1, 16, 40]
// CHECK-NEXT: npu.store
// CHECK: memref.subview [[W1]][%block, 0, 0] [1, 32, 40]
// CHECK: npu.fixpipe
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
graph.kernel @k "attention"(%q: tensor<5x32x16xf16>, %k: tensor<5x40x16xf16>, %v: tensor<5x40x16xf16>) -> tensor<5x32x16xf16> attributes {npu.schedule = #npu.schedule<"attention", {m = 32 : i64, n = 40 : i64, k = 16 : i64, l0_k = 16 : i64, d = 16 : i64, keys = 40 : i64, l0_keys = 48 : i64, chunk = 16 : i64, columns = 40 : i64, flight = 2 : i64, blocks = 2 : i64}>} {
  %0 = graph.transpose %k {perm = [0, 2, 1]} : tensor<5x40x16xf16> -> tensor<5x16x40xf16>
  %1 = graph.matmul %q, %0 : (tensor<5x32x16xf16>, tensor<5x16x40xf16>) -> tensor<5x32x40xf16>
  %2 = graph.softmax %1 : tensor<5x32x40xf16> -> tensor<5x32x40xf16>
  %3 = graph.matmul %2, %v : (tensor<5x32x40xf16>, tensor<5x40x16xf16>) -> tensor<5x32x16xf16>
  graph.yield %3 : tensor<5x32x16xf16>
}
