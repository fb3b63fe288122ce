// A convolution whose tile has several rows of the image: a box of three axes in ub.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

func.func @main(%x: tensor<1x14x15x24xf32>, %w: tensor<3x3x24x36xf32>) -> (tensor<1x14x15x36xf32>, tensor<1x14x15x36xf32>) {
  %0, %1 = graph.call @k(%x, %w) : (tensor<1x14x15x24xf32>, tensor<3x3x24x36xf32>) -> (tensor<1x14x15x36xf32>, tensor<1x14x15x36xf32>)
  func.return %0, %1 : tensor<1x14x15x36xf32>, tensor<1x14x15x36xf32>
}

// CHECK: func.func @k
// CHECK-SAME: %out0: memref<1x14x15x36xf32, #npu.space<gm>>, %out1: memref<1x14x15x36xf32, #npu.space<gm>>, %ws: memref<4x60x36xf32, #npu.space<gm>>
// CHECK: memref.reinterpret_cast %ws to offset: [0], sizes: [4, 4, 15, 36], strides: [2160, 540, 36, 1]
// CHECK: %tile = npu.alloc : memref<2x15x40xf32, #npu.space<ub>>
// CHECK: npu.vexp
// CHECK: npu.vmul
// CHECK: npu.store
// CHECK: npu.store
graph.kernel @k "conv_swish"(%x: tensor<1x14x15x24xf32>, %w: tensor<3x3x24x36xf32>) -> tensor<1x14x15x36xf32>, tensor<1x14x15x36xf32> attributes {npu.schedule = #npu.schedule<"mixed", {rows = 4 : i64, m = 15 : i64, n = 36 : i64, k = 24 : i64, l0_k = 32 : i64, blocks = 4 : i64, chunk = 2 : i64}>} {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x14x15x24xf32>, tensor<3x3x24x36xf32>) -> tensor<1x14x15x36xf32>
  %1 = graph.sigmoid %0 : tensor<1x14x15x36xf32> -> tensor<1x14x15x36xf32>
  %2 = graph.mul %0, %1 : (tensor<1x14x15x36xf32>, tensor<1x14x15x36xf32>) -> tensor<1x14x15x36xf32>
  graph.yield %2, %1 : tensor<1x14x15x36xf32>, tensor<1x14x15x36xf32>
}
