// A result stored channels first beside a residual that is channels last: the product is transposed, and
// the residual's tile is loaded as it lies and transposed by the product with the identity.
//
// RUN: fuse-opt %s -p "graph-to-npu" | filecheck %s

func.func @main(%x: tensor<1x7x7x64xf32>, %w: tensor<1x1x64x40xf32>, %r: tensor<1x7x7x40xf32>) -> tensor<1x40x7x7xf32> {
  %0 = graph.call @turned(%x, %w, %r) : (tensor<1x7x7x64xf32>, tensor<1x1x64x40xf32>, tensor<1x7x7x40xf32>) -> tensor<1x40x7x7xf32>
  func.return %0 : tensor<1x40x7x7xf32>
}

// CHECK: func.func @turned(%x: {{.*}}, %w: {{.*}}, %r: {{.*}}, %const0: memref<49x49xf32, #npu.space<gm>>, %out: memref<1x40x7x7xf32, #npu.space<gm>>)
// CHECK: %identity = npu.alloc : memref<49x49xf32, #npu.space<l1>>
// CHECK: %acc = npu.alloc : memref<32x49xf32, #npu.space<l0c>>
// CHECK: npu.mmad a_transpose b_transpose
// CHECK: %add = npu.alloc : memref<49x32xf32, #npu.space<l1>>
// CHECK: [[R:%[0-9]+]] = memref.subview %add[0, 0] [49, [[M:%[0-9]+]]]
// CHECK: npu.mmad a_transpose ins([[R]], %identity
// CHECK-SAME: init %false
// CHECK: npu.fixpipe relu
graph.kernel @turned "conv_residual_relu"(%x: tensor<1x7x7x64xf32>, %w: tensor<1x1x64x40xf32>, %r: tensor<1x7x7x40xf32>) -> tensor<1x40x7x7xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1, m = 32, n = 49, k = 64, l0_k = 64, blocks = 2, copies = 2}>} {
  %0 = graph.conv %x, %w {x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC", strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x7x7x64xf32>, tensor<1x1x64x40xf32>) -> tensor<1x7x7x40xf32>
  %1 = graph.add %0, %r : (tensor<1x7x7x40xf32>, tensor<1x7x7x40xf32>) -> tensor<1x7x7x40xf32>
  %2 = graph.relu %1 : tensor<1x7x7x40xf32> -> tensor<1x7x7x40xf32>
  %3 = graph.transpose %2 {perm = [0, 3, 1, 2]} : tensor<1x7x7x40xf32> -> tensor<1x40x7x7xf32>
  graph.yield %3 : tensor<1x40x7x7xf32>
}
