// Outputs that no kernel computes for them alone are copied: an input, a weight, a result that is an
// output already. One copy kernel for each shape and type.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

// CHECK: func.func @main
// CHECK: npu.launch @relu blocks({{[0-9]+}}) (%x, %y0 :
// CHECK: npu.launch @copy_6x50_f16 blocks([[N:[0-9]+]]) (%y0, %y1 :
// CHECK-NEXT: npu.launch @copy_6x50_f16 blocks([[N]]) (%x, %y2 :
// CHECK-NEXT: npu.launch @copy_3_i64 blocks(1) (%w, %y3 :
// CHECK-NEXT: func.return

// CHECK: func.func @copy_6x50_f16(%in: memref<6x50xf16, #npu.space<gm>>, %out: memref<6x50xf16, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = [[N]] : i64}
// CHECK: npu.alloc : memref<32xf16, #npu.space<ub>>
// CHECK: npu.load
// CHECK-NEXT: memref.subview
// CHECK-NEXT: npu.store
// CHECK: func.func @copy_3_i64
func.func @main(%x: tensor<6x50xf16>) -> (tensor<6x50xf16>, tensor<6x50xf16>, tensor<6x50xf16>, tensor<3xi64>) {
  %0 = graph.call @relu(%x) : (tensor<6x50xf16>) -> tensor<6x50xf16>
  %w = graph.weight "sizes" : tensor<3xi64>
  func.return %0, %0, %x, %w : tensor<6x50xf16>, tensor<6x50xf16>, tensor<6x50xf16>, tensor<3xi64>
}
graph.kernel @relu "relu"(%x: tensor<6x50xf16>) -> tensor<6x50xf16> {
  %0 = graph.relu %x : tensor<6x50xf16> -> tensor<6x50xf16>
  graph.yield %0 : tensor<6x50xf16>
}
