// Pooling: each input row is loaded once for its taps; what lies outside the image is left out by
// loop bounds; averages of unequal windows use a constant of inverse counts.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

// CHECK: func.func @main
// CHECK-SAME: npu.weight = "constant.data_
func.func @main(%x: tensor<1x112x112x64xf16>, %y: tensor<1x9x9x32xf16>) -> (tensor<1x56x56x64xf16>, tensor<1x9x9x32xf16>) {
  %0 = graph.call @max(%x) : (tensor<1x112x112x64xf16>) -> tensor<1x56x56x64xf16>
  %1 = graph.call @average(%y) : (tensor<1x9x9x32xf16>) -> tensor<1x9x9x32xf16>
  func.return %0, %1 : tensor<1x56x56x64xf16>, tensor<1x9x9x32xf16>
}

// CHECK-LABEL: func.func @max(
// CHECK: scf.for %t = %block to %c56 step %blocks {
// CHECK: npu.alloc : memref<56x64xf16, #npu.space<ub>>
// CHECK: npu.vbrc ins(%{{.*}} : f16) outs(%[[A:[0-9]+]] :
// CHECK: %[[L:[0-9]+]] = arith.maxsi
// CHECK: %[[H:[0-9]+]] = arith.minsi
// CHECK: scf.for %k = %[[L]] to %[[H]] step %c1 {
// CHECK: npu.load ins({{.*}}) outs(%[[R:[0-9]+]] : memref<112x64xf16, #npu.space<ub>>)
// CHECK: memref.subview %[[R]][1, 0] [55, 64] [2, 1]
// CHECK: memref.subview %[[A]][1, 0] [55, 64] [1, 1]
// CHECK: npu.vmax
// CHECK: memref.subview %[[R]][0, 0] [56, 64] [2, 1]
// CHECK: npu.vmax
// CHECK: memref.subview %[[R]][1, 0] [56, 64] [2, 1]
// CHECK: npu.vmax
// CHECK: }
// CHECK: npu.store ins(%[[A]] :
graph.kernel @max "max_pool"(%x: tensor<1x112x112x64xf16>) -> tensor<1x56x56x64xf16> attributes {npu.schedule = #npu.schedule<"window", {columns = 56 : i64, channels = 64 : i64, blocks = 40 : i64}>} {
  %0 = graph.max_pool %x {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1], layout = "NHWC"} : tensor<1x112x112x64xf16> -> tensor<1x56x56x64xf16>
  graph.yield %0 : tensor<1x56x56x64xf16>
}

// CHECK-LABEL: func.func @average(
// CHECK-SAME: %const0: memref<81x8xf32, #npu.space<gm>>
// CHECK: npu.vbrc ins(%{{.*}} : f32) outs(%[[S:[0-9]+]] :
// CHECK: npu.vcast ins({{.*}}xf16{{.*}}) outs({{.*}}xf32
// CHECK: npu.vadd
// CHECK: npu.load ins({{.*}}) outs(%[[I:[0-9]+]] : memref<9x8xf32, #npu.space<ub>>)
// CHECK: %[[C:[0-9]+]] = memref.subview %[[I]][0, 0] [9, 1] [1, 1]
// CHECK: npu.vmul ins(%[[S]], %[[C]] : {{.*}}) outs(%[[S]] : {{.*}}) temp(
// CHECK: npu.vcast ins(%[[S]] : {{.*}}) outs({{.*}}xf16
graph.kernel @average "average_pool"(%x: tensor<1x9x9x32xf16>) -> tensor<1x9x9x32xf16> attributes {npu.schedule = #npu.schedule<"window", {columns = 9 : i64, channels = 32 : i64, blocks = 9 : i64}>} {
  %0 = graph.average_pool %x {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], layout = "NHWC"} : tensor<1x9x9x32xf16> -> tensor<1x9x9x32xf16>
  graph.yield %0 : tensor<1x9x9x32xf16>
}
