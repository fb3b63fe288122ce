// RUN: fuse-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s

// CHECK: npu.alloc: a buffer has a static capacity; work on a sub-view for dynamic sizes
func.func @dynamic() {
  %0 = npu.alloc : memref<?x16xf32, #npu.space<ub>>
  func.return
}

// -----

// CHECK: npu.alloc: a buffer is contiguous: padding belongs to its sizes, steps to views
func.func @steps() {
  %0 = npu.alloc : memref<8x16xf32, strided<[32, 1]>, #npu.space<ub>>
  func.return
}

// -----

// CHECK: no buffer holds elements of type tensor<2xf32>
func.func @no_size() {
  %0 = npu.alloc : memref<8xtensor<2xf32>, #npu.space<ub>>
  func.return
}

// -----

// CHECK: npu.alloc: the address is negative
func.func @negative() {
  %0 = npu.alloc at -32 : memref<8x16xf32, #npu.space<ub>>
  func.return
}

// -----

// CHECK: npu.alloc: a buffer has at least one copy
func.func @no_copy() {
  %0 = npu.alloc copies 0 : memref<8x16xf32, #npu.space<ub>>
  func.return
}

// -----

// CHECK: npu.load: source must be in gm, found ub
func.func @load_from_ub(%x: memref<8xf32, #npu.space<ub>>) {
  npu.load ins(%x : memref<8xf32, #npu.space<ub>>) outs(%x : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.load: destination must be in ub or l1, found l0a
func.func @load_to_l0(%x: memref<8x8xf32, #npu.space<gm>>, %y: memref<8x8xf32, #npu.space<l0a>>) {
  npu.load ins(%x : memref<8x8xf32, #npu.space<gm>>) outs(%y : memref<8x8xf32, #npu.space<l0a>>)
  func.return
}

// -----

// CHECK: npu.load: shapes [8, 16] and [8, 8] differ
func.func @load_shape(%x: memref<8x16xf32, #npu.space<gm>>, %y: memref<8x8xf32, #npu.space<ub>>) {
  npu.load ins(%x : memref<8x16xf32, #npu.space<gm>>) outs(%y : memref<8x8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.load: shapes [8] and [8, 1] differ
func.func @load_rank(%x: memref<8xf32, #npu.space<gm>>, %y: memref<8x1xf32, #npu.space<ub>>) {
  npu.load ins(%x : memref<8xf32, #npu.space<gm>>) outs(%y : memref<8x1xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.load: element types differ; only fixpipe and vcast convert
func.func @load_type(%x: memref<8xf16, #npu.space<gm>>, %y: memref<8xf32, #npu.space<ub>>) {
  npu.load ins(%x : memref<8xf16, #npu.space<gm>>) outs(%y : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.store: source must be in ub, found l1
func.func @store_from_l1(%x: memref<8xf32, #npu.space<l1>>, %y: memref<8xf32, #npu.space<gm>>) {
  npu.store ins(%x : memref<8xf32, #npu.space<l1>>) outs(%y : memref<8xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.store: destination must be in gm, found ub
func.func @store_to_ub(%x: memref<8xf32, #npu.space<ub>>) {
  npu.store ins(%x : memref<8xf32, #npu.space<ub>>) outs(%x : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.copy: source must be in l1 or ub, found gm
func.func @copy_from_gm(%x: memref<8x8xf32, #npu.space<gm>>, %y: memref<8x8xf32, #npu.space<ub>>) {
  npu.copy ins(%x : memref<8x8xf32, #npu.space<gm>>) outs(%y : memref<8x8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.copy: destination must be in l0a or l0b, found ub
func.func @copy_l1_to_ub(%x: memref<8x8xf32, #npu.space<l1>>, %y: memref<8x8xf32, #npu.space<ub>>) {
  npu.copy ins(%x : memref<8x8xf32, #npu.space<l1>>) outs(%y : memref<8x8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.copy: destination must be in ub, found l0a
func.func @copy_ub_to_l0(%x: memref<8x8xf32, #npu.space<ub>>, %y: memref<8x8xf32, #npu.space<l0a>>) {
  npu.copy ins(%x : memref<8x8xf32, #npu.space<ub>>) outs(%y : memref<8x8xf32, #npu.space<l0a>>)
  func.return
}

// -----

// CHECK: npu.copy: in ub use npu.vtranspose
func.func @copy_transpose_ub(%x: memref<8x8xf32, #npu.space<ub>>, %y: memref<8x8xf32, #npu.space<ub>>) {
  npu.copy transpose ins(%x : memref<8x8xf32, #npu.space<ub>>) outs(%y : memref<8x8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.copy: [16, 32] transposed is not [16, 32]
func.func @copy_transpose_shape(%x: memref<16x32xf16, #npu.space<l1>>, %y: memref<16x32xf16, #npu.space<l0b>>) {
  npu.copy transpose ins(%x : memref<16x32xf16, #npu.space<l1>>) outs(%y : memref<16x32xf16, #npu.space<l0b>>)
  func.return
}

// -----

// CHECK: npu.copy: only a matrix is transposed on the way to L0
func.func @copy_transpose_rank(%x: memref<2x16x16xf16, #npu.space<l1>>, %y: memref<16x16x2xf16, #npu.space<l0b>>) {
  npu.copy transpose ins(%x : memref<2x16x16xf16, #npu.space<l1>>) outs(%y : memref<16x16x2xf16, #npu.space<l0b>>)
  func.return
}

// -----

// CHECK: npu.copy: element types differ; only fixpipe and vcast convert
func.func @copy_transpose_type(%x: memref<16x32xf16, #npu.space<l1>>, %y: memref<32x16xf32, #npu.space<l0b>>) {
  npu.copy transpose ins(%x : memref<16x32xf16, #npu.space<l1>>) outs(%y : memref<32x16xf32, #npu.space<l0b>>)
  func.return
}

// -----

// CHECK: npu.fixpipe: source must be in l0c, found ub
func.func @fixpipe_from_ub(%x: memref<8x8xf32, #npu.space<ub>>, %y: memref<8x8xf32, #npu.space<gm>>) {
  npu.fixpipe ins(%x : memref<8x8xf32, #npu.space<ub>>) outs(%y : memref<8x8xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.fixpipe: destination must be in gm, found ub
func.func @fixpipe_to_ub(%x: memref<8x8xf32, #npu.space<l0c>>, %y: memref<8x8xf32, #npu.space<ub>>) {
  npu.fixpipe ins(%x : memref<8x8xf32, #npu.space<l0c>>) outs(%y : memref<8x8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.fixpipe: shapes [8, 8] and [8, 16] differ
func.func @fixpipe_shape(%x: memref<8x8xf32, #npu.space<l0c>>, %y: memref<8x16xf32, #npu.space<gm>>) {
  npu.fixpipe ins(%x : memref<8x8xf32, #npu.space<l0c>>) outs(%y : memref<8x16xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.fixpipe: no conversion of i32 to f16
func.func @fixpipe_cast(%x: memref<8x8xi32, #npu.space<l0c>>, %y: memref<8x8xf16, #npu.space<gm>>) {
  npu.fixpipe ins(%x : memref<8x8xi32, #npu.space<l0c>>) outs(%y : memref<8x8xf16, #npu.space<gm>>)
  func.return
}
