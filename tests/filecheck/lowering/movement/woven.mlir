// Three channels become the innermost axis: each plane is turned into every third row of a buffer,
// which is turned back as a whole, so that stores are long runs and not three elements each.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<1x3x64x96xf32>) -> tensor<1x66x98x3xf32> {
  %0 = graph.call @stem(%x) : (tensor<1x3x64x96xf32>) -> tensor<1x66x98x3xf32>
  func.return %0 : tensor<1x66x98x3xf32>
}

// CHECK-LABEL: func.func @stem(
// CHECK: %[[T:[0-9]+]] = npu.alloc : memref<288x8xf32, #npu.space<ub>>
// CHECK: npu.load ins({{.*}}) outs(%[[A:[0-9]+]] : memref<8x96xf32, #npu.space<ub>>)
// CHECK: %[[V:[0-9]+]] = memref.subview %[[T]][0, 0] [96, 8] [3, 1]
// CHECK: npu.vtranspose ins(%[[A]] : {{.*}}) outs(%[[V]] :
// CHECK: npu.load
// CHECK: memref.subview %[[T]][1, 0] [96, 8] [3, 1]
// CHECK: npu.load
// CHECK: memref.subview %[[T]][2, 0] [96, 8] [3, 1]
// CHECK: %[[O:[0-9]+]] = npu.alloc : memref<8x288xf32, #npu.space<ub>>
// CHECK: npu.vtranspose ins(%[[T]] : {{.*}}) outs(%[[O]] :
// CHECK: npu.store ins(%[[O]] : {{.*}}) outs(%{{[0-9]+}} : memref<8x288xf32, strided<[294, 1], offset: ?>, #npu.space<gm>>)
// The borders are filled.
// CHECK: %fill = npu.alloc
// CHECK: npu.vbrc
graph.kernel @stem "transpose_pad"(%x: tensor<1x3x64x96xf32>) -> tensor<1x66x98x3xf32> attributes {npu.schedule = #npu.schedule<"movement", {tiles = array<i64: 8, 96, 294, 294, 294, 294, 64, 3, 64, 3>, blocks = 8 : i64}>} {
  %0 = graph.transpose %x {perm = [0, 2, 3, 1]} : tensor<1x3x64x96xf32> -> tensor<1x64x96x3xf32>
  %1 = graph.pad %0 {pads = [0, 1, 1, 0, 0, 1, 1, 0]} : tensor<1x64x96x3xf32> -> tensor<1x66x98x3xf32>
  graph.yield %1 : tensor<1x66x98x3xf32>
}
