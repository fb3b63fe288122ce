// Vector instructions: text to text, also through the generic form.
//
// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

!row = memref<8x16xf32, #npu.space<ub>>

// CHECK-LABEL: func.func @unary
func.func @unary(%x: memref<8x16xf32, #npu.space<ub>>, %i: memref<8xi32, #npu.space<ub>>, %t: memref<8xf32, #npu.space<ub>>) {
  // CHECK:      npu.vabs ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  // CHECK-NEXT: npu.vexp
  // CHECK-NEXT: npu.vln
  // CHECK-NEXT: npu.vsqrt
  // CHECK-NEXT: npu.vrsqrt
  // CHECK-NEXT: npu.vrec ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%x : memref<8x16xf32, #npu.space<ub>>) temp(%t : memref<8xf32, #npu.space<ub>>)
  // CHECK-NEXT: npu.vrelu
  // CHECK-NEXT: npu.vnot ins(%i : memref<8xi32, #npu.space<ub>>) outs(%i : memref<8xi32, #npu.space<ub>>) {npu.note}
  npu.vabs ins(%x : !row) outs(%x : !row)
  npu.vexp ins(%x : !row) outs(%x : !row)
  npu.vln ins(%x : !row) outs(%x : !row)
  npu.vsqrt ins(%x : !row) outs(%x : !row)
  npu.vrsqrt ins(%x : !row) outs(%x : !row)
  npu.vrec ins(%x : !row) outs(%x : !row) temp(%t : memref<8xf32, #npu.space<ub>>)
  npu.vrelu ins(%x : !row) outs(%x : !row)
  npu.vnot ins(%i : memref<8xi32, #npu.space<ub>>) outs(%i : memref<8xi32, #npu.space<ub>>) {npu.note}
  func.return
}

// The right side may be a scalar; a size of 1 broadcasts on either side.
// CHECK-LABEL: func.func @binary
func.func @binary(%x: memref<8x16xf32, #npu.space<ub>>, %c: memref<8x1xf32, #npu.space<ub>>, %r: memref<1x16xf32, #npu.space<ub>>, %s: f32, %b: memref<8xi1, #npu.space<ub>>) {
  // CHECK:      npu.vadd ins(%x, %x : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  // CHECK-NEXT: npu.vsub ins(%x, %c : memref<8x16xf32, #npu.space<ub>>, memref<8x1xf32, #npu.space<ub>>)
  // CHECK-NEXT: npu.vmul ins(%c, %r : memref<8x1xf32, #npu.space<ub>>, memref<1x16xf32, #npu.space<ub>>)
  // CHECK-NEXT: npu.vdiv ins(%x, %s : memref<8x16xf32, #npu.space<ub>>, f32)
  // CHECK-NEXT: npu.vmax ins(%x, %s : memref<8x16xf32, #npu.space<ub>>, f32)
  // CHECK-NEXT: npu.vmin
  // CHECK-NEXT: npu.vand ins(%b, %b : memref<8xi1, #npu.space<ub>>, memref<8xi1, #npu.space<ub>>)
  // CHECK-NEXT: npu.vor
  npu.vadd ins(%x, %x : !row, !row) outs(%x : !row)
  npu.vsub ins(%x, %c : !row, memref<8x1xf32, #npu.space<ub>>) outs(%x : !row)
  npu.vmul ins(%c, %r : memref<8x1xf32, #npu.space<ub>>, memref<1x16xf32, #npu.space<ub>>) outs(%x : !row)
  npu.vdiv ins(%x, %s : !row, f32) outs(%x : !row)
  npu.vmax ins(%x, %s : !row, f32) outs(%x : !row)
  npu.vmin ins(%x, %x : !row, !row) outs(%x : !row)
  npu.vand ins(%b, %b : memref<8xi1, #npu.space<ub>>, memref<8xi1, #npu.space<ub>>) outs(%b : memref<8xi1, #npu.space<ub>>)
  npu.vor ins(%b, %b : memref<8xi1, #npu.space<ub>>, memref<8xi1, #npu.space<ub>>) outs(%b : memref<8xi1, #npu.space<ub>>)
  func.return
}

// CHECK-LABEL: func.func @other
func.func @other(%x: memref<8x16xf32, #npu.space<ub>>, %h: memref<8x16xf16, #npu.space<ub>>, %c: memref<8x1xf32, #npu.space<ub>>, %p: memref<8x16xi1, #npu.space<ub>>, %y: memref<16x8xf32, #npu.space<ub>>, %l: memref<16x16xf16, #npu.space<l1>>, %s: f32, %hs: f16) {
  // CHECK:      npu.vcast ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%h : memref<8x16xf16, #npu.space<ub>>)
  // CHECK-NEXT: npu.vcast round "floor" ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%h : memref<8x16xf16, #npu.space<ub>>)
  npu.vcast ins(%x : !row) outs(%h : memref<8x16xf16, #npu.space<ub>>)
  npu.vcast round "floor" ins(%x : !row) outs(%h : memref<8x16xf16, #npu.space<ub>>)

  // CHECK-NEXT: npu.vcmp "lt" ins(%x, %s : memref<8x16xf32, #npu.space<ub>>, f32) outs(%p : memref<8x16xi1, #npu.space<ub>>)
  // CHECK-NEXT: npu.vsel ins(%p, %x, %s : memref<8x16xi1, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>, f32) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  npu.vcmp "lt" ins(%x, %s : !row, f32) outs(%p : memref<8x16xi1, #npu.space<ub>>)
  npu.vsel ins(%p, %x, %s : memref<8x16xi1, #npu.space<ub>>, !row, f32) outs(%x : !row)

  // CHECK-NEXT: npu.vreduce "sum" ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%c : memref<8x1xf32, #npu.space<ub>>) dims [1] temp(%y : memref<16x8xf32, #npu.space<ub>>)
  npu.vreduce "sum" ins(%x : !row) outs(%c : memref<8x1xf32, #npu.space<ub>>) dims [1] temp(%y : memref<16x8xf32, #npu.space<ub>>)

  // CHECK-NEXT: npu.vbrc ins(%c : memref<8x1xf32, #npu.space<ub>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  // CHECK-NEXT: npu.vbrc ins(%s : f32) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  // CHECK-NEXT: npu.vbrc ins(%hs : f16) outs(%l : memref<16x16xf16, #npu.space<l1>>)
  npu.vbrc ins(%c : memref<8x1xf32, #npu.space<ub>>) outs(%x : !row)
  npu.vbrc ins(%s : f32) outs(%x : !row)
  npu.vbrc ins(%hs : f16) outs(%l : memref<16x16xf16, #npu.space<l1>>)

  // CHECK-NEXT: npu.vtranspose ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%y : memref<16x8xf32, #npu.space<ub>>) permutation [1, 0]
  npu.vtranspose ins(%x : !row) outs(%y : memref<16x8xf32, #npu.space<ub>>) permutation [1, 0]
  func.return
}
