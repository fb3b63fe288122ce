// RUN: fuse-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s

// CHECK: npu.mmad: a must be in l1 or l0a, found ub
func.func @a_in_ub(%a: memref<16x16xf16, #npu.space<ub>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<ub>>, memref<16x16xf16, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: b must be in l1, found l0b
func.func @mixed_memories(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l0b>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l0b>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: b must be in l0b, found l0a
func.func @b_in_l0a(%a: memref<16x16xf16, #npu.space<l0a>>, %b: memref<16x16xf16, #npu.space<l0a>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l0a>>, memref<16x16xf16, #npu.space<l0a>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: accumulator must be in l0c, found ub
func.func @acc_in_ub(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<ub>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.mmad: operands and accumulator are matrices
func.func @rank(%a: memref<2x16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<2x16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: 16x32 times 16x16 does not fit an accumulator of 16x16
func.func @inner(%a: memref<16x32xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x32xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: 32x16 times 16x16 does not fit an accumulator of 16x16
func.func @a_transposed(%a: memref<16x32xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad a_transpose ins(%a, %b : memref<16x32xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: 16x32 times 32x48 does not fit an accumulator of 16x32
func.func @columns(%a: memref<16x32xf16, #npu.space<l1>>, %b: memref<48x32xf16, #npu.space<l1>>, %acc: memref<16x32xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad b_transpose ins(%a, %b : memref<16x32xf16, #npu.space<l1>>, memref<48x32xf16, #npu.space<l1>>) init %i outs(%acc : memref<16x32xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: no instruction multiplies f16 by f32 into f32; it takes f16, bf16 and f32 into f32, i8 into i32
func.func @two_types(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf32, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf32, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: no instruction multiplies f16 by f16 into f16
func.func @narrow_acc(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf16, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf16, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: no instruction multiplies i32 by i32 into i32
func.func @ints(%a: memref<16x16xi32, #npu.space<l1>>, %b: memref<16x16xi32, #npu.space<l1>>, %acc: memref<16x16xi32, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x16xi32, #npu.space<l1>>, memref<16x16xi32, #npu.space<l1>>) init %i outs(%acc : memref<16x16xi32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: bias must be in l1, found ub
func.func @bias_in_ub(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1, %bias: memref<16xf32, #npu.space<ub>>) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) bias(%bias : memref<16xf32, #npu.space<ub>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: the bias is a vector of N = 16 values, found (1, 16)
func.func @bias_rank(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1, %bias: memref<1x16xf32, #npu.space<l1>>) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) bias(%bias : memref<1x16xf32, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: the bias is a vector of N = 16 values, found (32,)
func.func @bias_size(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1, %bias: memref<32xf32, #npu.space<l1>>) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) bias(%bias : memref<32xf32, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: the bias has the accumulator's type f32
func.func @bias_type(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1, %bias: memref<16xf16, #npu.space<l1>>) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) bias(%bias : memref<16xf16, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: a transposed operand together with a bias is silently not transposed
func.func @bias_transposed(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1, %bias: memref<16xf32, #npu.space<l1>>) {
  npu.mmad b_transpose ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) bias(%bias : memref<16xf32, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.mmad: `l0` is for operands in l1
func.func @l0_on_l0(%a: memref<16x16xf16, #npu.space<l0a>>, %b: memref<16x16xf16, #npu.space<l0b>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l0a>>, memref<16x16xf16, #npu.space<l0b>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>) l0 [16]
  func.return
}

// -----

// CHECK: npu.mmad: `l0 [k]` is one positive step in K, found [16, 16]
func.func @l0_two(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>) l0 [16, 16]
  func.return
}

// -----

// CHECK: npu.mmad: `l0 [k]` is one positive step in K, found [0]
func.func @l0_zero(%a: memref<16x16xf16, #npu.space<l1>>, %b: memref<16x16xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>, %i: i1) {
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) init %i outs(%acc : memref<16x16xf32, #npu.space<l0c>>) l0 [0]
  func.return
}
