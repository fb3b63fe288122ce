// The matrix product on l1 and on L0: text to text, also through the generic form.
//
// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @l1
func.func @l1(%a: memref<16x32xf16, #npu.space<l1>>, %b: memref<32x48xf16, #npu.space<l1>>, %bias: memref<48xf32, #npu.space<l1>>, %acc: memref<16x48xf32, #npu.space<l0c>>, %init: i1) {
  // CHECK: npu.mmad ins(%a, %b : memref<16x32xf16, #npu.space<l1>>, memref<32x48xf16, #npu.space<l1>>) init %init outs(%acc : memref<16x48xf32, #npu.space<l0c>>)
  npu.mmad ins(%a, %b : memref<16x32xf16, #npu.space<l1>>, memref<32x48xf16, #npu.space<l1>>) init %init outs(%acc : memref<16x48xf32, #npu.space<l0c>>)
  // CHECK-NEXT: npu.mmad ins(%a, %b : memref<16x32xf16, #npu.space<l1>>, memref<32x48xf16, #npu.space<l1>>) bias(%bias : memref<48xf32, #npu.space<l1>>) init %init outs(%acc : memref<16x48xf32, #npu.space<l0c>>) l0 [64] {npu.note = 1 : i64}
  // GENERIC: "npu.mmad"(%a, %b, %bias, %init, %acc) <{l0 = array<i64: 64>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> {npu.note = 1 : i64}
  npu.mmad ins(%a, %b : memref<16x32xf16, #npu.space<l1>>, memref<32x48xf16, #npu.space<l1>>) bias(%bias : memref<48xf32, #npu.space<l1>>) init %init outs(%acc : memref<16x48xf32, #npu.space<l0c>>) l0 [64] {npu.note = 1 : i64}
  func.return
}

// CHECK-LABEL: func.func @transposed
func.func @transposed(%a: memref<32x16xf16, #npu.space<l1>>, %b: memref<48x32xf16, #npu.space<l1>>, %acc: memref<16x48xf32, #npu.space<l0c>>, %init: i1) {
  // CHECK: npu.mmad a_transpose b_transpose ins(%a, %b :
  npu.mmad a_transpose b_transpose ins(%a, %b : memref<32x16xf16, #npu.space<l1>>, memref<48x32xf16, #npu.space<l1>>) init %init outs(%acc : memref<16x48xf32, #npu.space<l0c>>)
  func.return
}

// CHECK-LABEL: func.func @l0
func.func @l0(%a: memref<16x?xi8, strided<[64, 1]>, #npu.space<l0a>>, %b: memref<?x48xi8, #npu.space<l0b>>, %acc: memref<16x48xi32, #npu.space<l0c>>, %init: i1) {
  // CHECK: npu.mmad ins(%a, %b : memref<16x?xi8, strided<[64, 1]>, #npu.space<l0a>>, memref<?x48xi8, #npu.space<l0b>>) init %init outs(%acc : memref<16x48xi32, #npu.space<l0c>>)
  npu.mmad ins(%a, %b : memref<16x?xi8, strided<[64, 1]>, #npu.space<l0a>>, memref<?x48xi8, #npu.space<l0b>>) init %init outs(%acc : memref<16x48xi32, #npu.space<l0c>>)
  func.return
}

// CHECK-LABEL: func.func @types
func.func @types(%a: memref<16x32xf32, #npu.space<l1>>, %b: memref<32x48xf32, #npu.space<l1>>, %c: memref<16x32xbf16, #npu.space<l1>>, %d: memref<32x48xbf16, #npu.space<l1>>, %acc: memref<16x48xf32, #npu.space<l0c>>, %init: i1) {
  // CHECK:      npu.mmad ins(%a, %b
  // CHECK-NEXT: npu.mmad ins(%c, %d
  npu.mmad ins(%a, %b : memref<16x32xf32, #npu.space<l1>>, memref<32x48xf32, #npu.space<l1>>) init %init outs(%acc : memref<16x48xf32, #npu.space<l0c>>)
  npu.mmad ins(%c, %d : memref<16x32xbf16, #npu.space<l1>>, memref<32x48xbf16, #npu.space<l1>>) init %init outs(%acc : memref<16x48xf32, #npu.space<l0c>>)
  func.return
}
