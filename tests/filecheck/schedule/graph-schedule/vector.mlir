// Axes that nothing tells apart are one; rows and reduced axes stay apart.
//
// RUN: fuse-opt %s -p "graph-schedule{target=ascend910b3}" | filecheck %s
// RUN: fuse-opt %s -p "graph-schedule{target=tiny}" | filecheck %s --check-prefix TINY

// An elementwise chain over [1, 128, 768] has one axis.
// CHECK-LABEL: graph.kernel @chain
// CHECK-SAME: #npu.schedule<"vector", {axes = array<i64: 98304>, tiles = array<i64: {{[0-9]+}}>, blocks = {{[0-9]+}} : i64, copies = 2 : i64}>
graph.kernel @chain "add_relu"(%x: tensor<1x128x768xf32>, %y: tensor<1x128x768xf32>) -> tensor<1x128x768xf32> {
  %0 = graph.add %x, %y : (tensor<1x128x768xf32>, tensor<1x128x768xf32>) -> tensor<1x128x768xf32>
  %1 = graph.relu %0 : tensor<1x128x768xf32> -> tensor<1x128x768xf32>
  graph.yield %1 : tensor<1x128x768xf32>
}

// A norm has rows and columns; in 16 KB a row does not fit twice and is swept.
// CHECK-LABEL: graph.kernel @norm
// CHECK-SAME: axes = array<i64: 128, 768>, tiles = array<i64: {{[0-9]+}}, 768>
// TINY-LABEL: graph.kernel @norm
// TINY-SAME: axes = array<i64: 128, 768>, tiles = array<i64: 8, 128>, blocks = 4 : i64
graph.kernel @norm "layer_norm"(%x: tensor<1x128x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>) -> tensor<1x128x768xf32> {
  %0 = graph.layer_normalization %x, %g, %b : (tensor<1x128x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<1x128x768xf32>
  graph.yield %0 : tensor<1x128x768xf32>
}

// A mask that all heads share, softmax over the last axis.
// CHECK-LABEL: graph.kernel @attention
// CHECK-SAME: axes = array<i64: 12, 128, 128>, tiles = array<i64: 1, {{[0-9]+}}, 128>
graph.kernel @attention "softmax"(%x: tensor<12x128x128xf16>, %m: tensor<1x128x128xf16>) -> tensor<12x128x128xf16> {
  %k = graph.constant dense<0.125> : tensor<f16>
  %0 = graph.mul %x, %k : (tensor<12x128x128xf16>, tensor<f16>) -> tensor<12x128x128xf16>
  %1 = graph.add %0, %m : (tensor<12x128x128xf16>, tensor<1x128x128xf16>) -> tensor<12x128x128xf16>
  %2 = graph.softmax %1 : tensor<12x128x128xf16> -> tensor<12x128x128xf16>
  graph.yield %2 : tensor<12x128x128xf16>
}

// A global average pool is a mean over the axis of all positions.
// CHECK-LABEL: graph.kernel @pool
// CHECK-SAME: #npu.schedule<"vector", {axes = array<i64: 49, 2048>, tiles = array<i64: 49, {{[0-9]+}}>
graph.kernel @pool "global_average_pool"(%x: tensor<1x7x7x2048xf16>) -> tensor<1x1x1x2048xf16> {
  %0 = graph.global_average_pool %x {layout = "NHWC"} : tensor<1x7x7x2048xf16> -> tensor<1x1x1x2048xf16>
  graph.yield %0 : tensor<1x1x1x2048xf16>
}

// CHECK-LABEL: graph.kernel @scalar
// CHECK-SAME: axes = array<i64>, tiles = array<i64>, blocks = 1 : i64
graph.kernel @scalar "exp"(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %0 = graph.exp %x : tensor<1x1xf32> -> tensor<1x1xf32>
  graph.yield %0 : tensor<1x1xf32>
}
