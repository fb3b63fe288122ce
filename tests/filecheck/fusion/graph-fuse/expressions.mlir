// RUN: fuse-opt %s -p 'graph-fuse{strategy=patterns objective=kernels}' --split-input-file | filecheck %s

// Few rows: the vector cores do both products.
// CHECK-LABEL: func.func @both_products
// CHECK: graph.fused "swiglu"(
// CHECK-NOT: graph.fused
// CHECK: func.return
func.func @both_products(%x: tensor<4x32xf32>) -> tensor<4x24xf32> {
  %w = graph.weight "w" : tensor<32x24xf32>
  %v = graph.weight "v" : tensor<32x24xf32>
  %0 = graph.matmul %x, %w : (tensor<4x32xf32>, tensor<32x24xf32>) -> tensor<4x24xf32>
  %1 = graph.matmul %x, %v : (tensor<4x32xf32>, tensor<32x24xf32>) -> tensor<4x24xf32>
  %2 = graph.swish %0 : tensor<4x24xf32> -> tensor<4x24xf32>
  %3 = graph.mul %2, %1 : (tensor<4x24xf32>, tensor<4x24xf32>) -> tensor<4x24xf32>
  func.return %3 : tensor<4x24xf32>
}

// -----

// CHECK-LABEL: func.func @halves
// CHECK: graph.fused "halves_geglu"(
func.func @halves(%x: tensor<48x48xf32>) -> tensor<48x24xf32> {
  %0 = graph.slice %x {starts = [0], ends = [24], axes = [1], steps = [1]} : tensor<48x48xf32> -> tensor<48x24xf32>
  %1 = graph.slice %x {starts = [24], ends = [48], axes = [1], steps = [1]} : tensor<48x48xf32> -> tensor<48x24xf32>
  %2 = graph.gelu %1 : tensor<48x24xf32> -> tensor<48x24xf32>
  %3 = graph.mul %0, %2 : (tensor<48x24xf32>, tensor<48x24xf32>) -> tensor<48x24xf32>
  func.return %3 : tensor<48x24xf32>
}

// -----

// The same half twice is no gate.
// CHECK-LABEL: func.func @one_half
// CHECK-NOT: halves
func.func @one_half(%x: tensor<48x48xf32>) -> tensor<48x24xf32> {
  %0 = graph.slice %x {starts = [0], ends = [24], axes = [1], steps = [1]} : tensor<48x48xf32> -> tensor<48x24xf32>
  %1 = graph.slice %x {starts = [0], ends = [24], axes = [1], steps = [1]} : tensor<48x48xf32> -> tensor<48x24xf32>
  %2 = graph.gelu %1 : tensor<48x24xf32> -> tensor<48x24xf32>
  %3 = graph.mul %0, %2 : (tensor<48x24xf32>, tensor<48x24xf32>) -> tensor<48x24xf32>
  func.return %3 : tensor<48x24xf32>
}

// -----

// The velocity leaves too.
// CHECK-LABEL: func.func @momentum
// CHECK: %{{.*}}, %{{.*}} = graph.fused "momentum"(
func.func @momentum(%w: tensor<64x32xf32>, %g: tensor<64x32xf32>, %v: tensor<64x32xf32>, %rate: tensor<f32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %c = graph.constant dense<0.9> : tensor<f32>
  %0 = graph.mul %v, %c : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %1 = graph.add %0, %g : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = graph.mul %1, %rate : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %3 = graph.sub %w, %2 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  func.return %3, %1 : tensor<64x32xf32>, tensor<64x32xf32>
}

// -----

// What goes on inside of the network is no update of its weights.
// CHECK-LABEL: func.func @no_update
// CHECK-NOT: "sgd"
func.func @no_update(%w: tensor<64x32xf32>, %g: tensor<64x32xf32>, %rate: tensor<f32>) -> tensor<64x32xf32> {
  %0 = graph.mul %g, %rate : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %1 = graph.sub %w, %0 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = graph.exp %1 : tensor<64x32xf32> -> tensor<64x32xf32>
  func.return %2 : tensor<64x32xf32>
}

// -----

// CHECK-LABEL: func.func @group_norm
// CHECK: graph.fused "residual_group_norm_affine_silu"(
// CHECK-NOT: graph.fused
// CHECK: func.return
func.func @group_norm(%x: tensor<2x16x8x8xf16>, %r: tensor<2x16x8x8xf16>) -> tensor<2x16x8x8xf16> {
  %s = graph.weight "s" : tensor<16xf16>
  %b = graph.weight "b" : tensor<16xf16>
  %0 = graph.add %x, %r : (tensor<2x16x8x8xf16>, tensor<2x16x8x8xf16>) -> tensor<2x16x8x8xf16>
  %1 = graph.group_normalization %0, %s, %b {num_groups = 4} : (tensor<2x16x8x8xf16>, tensor<16xf16>, tensor<16xf16>) -> tensor<2x16x8x8xf16>
  %2 = graph.swish %1 : tensor<2x16x8x8xf16> -> tensor<2x16x8x8xf16>
  func.return %2 : tensor<2x16x8x8xf16>
}

// -----

// As many groups as channels.
// CHECK-LABEL: func.func @instance_norm
// CHECK: graph.fused "instance_norm"(
func.func @instance_norm(%x: tensor<2x16x8x8xf32>) -> tensor<2x16x8x8xf32> {
  %s = graph.constant dense<1.0> : tensor<f32>
  %b = graph.constant dense<0.0> : tensor<f32>
  %1 = graph.group_normalization %x, %s, %b {num_groups = 16} : (tensor<2x16x8x8xf32>, tensor<f32>, tensor<f32>) -> tensor<2x16x8x8xf32>
  func.return %1 : tensor<2x16x8x8xf32>
}

// -----

// CHECK-LABEL: func.func @integers
// CHECK: graph.fused "matmul_integer_rescale_bias_relu_quant"(
// CHECK-NOT: graph.fused
// CHECK: func.return
func.func @integers(%x: tensor<48x64xi8>) -> tensor<48x32xi8> {
  %w = graph.weight "w" : tensor<64x32xi8>
  %t = graph.weight "t" : tensor<32xf32>
  %b = graph.weight "b" : tensor<32xf32>
  %s = graph.constant dense<0.25> : tensor<f32>
  %0 = graph.matmul_integer %x, %w : (tensor<48x64xi8>, tensor<64x32xi8>) -> tensor<48x32xi32>
  %1 = graph.cast %0 {to = f32} : tensor<48x32xi32> -> tensor<48x32xf32>
  %2 = graph.mul %1, %t : (tensor<48x32xf32>, tensor<32xf32>) -> tensor<48x32xf32>
  %3 = graph.add %2, %b : (tensor<48x32xf32>, tensor<32xf32>) -> tensor<48x32xf32>
  %4 = graph.relu %3 : tensor<48x32xf32> -> tensor<48x32xf32>
  %5 = graph.div %4, %s : (tensor<48x32xf32>, tensor<f32>) -> tensor<48x32xf32>
  %6 = graph.round %5 : tensor<48x32xf32> -> tensor<48x32xf32>
  %7 = graph.clip %6 {min = -128.0, max = 127.0} : tensor<48x32xf32> -> tensor<48x32xf32>
  %8 = graph.cast %7 {to = i8} : tensor<48x32xf32> -> tensor<48x32xi8>
  func.return %8 : tensor<48x32xi8>
}

// -----

// Each element moves once; where a kernel behind can move them on its way, it does.
// CHECK-LABEL: func.func @moves
// CHECK: graph.fused "slice_transpose"(
func.func @moves(%x: tensor<8x12xf32>) -> tensor<12x6xf32> {
  %0 = graph.slice %x {starts = [1], ends = [7], axes = [0], steps = [1]} : tensor<8x12xf32> -> tensor<6x12xf32>
  %1 = graph.transpose %0 {perm = [1, 0]} : tensor<6x12xf32> -> tensor<12x6xf32>
  func.return %1 : tensor<12x6xf32>
}

// -----

// CHECK-LABEL: func.func @on_the_way
// CHECK-NOT: "slice_transpose"
func.func @on_the_way(%x: tensor<8x12xf32>) -> tensor<12x6xf32> {
  %0 = graph.slice %x {starts = [1], ends = [7], axes = [0], steps = [1]} : tensor<8x12xf32> -> tensor<6x12xf32>
  %1 = graph.transpose %0 {perm = [1, 0]} : tensor<6x12xf32> -> tensor<12x6xf32>
  %2 = graph.exp %1 : tensor<12x6xf32> -> tensor<12x6xf32>
  func.return %2 : tensor<12x6xf32>
}

// -----

// A pad that is not yet the convolution's own becomes it; a pad by other numbers cannot.
// CHECK-LABEL: func.func @padded
// CHECK: graph.fused "pad_conv_relu"(
// CHECK-NOT: graph.pad
// CHECK: graph.conv %{{.*}}, %{{.*}} {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]}
func.func @padded(%x: tensor<1x16x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = graph.weight "w" : tensor<32x16x3x3xf32>
  %0 = graph.pad %x {pads = [0, 0, 1, 1, 0, 0, 1, 1], value = 0.0} : tensor<1x16x8x8xf32> -> tensor<1x16x10x10xf32>
  %1 = graph.conv %0, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x16x10x10xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
  %2 = graph.relu %1 : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32>
  func.return %2 : tensor<1x32x8x8xf32>
}

// -----

// CHECK-LABEL: func.func @padded_by_ones
// CHECK: graph.fused "pad"(
// CHECK: graph.fused "conv_relu"(
func.func @padded_by_ones(%x: tensor<1x16x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = graph.weight "w" : tensor<32x16x3x3xf32>
  %0 = graph.pad %x {pads = [0, 0, 1, 1, 0, 0, 1, 1], value = 1.0} : tensor<1x16x8x8xf32> -> tensor<1x16x10x10xf32>
  %1 = graph.conv %0, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x16x10x10xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
  %2 = graph.relu %1 : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32>
  func.return %2 : tensor<1x32x8x8xf32>
}
