// A row of the output: its input rows are loaded once, the columns in the padding are zero, each kernel
// position is a shifted view times a row of the filters; products are added in pairs, then relu6.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

func.func @main(%x: tensor<1x14x14x64xf32>, %w: tensor<3x3x1x64xf32>, %b: tensor<64xf32>) -> tensor<1x14x14x64xf32> {
  %0 = graph.call @k(%x, %w, %b) : (tensor<1x14x14x64xf32>, tensor<3x3x1x64xf32>, tensor<64xf32>) -> tensor<1x14x14x64xf32>
  func.return %0 : tensor<1x14x14x64xf32>
}

// CHECK: func.func @k(
// CHECK-SAME: npu.core = "vector", npu.blocks = 14 : i64
// CHECK: memref.reinterpret_cast %w to offset: [0], sizes: [9, 64], strides: [64, 1]
// CHECK: npu.load ins({{.*}}) outs(%[[F:[0-9]+]] : memref<9x64xf32, #npu.space<ub>>)
// CHECK: npu.load ins({{.*}}) outs(%[[B:[0-9]+]] : memref<1x64xf32, #npu.space<ub>>)
// CHECK-NOT: scf.for %t
// CHECK: %acc = npu.alloc : memref<14x64xf32, #npu.space<ub>>
// CHECK-NEXT: npu.vbrc ins(%[[B]] : {{.*}}) outs(%acc :
// CHECK: %[[L:[0-9]+]] = arith.maxsi
// CHECK: %[[H:[0-9]+]] = arith.minsi
// CHECK: %[[N:[0-9]+]] = arith.subi %[[H]], %[[L]]
// CHECK: %rows = npu.alloc : memref<3x16x64xf32, #npu.space<ub>>
// CHECK: memref.subview %{{[a-z0-9]+}}[0, %{{[0-9]+}}, 0, 0] [1, %[[N]], 14, 64] [1, 1, 1, 1]
// CHECK: %[[P:[0-9]+]] = memref.subview %rows[0, 1, 0] [%[[N]], 14, 64]
// CHECK-NEXT: npu.load ins({{.*}}) outs(%[[P]] :
// CHECK: memref.subview %rows[0, 0, 0] [3, 1, 64]
// CHECK-NEXT: npu.vbrc
// CHECK-NEXT: memref.subview %rows[0, 15, 0] [3, 1, 64]
// CHECK-NEXT: npu.vbrc
// CHECK: scf.for %k = %[[L]] to %[[H]] step %c1 {
// CHECK: memref.subview %rows[%{{[0-9]+}}, 0, 0] [1, 14, 64] [1, 1, 1]
// CHECK: npu.vmul ins({{.*}}) outs(%product :
// CHECK: memref.subview %rows[%{{[0-9]+}}, 1, 0] [1, 14, 64] [1, 1, 1]
// CHECK: npu.vmul ins({{.*}}) outs(%product_1 :
// CHECK: memref.subview %rows[%{{[0-9]+}}, 2, 0] [1, 14, 64] [1, 1, 1]
// CHECK: npu.vmul ins({{.*}}) outs(%product_2 :
// CHECK-NEXT: npu.vadd ins(%acc, %product : {{.*}}) outs(%acc :
// CHECK-NEXT: npu.vadd ins(%product_1, %product_2 : {{.*}}) outs(%product_1 :
// CHECK-NEXT: npu.vadd ins(%acc, %product_1 : {{.*}}) outs(%acc :
// CHECK-NEXT: }
// CHECK-NEXT: npu.vmax ins(%acc
// CHECK-NEXT: npu.vmin ins(%acc
// CHECK: npu.store ins(%acc :
graph.kernel @k "conv_clip"(%x: tensor<1x14x14x64xf32>, %w: tensor<3x3x1x64xf32>, %b: tensor<64xf32>) -> tensor<1x14x14x64xf32> attributes {npu.schedule = #npu.schedule<"depthwise", {rows = 1 : i64, columns = 14 : i64, channels = 64 : i64, blocks = 14 : i64}>} {
  %0 = graph.conv %x, %w, %b {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 64, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x14x14x64xf32>, tensor<3x3x1x64xf32>, tensor<64xf32>) -> tensor<1x14x14x64xf32>
  %1 = graph.clip %0 {min = 0.0, max = 6.0} : tensor<1x14x14x64xf32> -> tensor<1x14x14x64xf32>
  graph.yield %1 : tensor<1x14x14x64xf32>
}
