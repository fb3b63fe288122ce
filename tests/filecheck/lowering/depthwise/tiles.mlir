// Several rows from one run of input rows, parts of rows and channels, stride 2 as steps in ub, f16
// computed in f32, the filters of a part of the channels loaded with the tile.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

func.func @main(%x: tensor<2x28x28x96xf16>, %w: tensor<3x3x1x96xf16>, %r: tensor<2x14x14x96xf16>) -> tensor<2x14x14x96xf16> {
  %0 = graph.call @k(%x, %w, %r) : (tensor<2x28x28x96xf16>, tensor<3x3x1x96xf16>, tensor<2x14x14x96xf16>) -> tensor<2x14x14x96xf16>
  func.return %0 : tensor<2x14x14x96xf16>
}

// CHECK: func.func @k(
// CHECK: scf.for %t = %block to %c56 step %blocks {
// CHECK: npu.load ins({{.*}}) outs({{.*}} : memref<9x48xf16, #npu.space<ub>>)
// CHECK: npu.vcast ins({{.*}} : memref<9x48xf16{{.*}}) outs({{.*}} : memref<9x48xf32
// CHECK: %rows = npu.alloc : memref<5x15x48xf32, #npu.space<ub>>
// CHECK: npu.alloc : memref<5x15x48xf16, #npu.space<ub>>
// CHECK: npu.load
// CHECK: npu.vcast
// CHECK: scf.for %z = %c0 to
// CHECK: npu.vbrc
// CHECK: scf.for %{{r[_0-9]*}} = %c0 to %c2 step %c1 {
// CHECK: npu.vbrc ins(%{{.*}} : f32) outs(%acc :
// CHECK: scf.for %k =
// CHECK: memref.subview %rows[%{{[0-9]+}}, 2, 0] [1, 7, 48] [1, 2, 1]
// CHECK: npu.vmul
// CHECK: }
// CHECK: npu.load ins({{.*}}) outs(%[[R:[0-9]+]] : memref<7x48xf16, #npu.space<ub>>)
// CHECK: npu.vcast ins(%[[R]] :
// CHECK: npu.vadd
// CHECK: npu.vcast ins({{.*}}xf32{{.*}}) outs({{.*}}xf16
// CHECK: npu.store
graph.kernel @k "conv_residual"(%x: tensor<2x28x28x96xf16>, %w: tensor<3x3x1x96xf16>, %r: tensor<2x14x14x96xf16>) -> tensor<2x14x14x96xf16> attributes {npu.schedule = #npu.schedule<"depthwise", {rows = 2 : i64, columns = 7 : i64, channels = 48 : i64, blocks = 40 : i64}>} {
  %0 = graph.conv %x, %w {strides = [2, 2], pads = [1, 1, 0, 0], dilations = [1, 1], group = 96, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<2x28x28x96xf16>, tensor<3x3x1x96xf16>) -> tensor<2x14x14x96xf16>
  %1 = graph.add %0, %r : (tensor<2x14x14x96xf16>, tensor<2x14x14x96xf16>) -> tensor<2x14x14x96xf16>
  graph.yield %1 : tensor<2x14x14x96xf16>
}
