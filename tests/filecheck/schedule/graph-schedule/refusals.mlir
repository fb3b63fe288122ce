// Kernels that no family takes: the pass names the kernel, the reason and what to do.
//
// RUN: fuse-opt %s -p "graph-schedule" --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'graph.kernel' @k ("matmul") cannot be built for ascend910b3: dynamic-shape: tensor<?x70xf32{{.*}} fix them with --shape NAME=AxB
graph.kernel @k "matmul"(%x: tensor<?x90xf32>, %w: tensor<90x70xf32>) -> tensor<?x70xf32> {
  %0 = graph.matmul %x, %w : (tensor<?x90xf32>, tensor<90x70xf32>) -> tensor<?x70xf32>
  graph.yield %0 : tensor<?x70xf32>
}

// -----

// CHECK: type: graph.matmul on i32 has no cube kernel here, only on f32, f16, bf16; cast its operands
graph.kernel @k "matmul"(%x: tensor<80x90xi32>, %w: tensor<90x70xi32>) -> tensor<80x70xi32> {
  %0 = graph.matmul %x, %w : (tensor<80x90xi32>, tensor<90x70xi32>) -> tensor<80x70xi32>
  graph.yield %0 : tensor<80x70xi32>
}

// -----

// CHECK: contraction-count: a kernel has one contraction, or several that read the same left operand; graph.matmul reads what another one computes
graph.kernel @k "two"(%x: tensor<80x80xf32>, %w: tensor<80x80xf32>) -> tensor<80x80xf32> {
  %0 = graph.matmul %x, %w : (tensor<80x80xf32>, tensor<80x80xf32>) -> tensor<80x80xf32>
  %1 = graph.matmul %0, %w : (tensor<80x80xf32>, tensor<80x80xf32>) -> tensor<80x80xf32>
  graph.yield %1 : tensor<80x80xf32>
}

// -----

// CHECK: operand-computed: {{.*}} it is not the operand with the rows of the product
graph.kernel @k "exp_matmul"(%x: tensor<80x80xf32>, %w: tensor<80x80xf32>) -> tensor<80x80xf32> {
  %0 = graph.exp %w : tensor<80x80xf32> -> tensor<80x80xf32>
  %1 = graph.matmul %x, %0 : (tensor<80x80xf32>, tensor<80x80xf32>) -> tensor<80x80xf32>
  graph.yield %1 : tensor<80x80xf32>
}

// -----

// Every second column of an operand: neither rows nor columns of a tile are neighbours in gm.
// CHECK: operand-stride: an operand has unit stride on none of the axes of a tile; make its view a copy
graph.kernel @k "slice_matmul"(%x: tensor<80x160xf32>, %w: tensor<80x80xf32>) -> tensor<80x80xf32> {
  %0 = graph.slice %x {starts = [0], ends = [160], axes = [1], steps = [2]} : tensor<80x160xf32> -> tensor<80x80xf32>
  %1 = graph.matmul %0, %w : (tensor<80x80xf32>, tensor<80x80xf32>) -> tensor<80x80xf32>
  graph.yield %1 : tensor<80x80xf32>
}

// -----

// CHECK: channels-first-window: a padded convolution that stores its channels first {{.*}} run graph-assign-layout
graph.kernel @k "conv"(%x: tensor<1x8x9x9xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x9x9xf32> {
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<1x8x9x9xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x9x9xf32>
  graph.yield %0 : tensor<1x8x9x9xf32>
}
