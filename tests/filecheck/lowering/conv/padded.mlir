// A padded convolution: for each kernel position the tile is zeroed, and the rows and columns that
// exist are loaded to where they belong; loop bounds and sub-view sizes leave out the rest.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

func.func @main(%x: tensor<1x56x56x64xf16>, %w: tensor<3x3x64x128xf16>) -> tensor<1x56x56x128xf16> {
  %0 = graph.call @k(%x, %w) : (tensor<1x56x56x64xf16>, tensor<3x3x64x128xf16>) -> tensor<1x56x56x128xf16>
  func.return %0 : tensor<1x56x56x128xf16>
}

// CHECK: func.func @k
// CHECK: [[Y:%[0-9]+]] = memref.reinterpret_cast %out to offset: [0], sizes: [3136, 128], strides: [128, 1]
// CHECK: [[X:%[0-9]+]] = memref.reinterpret_cast %x to offset: [0], sizes: [56, 56, 64], strides: [3584, 64, 1]
// CHECK: [[ROW0:%[0-9]+]] = arith.muli %t, %c2
// CHECK: %acc = npu.alloc : memref<112x128xf32, #npu.space<l0c>>
// CHECK: scf.for %k0 = %c0 to %c3 step %c1 {
// CHECK-NEXT: [[FH:%[0-9]+]] = arith.cmpi eq, %k0, %c0
// CHECK-NEXT: scf.for %k1 = %c0 to %c3 step %c1 {
// CHECK-NEXT: [[FW:%[0-9]+]] = arith.cmpi eq, %k1, %c0
// CHECK-NEXT: [[FIRST:%[0-9]+]] = arith.andi [[FH]], [[FW]]
// CHECK-NEXT: %a = npu.alloc : memref<112x64xf16, #npu.space<l1>>
// CHECK-NEXT: npu.vbrc ins(%cst : f16) outs(%a : memref<112x64xf16, #npu.space<l1>>)
// CHECK: scf.for %r = [[LOW:%[0-9]+]] to [[HIGH:%[0-9]+]] step %c1 {
// CHECK: memref.subview [[X]]{{.*}} [1, [[LENGTH:%[0-9]+]], 64] [1, 1, 1]
// CHECK: memref.subview %a[{{.*}}, 0] {{\[}}[[LENGTH]], 64] [1, 1]
// CHECK-NEXT: npu.load
// CHECK-NEXT: }
// CHECK-NEXT: memref.subview %w[%k0, %k1, 0, 0] [1, 1, 64, 128] [1, 1, 1, 1]
// CHECK: npu.mmad ins(%a, %b : memref<112x64xf16, #npu.space<l1>>, memref<64x128xf16, #npu.space<l1>>) init [[FIRST]] outs(%acc
// CHECK: memref.subview [[Y]]
// CHECK-NEXT: npu.fixpipe relu ins(%acc
graph.kernel @k "conv_relu"(%x: tensor<1x56x56x64xf16>, %w: tensor<3x3x64x128xf16>) -> tensor<1x56x56x128xf16> attributes {npu.schedule = #npu.schedule<"cube", {rows = 2 : i64, m = 56 : i64, n = 128 : i64, k = 64 : i64, l0_k = 64 : i64, blocks = 20 : i64}>} {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x56x56x64xf16>, tensor<3x3x64x128xf16>) -> tensor<1x56x56x128xf16>
  %1 = graph.relu %0 : tensor<1x56x56x128xf16> -> tensor<1x56x56x128xf16>
  graph.yield %1 : tensor<1x56x56x128xf16>
}
