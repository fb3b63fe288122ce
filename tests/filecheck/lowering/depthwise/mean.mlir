// What is reduced over the image afterwards: a tile has all rows, each is stored and added to a sum
// when it is there; a third axis is a loop around the rows.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

func.func @main(%x: tensor<1x7x9x128xf32>, %w: tensor<5x5x1x128xf32>, %v: tensor<1x4x7x9x32xf32>, %f: tensor<3x3x3x1x32xf32>) -> (tensor<1x7x9x128xf32>, tensor<1x1x1x128xf32>, tensor<1x4x7x9x32xf32>) {
  %0, %1 = graph.call @mean(%x, %w) : (tensor<1x7x9x128xf32>, tensor<5x5x1x128xf32>) -> (tensor<1x7x9x128xf32>, tensor<1x1x1x128xf32>)
  %2 = graph.call @volume(%v, %f) : (tensor<1x4x7x9x32xf32>, tensor<3x3x3x1x32xf32>) -> tensor<1x4x7x9x32xf32>
  func.return %0, %1, %2 : tensor<1x7x9x128xf32>, tensor<1x1x1x128xf32>, tensor<1x4x7x9x32xf32>
}

// CHECK-LABEL: func.func @mean(
// CHECK: npu.vbrc ins(%{{.*}} : f32) outs(%[[S:[0-9]+]] : memref<1x64xf32, #npu.space<ub>>)
// CHECK: scf.for %s = %c0 to %c7 step %c1 {
// CHECK: %rows = npu.alloc : memref<5x13x64xf32, #npu.space<ub>>
// CHECK: scf.for %k =
// CHECK: }
// CHECK: npu.vreduce "sum" ins(%acc : {{.*}}) outs(%[[P:[0-9]+]] : {{.*}}) dims [0]
// CHECK: npu.vadd ins(%[[S]], %[[P]] : {{.*}}) outs(%[[S]] :
// CHECK: npu.store ins(%acc :
// CHECK-NEXT: }
// CHECK: npu.store ins(%[[S]] :
graph.kernel @mean "conv_reduce_mean"(%x: tensor<1x7x9x128xf32>, %w: tensor<5x5x1x128xf32>) -> tensor<1x7x9x128xf32>, tensor<1x1x1x128xf32> attributes {npu.schedule = #npu.schedule<"depthwise", {rows = 1 : i64, columns = 9 : i64, channels = 64 : i64, blocks = 2 : i64}>} {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [2, 2, 2, 2], dilations = [1, 1], group = 128, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x7x9x128xf32>, tensor<5x5x1x128xf32>) -> tensor<1x7x9x128xf32>
  %1 = graph.reduce_mean %0 {axes = [1, 2]} : tensor<1x7x9x128xf32> -> tensor<1x1x1x128xf32>
  graph.yield %0, %1 : tensor<1x7x9x128xf32>, tensor<1x1x1x128xf32>
}

// CHECK-LABEL: func.func @volume(
// CHECK: memref.reinterpret_cast %f to offset: [0], sizes: [27, 32], strides: [32, 1]
// CHECK: %acc = npu.alloc
// CHECK: scf.for %k = %{{[0-9]+}} to %{{[0-9]+}} step %c1 {
// CHECK: %rows = npu.alloc : memref<3x11x32xf32, #npu.space<ub>>
// CHECK: npu.load
// CHECK: scf.for %k_1 =
// CHECK: npu.vmul
// CHECK: npu.store ins(%acc :
graph.kernel @volume "conv"(%x: tensor<1x4x7x9x32xf32>, %f: tensor<3x3x3x1x32xf32>) -> tensor<1x4x7x9x32xf32> attributes {npu.schedule = #npu.schedule<"depthwise", {rows = 1 : i64, columns = 9 : i64, channels = 32 : i64, blocks = 28 : i64}>} {
  %0 = graph.conv %x, %f {strides = [1, 1, 1], pads = [1, 1, 1, 1, 1, 1], dilations = [1, 1, 1], group = 32, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x4x7x9x32xf32>, tensor<3x3x3x1x32xf32>) -> tensor<1x4x7x9x32xf32>
  graph.yield %0 : tensor<1x4x7x9x32xf32>
}
