// RUN: fuse-opt %s -p graph-schedule,graph-to-npu --split-input-file | filecheck %s

// A part is a run of the buffer; the kernel's argument says which elements of it are its own. Equal
// kernels are one, wherever in the buffer they write.

// CHECK:      npu.launch @exp_0 blocks({{.*}}) (%x, %[[A:.*]] : memref<4x8xf32, #npu.space<gm>>, memref<56xf32, #npu.space<gm>>)
// CHECK:      %[[B:.*]] = memref.reinterpret_cast %y to offset: [8], sizes: [56], strides: [1] : memref<4x16xf32, #npu.space<gm>> to memref<56xf32, strided<[1], offset: 8>, #npu.space<gm>>
// CHECK-NEXT: npu.launch @exp_0 blocks({{.*}}) (%z, %[[B]] : memref<4x8xf32, #npu.space<gm>>, memref<56xf32, strided<[1], offset: 8>, #npu.space<gm>>)
// CHECK-NEXT: func.return
// CHECK:      func.func @exp_0(%{{.*}}: memref<4x8xf32, #npu.space<gm>>, %out: memref<56xf32, #npu.space<gm>> {npu.part = memref<4x8xf32, strided<[16, 1]>, #npu.space<gm>>})
// CHECK:      memref.reinterpret_cast %out to offset: [0], sizes: [4, 8], strides: [16, 1]
func.func @main(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> (tensor<4x16xf32>) {
  %a = graph.call @exp_0(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = graph.call @exp_0(%z) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = graph.concat %a, %b {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  func.return %c : tensor<4x16xf32>
}
graph.kernel @exp_0 "exp"(%x_1: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {graph.output_strides = [array<i64: 16, 1>]} {
  %0 = graph.exp %x_1 : tensor<4x8xf32> -> tensor<4x8xf32>
  graph.yield %0 : tensor<4x8xf32>
}
