// Contractions with few rows: the vector cores take them where that takes less time, and several in
// one kernel, whose hidden units share a dimension of the tiles with the pixels of the map.
//
// RUN: fuse-opt %s -p "graph-schedule" --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: graph.kernel @squeeze_excite
// CHECK-SAME: #npu.schedule<"vector", {axes = array<i64: 49, 480, 20, 480>, tiles = array<i64: {{[0-9]+}}, 480, {{[0-9]+}}, 480>, blocks = {{[0-9]+}} : i64
graph.kernel @squeeze_excite "se"(%p: tensor<1x1x1x480xf32>, %v: tensor<20x480x1x1xf32>, %w: tensor<1x1x20x480xf32>, %m: tensor<1x7x7x480xf32>) -> tensor<1x7x7x480xf32> {
  %0 = graph.conv %p, %v {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1, x_layout = "NHWC", w_layout = "OIHW", y_layout = "NHWC"} : (tensor<1x1x1x480xf32>, tensor<20x480x1x1xf32>) -> tensor<1x1x1x20xf32>
  %1 = graph.relu %0 : tensor<1x1x1x20xf32> -> tensor<1x1x1x20xf32>
  %2 = graph.conv %1, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x1x1x20xf32>, tensor<1x1x20x480xf32>) -> tensor<1x1x1x480xf32>
  %3 = graph.sigmoid %2 : tensor<1x1x1x480xf32> -> tensor<1x1x1x480xf32>
  %4 = graph.mul %m, %3 : (tensor<1x7x7x480xf32>, tensor<1x1x1x480xf32>) -> tensor<1x7x7x480xf32>
  graph.yield %4 : tensor<1x7x7x480xf32>
}

// -----

// A single row with an activation, mixed before: no cube core waits for a vector core.
// CHECK-LABEL: graph.kernel @row
// CHECK-SAME: #npu.schedule<"vector"
graph.kernel @row "matmul_sigmoid"(%x: tensor<1x96xf32>, %w: tensor<96x24xf32>) -> tensor<1x24xf32> {
  %0 = graph.matmul %x, %w : (tensor<1x96xf32>, tensor<96x24xf32>) -> tensor<1x24xf32>
  %1 = graph.sigmoid %0 : tensor<1x24xf32> -> tensor<1x24xf32>
  graph.yield %1 : tensor<1x24xf32>
}

// -----

// More rows than half a fractal are left to the cube.
// CHECK-LABEL: graph.kernel @rows
// CHECK-SAME: #npu.schedule<"cube"
graph.kernel @rows "matmul"(%x: tensor<9x96xf32>, %w: tensor<96x24xf32>) -> tensor<9x24xf32> {
  %0 = graph.matmul %x, %w : (tensor<9x96xf32>, tensor<96x24xf32>) -> tensor<9x24xf32>
  graph.yield %0 : tensor<9x24xf32>
}

// -----

// One core would do all of them.
// CHECK: @chain ("gemm_gemm") cannot be built for ascend910b3: contraction-size: {{.*}}'graph.gemm'{{.*}} has 360000 weights; one vector core would do them all, so contractions share a kernel up to 262144; fuse less around it
graph.kernel @chain "gemm_gemm"(%x: tensor<1x600xf32>, %v: tensor<600x600xf32>, %w: tensor<600x600xf32>) -> tensor<1x600xf32> {
  %0 = graph.gemm %x, %v : (tensor<1x600xf32>, tensor<600x600xf32>) -> tensor<1x600xf32>
  %1 = graph.gemm %0, %w : (tensor<1x600xf32>, tensor<600x600xf32>) -> tensor<1x600xf32>
  graph.yield %1 : tensor<1x600xf32>
}

// -----

// The vector cores have no integer products.
// CHECK: @integers ("matmul_matmul") cannot be built for ascend910b3: type: {{.*}}'graph.matmul'{{.*}} on i32
graph.kernel @integers "matmul_matmul"(%x: tensor<1x6xi32>, %v: tensor<6x6xi32>, %w: tensor<6x6xi32>) -> tensor<1x6xi32> {
  %0 = graph.matmul %x, %v : (tensor<1x6xi32>, tensor<6x6xi32>) -> tensor<1x6xi32>
  %1 = graph.matmul %0, %w : (tensor<1x6xi32>, tensor<6x6xi32>) -> tensor<1x6xi32>
  graph.yield %1 : tensor<1x6xi32>
}
