// The family of a kernel follows from its operators; schedules are deterministic.
//
// RUN: fuse-opt %s -p "graph-schedule" | filecheck %s
// RUN: fuse-opt %s -p "graph-schedule,graph-schedule" | filecheck %s

// CHECK: builtin.module attributes {npu.target = "ascend910b3"}

// CHECK: graph.kernel @matmul "matmul_bias_residual_relu"
// CHECK-SAME: #npu.schedule<"cube", {rows = 1 : i64, m = {{[0-9]+}} : i64, n = {{[0-9]+}} : i64, k = {{[0-9]+}} : i64, l0_k = {{[0-9]+}} : i64, blocks = {{[0-9]+}} : i64, copies = 2 : i64}>
graph.kernel @matmul "matmul_bias_residual_relu"(%x: tensor<250x300xf32>, %w: tensor<300x200xf32>, %b: tensor<200xf32>, %r: tensor<250x200xf32>) -> tensor<250x200xf32> {
  %0 = graph.matmul %x, %w : (tensor<250x300xf32>, tensor<300x200xf32>) -> tensor<250x200xf32>
  %1 = graph.add %0, %b : (tensor<250x200xf32>, tensor<200xf32>) -> tensor<250x200xf32>
  %2 = graph.add %r, %1 : (tensor<250x200xf32>, tensor<250x200xf32>) -> tensor<250x200xf32>
  %3 = graph.relu %2 : tensor<250x200xf32> -> tensor<250x200xf32>
  graph.yield %3 : tensor<250x200xf32>
}

// Whole rows of the image make a tile.
// CHECK: graph.kernel @conv "conv"
// CHECK-SAME: #npu.schedule<"cube", {rows = 3 : i64, m = 56 : i64, n = 64 : i64, k = 64 : i64
graph.kernel @conv "conv"(%x: tensor<1x56x56x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"} : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32>
  graph.yield %0 : tensor<1x56x56x64xf32>
}

// What fixpipe cannot do goes to the vector cores.
// CHECK: graph.kernel @gelu "matmul_gelu"
// CHECK-SAME: #npu.schedule<"mixed", {{.*}}chunk = {{[0-9]+}} : i64
graph.kernel @gelu "matmul_gelu"(%x: tensor<128x768xf16>, %w: tensor<768x3072xf16>) -> tensor<128x3072xf16> {
  %0 = graph.matmul %x, %w : (tensor<128x768xf16>, tensor<768x3072xf16>) -> tensor<128x3072xf16>
  %1 = graph.gelu %0 : tensor<128x3072xf16> -> tensor<128x3072xf16>
  graph.yield %1 : tensor<128x3072xf16>
}

// So does a relu before the residual, and an output in the middle.
// CHECK: graph.kernel @order "matmul_relu_residual"
// CHECK-SAME: #npu.schedule<"mixed"
graph.kernel @order "matmul_relu_residual"(%x: tensor<64x32xf16>, %w: tensor<32x48xf16>, %r: tensor<64x48xf16>) -> tensor<64x48xf16>, tensor<64x48xf16> {
  %0 = graph.matmul %x, %w : (tensor<64x32xf16>, tensor<32x48xf16>) -> tensor<64x48xf16>
  %1 = graph.relu %0 : tensor<64x48xf16> -> tensor<64x48xf16>
  %2 = graph.add %1, %r : (tensor<64x48xf16>, tensor<64x48xf16>) -> tensor<64x48xf16>
  graph.yield %1, %2 : tensor<64x48xf16>, tensor<64x48xf16>
}

// CHECK: graph.kernel @softmax "softmax"
// CHECK-SAME: #npu.schedule<"vector", {axes = array<i64: 1536, 128>
graph.kernel @softmax "softmax"(%x: tensor<12x128x128xf32>) -> tensor<12x128x128xf32> {
  %0 = graph.softmax %x : tensor<12x128x128xf32> -> tensor<12x128x128xf32>
  graph.yield %0 : tensor<12x128x128xf32>
}
