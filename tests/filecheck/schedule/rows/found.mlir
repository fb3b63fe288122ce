// A block takes all columns of its lines where rows are needed whole, a part of them where there are
// fewer tiles of lines than cores; both cores of a pair have lines to compute.
//
// RUN: fuse-opt %s -p "graph-schedule" | filecheck %s

// CHECK: @norm_product
// CHECK-SAME: #npu.schedule<"rows", {
// CHECK-SAME: span = 192 : i64, lead = 16 : i64, chunk = 0 : i64}>
graph.kernel @norm_product "layer_normalization_matmul"(%x: tensor<128x768xf32>, %g: tensor<768xf32>, %w: tensor<768x768xf32>) -> tensor<128x768xf32> {
  %0 = graph.layer_normalization %x, %g, %g {epsilon = 1.0e-05} : (tensor<128x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<128x768xf32>
  %1 = graph.matmul %0, %w : (tensor<128x768xf32>, tensor<768x768xf32>) -> tensor<128x768xf32>
  graph.yield %1 : tensor<128x768xf32>
}

// CHECK: @product_norm
// CHECK-SAME: #npu.schedule<"rows", {
// CHECK-SAME: span = 768 : i64, lead = 0 : i64, chunk = 8 : i64}>
graph.kernel @product_norm "matmul_layer_normalization"(%x: tensor<128x768xf32>, %w: tensor<768x768xf32>, %g: tensor<768xf32>) -> tensor<128x768xf32> {
  %0 = graph.matmul %x, %w : (tensor<128x768xf32>, tensor<768x768xf32>) -> tensor<128x768xf32>
  %1 = graph.layer_normalization %0, %g, %g {epsilon = 1.0e-05} : (tensor<128x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<128x768xf32>
  graph.yield %1 : tensor<128x768xf32>
}

// A row that fits one tile needs no kernel of this family.
// CHECK: @narrow
// CHECK-SAME: #npu.schedule<"mixed", {
graph.kernel @narrow "matmul_layer_normalization"(%x: tensor<128x768xf32>, %w: tensor<768x64xf32>, %g: tensor<64xf32>) -> tensor<128x64xf32> {
  %0 = graph.matmul %x, %w : (tensor<128x768xf32>, tensor<768x64xf32>) -> tensor<128x64xf32>
  %1 = graph.layer_normalization %0, %g, %g {epsilon = 1.0e-05} : (tensor<128x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<128x64xf32>
  graph.yield %1 : tensor<128x64xf32>
}
