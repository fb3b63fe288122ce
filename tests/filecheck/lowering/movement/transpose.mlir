// A transposition of the last axis goes through vtranspose, with tails along both; one that keeps
// it is a strided copy.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<100x70xi64>, %y: tensor<12x40x64xf16>) -> (tensor<70x100xi64>, tensor<40x12x64xf16>) {
  %0 = graph.call @turn(%x) : (tensor<100x70xi64>) -> tensor<70x100xi64>
  %1 = graph.call @heads(%y) : (tensor<12x40x64xf16>) -> tensor<40x12x64xf16>
  func.return %0, %1 : tensor<70x100xi64>, tensor<40x12x64xf16>
}

// CHECK-LABEL: func.func @turn(
// CHECK: scf.for %t = %block to %c12 step %blocks {
// CHECK: %[[R:[0-9]+]] = arith.minsi %{{[0-9]+}}, %c32 : index
// CHECK: %[[C:[0-9]+]] = arith.minsi %{{[0-9]+}}, %c32 : index
// CHECK: %[[A:[0-9]+]] = npu.alloc : memref<32x32xi64, #npu.space<ub>>
// CHECK-NEXT: %[[AV:[0-9]+]] = memref.subview %[[A]][0, 0] [%[[C]], %[[R]]] [1, 1]
// CHECK: memref.subview %x[%{{[0-9]+}}, %{{[0-9]+}}] [%[[C]], %[[R]]] [1, 1]
// CHECK-NEXT: npu.load ins({{.*}}) outs(%[[AV]] :
// CHECK: npu.vtranspose ins(%[[AV]] : {{.*}}) outs(%[[T:[0-9]+]] : {{.*}}) permutation [1, 0]
// CHECK: npu.store ins(%[[T]] :
graph.kernel @turn "transpose"(%x: tensor<100x70xi64>) -> tensor<70x100xi64> attributes {npu.schedule = #npu.schedule<"movement", {tiles = array<i64: 32, 32>, blocks = 5 : i64}>} {
  %0 = graph.transpose %x {perm = [1, 0]} : tensor<100x70xi64> -> tensor<70x100xi64>
  graph.yield %0 : tensor<70x100xi64>
}

// CHECK-LABEL: func.func @heads(
// CHECK-NOT: npu.vtranspose
// CHECK: npu.load ins(%{{[0-9]+}} : memref<40x64xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>) outs(%[[U:[0-9]+]] :
// CHECK: npu.store ins(%[[U]] : {{.*}}) outs(%{{[0-9]+}} : memref<40x64xf16, strided<[768, 1], offset: ?>, #npu.space<gm>>)
graph.kernel @heads "transpose"(%x: tensor<12x40x64xf16>) -> tensor<40x12x64xf16> attributes {npu.schedule = #npu.schedule<"movement", {tiles = array<i64: 40, 64>, blocks = 12 : i64}>} {
  %0 = graph.transpose %x {perm = [1, 0, 2]} : tensor<12x40x64xf16> -> tensor<40x12x64xf16>
  graph.yield %0 : tensor<40x12x64xf16>
}
