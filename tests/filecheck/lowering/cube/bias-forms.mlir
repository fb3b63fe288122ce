// A bias in 16 bits, or beside a transposed operand, is a product with ones: mmad's own bias operand
// is f32 only and loses transpositions.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

// CHECK: func.func @main
// CHECK-SAME: npu.weight = "constant.ones_[[M:[0-9]+]]_f16"
// CHECK-SAME: npu.weight = "constant.ones_times_0.5_{{[0-9]+}}_f32"
func.func @main(%x: tensor<64x96xf16>, %y: tensor<33x70xf32>) -> (tensor<64x48xf16>, tensor<33x20xf32>) {
  %w = graph.weight "w" : tensor<96x48xf16>
  %b = graph.weight "b" : tensor<48xf16>
  %0 = graph.call @half(%x, %w, %b) : (tensor<64x96xf16>, tensor<96x48xf16>, tensor<48xf16>) -> tensor<64x48xf16>
  %v = graph.weight "v" : tensor<20x70xf32>
  %c = graph.weight "c" : tensor<20xf32>
  %1 = graph.call @gemm(%y, %v, %c) : (tensor<33x70xf32>, tensor<20x70xf32>, tensor<20xf32>) -> tensor<33x20xf32>
  func.return %0, %1 : tensor<64x48xf16>, tensor<33x20xf32>
}

// CHECK: func.func @half
// CHECK-SAME: %const0: memref<1x[[M]]xf16, #npu.space<gm>>
// CHECK: npu.mmad ins
// CHECK: npu.mmad a_transpose ins(%ones, 
// CHECK-SAME: init %false
graph.kernel @half "matmul_bias"(%x: tensor<64x96xf16>, %w: tensor<96x48xf16>, %b: tensor<48xf16>) -> tensor<64x48xf16> {
  %0 = graph.matmul %x, %w : (tensor<64x96xf16>, tensor<96x48xf16>) -> tensor<64x48xf16>
  %1 = graph.add %0, %b : (tensor<64x48xf16>, tensor<48xf16>) -> tensor<64x48xf16>
  graph.yield %1 : tensor<64x48xf16>
}

// CHECK: func.func @gemm
// CHECK: npu.mmad b_transpose ins
// CHECK-NOT: bias(
// CHECK: npu.mmad a_transpose ins
graph.kernel @gemm "gemm"(%x: tensor<33x70xf32>, %w: tensor<20x70xf32>, %b: tensor<20xf32>) -> tensor<33x20xf32> {
  %0 = graph.gemm %x, %w, %b {trans_b = true, beta = 0.5} : (tensor<33x70xf32>, tensor<20x70xf32>, tensor<20xf32>) -> tensor<33x20xf32>
  graph.yield %0 : tensor<33x20xf32>
}

// CHECK: func.func @weights() -> (tensor<1x[[M]]xf16> {graph.name = "constant.ones_[[M]]_f16"}
