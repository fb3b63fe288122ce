// Squeeze and excitation: every core does the small products, tile by tile of the hidden units,
// before its part of the map; a filter in the order of its sum is loaded as it lies.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%p: tensor<1x1x1x64xf32>, %v: tensor<12x64x1x1xf32>, %w: tensor<1x1x12x64xf32>, %m: tensor<1x5x5x64xf32>) -> tensor<1x5x5x64xf32> {
  %0 = graph.call @se(%p, %v, %w, %m) : (tensor<1x1x1x64xf32>, tensor<12x64x1x1xf32>, tensor<1x1x12x64xf32>, tensor<1x5x5x64xf32>) -> tensor<1x5x5x64xf32>
  func.return %0 : tensor<1x5x5x64xf32>
}

// CHECK-LABEL: func.func @se(
// CHECK: npu.vbrc
// CHECK: npu.vbrc ins(%{{.*}} : f32) outs(%[[SUM:[0-9]+]] : memref<1x64xf32, #npu.space<ub>>)
// CHECK: scf.for %{{.*}} = %c0 to %c12 step %c5 {
// CHECK: npu.vreduce "sum" {{.*}} dims [1]
// CHECK: npu.vrelu
// CHECK: npu.vreduce "sum" {{.*}} dims [0]
// CHECK-NEXT: npu.vadd ins(%[[SUM]],
// CHECK-NEXT: }
// CHECK: npu.vdiv
// CHECK: npu.block_idx
// CHECK-NOT: npu.vreduce
// CHECK: npu.vmul
// CHECK: npu.store
// CHECK-NOT: npu.vtranspose
// CHECK: func.return
graph.kernel @se "se"(%p: tensor<1x1x1x64xf32>, %v: tensor<12x64x1x1xf32>, %w: tensor<1x1x12x64xf32>, %m: tensor<1x5x5x64xf32>) -> tensor<1x5x5x64xf32> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 25, 64, 12, 64>, tiles = array<i64: 9, 64, 5, 64>, blocks = 3 : i64, copies = 2 : i64}>} {
  %0 = graph.conv %p, %v {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1, x_layout = "NHWC", w_layout = "OIHW", y_layout = "NHWC"} : (tensor<1x1x1x64xf32>, tensor<12x64x1x1xf32>) -> tensor<1x1x1x12xf32>
  %1 = graph.relu %0 : tensor<1x1x1x12xf32> -> tensor<1x1x1x12xf32>
  %2 = graph.conv %1, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x1x1x12xf32>, tensor<1x1x12x64xf32>) -> tensor<1x1x1x64xf32>
  %3 = graph.sigmoid %2 : tensor<1x1x1x64xf32> -> tensor<1x1x1x64xf32>
  %4 = graph.mul %m, %3 : (tensor<1x5x5x64xf32>, tensor<1x1x1x64xf32>) -> tensor<1x5x5x64xf32>
  graph.yield %4 : tensor<1x5x5x64xf32>
}
