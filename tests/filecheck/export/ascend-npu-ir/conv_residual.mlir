// A padded convolution: a tile is filled with zeros, then rows are loaded to where they belong. The
// residual is a product with the identity.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s

// CHECK:      // conv_residual: route opt
// CHECK:        scf.for %kh = %c0 to %c3 step %c1 {
// CHECK:            %a = memref.alloc() : memref<28x32xf16, #hivm.address_space<cbuf>>
// CHECK-NEXT:       hivm.hir.vbrc ins(%zero : f16) outs(%a : memref<28x32xf16, #hivm.address_space<cbuf>>)
// CHECK:            scf.for %r = %low to %high step %c1 {
// CHECK:              %to = memref.subview %a[%line, 0] [%n, 32] [1, 1] : memref<28x32xf16, #hivm.address_space<cbuf>> to memref<?x32xf16, strided<[32, 1], offset: ?>, #hivm.address_space<cbuf>>
// CHECK-NEXT:         hivm.hir.load ins(%from : {{.*}}) outs(%to : memref<?x32xf16, strided<[32, 1], offset: ?>, #hivm.address_space<cbuf>>)
// The view of the real lines is not written: they are m.
// CHECK-NOT:        memref.subview %a[0, 0]
// CHECK:            hivm.hir.mmadL1 ins(%a, %b, %first, %m, %c32, %c64, %bias1 : memref<28x32xf16, #hivm.address_space<cbuf>>, memref<32x64xf16, #hivm.address_space<cbuf>>, i1, index, index, index, memref<64xf32, #hivm.address_space<cbuf>>) outs(%accb : memref<28x64xf32, #hivm.address_space<cc>>)
// CHECK:        hivm.hir.mmadL1 ins(%add, %identity, %false, %m, %c64, %c64 : {{.*}}) outs(%accb
// CHECK:        hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>, pre_relu = #hivm.fixpipe_pre_relu_mode<NORMAL_RELU>}

!x = memref<15x14x32xf16, #npu.space<gm>>
!w = memref<3x3x32x64xf16, #npu.space<gm>>
!v = memref<64xf32, #npu.space<gm>>
!y = memref<210x64xf16, #npu.space<gm>>
!i = memref<64x64xf16, #npu.space<gm>>
!a = memref<28x32xf16, #npu.space<l1>>
!as = memref<?x32xf16, strided<[32, 1], offset: ?>, #npu.space<l1>>
!b = memref<32x64xf16, #npu.space<l1>>
!v1 = memref<64xf32, #npu.space<l1>>
!i1 = memref<64x64xf16, #npu.space<l1>>
!r = memref<28x64xf16, #npu.space<l1>>
!rs = memref<?x64xf16, strided<[64, 1]>, #npu.space<l1>>
!acc = memref<28x64xf32, #npu.space<l0c>>
!accs = memref<?x64xf32, strided<[64, 1]>, #npu.space<l0c>>
!xg = memref<?x32xf16, strided<[32, 1], offset: ?>, #npu.space<gm>>
!wg = memref<32x64xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>
!yg = memref<?x64xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>
func.func @conv_residual(%x: !x, %w: !w, %bias: !v, %residual: !y, %eye: !i, %out: !y)
    attributes {npu.core = "cube", npu.blocks = 8 : i64} {
  %block = npu.block_idx : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c14 = arith.constant 14 : index
  %c15 = arith.constant 15 : index
  %zero = arith.constant 0.000000e+00 : f16
  %false = arith.constant false
  %identity = npu.alloc : !i1
  npu.load ins(%eye : !i) outs(%identity : !i1)
  %bias1 = npu.alloc : !v1
  npu.load ins(%bias : !v) outs(%bias1 : !v1)
  %row = arith.muli %block, %c2 : index
  %rest = arith.subi %c15, %row : index
  %rows = arith.minsi %rest, %c2 : index
  %m = arith.muli %rows, %c14 : index
  %accb = npu.alloc : !acc
  %acc = memref.subview %accb[0, 0] [%m, 64] [1, 1] : !acc to !accs
  scf.for %kh = %c0 to %c3 step %c1 {
    scf.for %kw = %c0 to %c3 step %c1 {
      %a = npu.alloc : !a
      npu.vbrc ins(%zero : f16) outs(%a : !a)
      // Columns: iw = ow + kw - 1 in [0, 14).
      %shift = arith.subi %c1, %kw : index
      %left = arith.maxsi %shift, %c0 : index
      %end = arith.addi %shift, %c14 : index
      %right = arith.minsi %end, %c14 : index
      %n = arith.subi %right, %left : index
      %iw = arith.subi %left, %shift : index
      // Lines: ih = row + r + kh - 1 in [0, 15).
      %up = arith.subi %c1, %kh : index
      %above = arith.subi %up, %row : index
      %low = arith.maxsi %above, %c0 : index
      %below = arith.addi %above, %c15 : index
      %high = arith.minsi %below, %rows : index
      scf.for %r = %low to %high step %c1 {
        %ih = arith.subi %r, %above : index
        %from = memref.subview %x[%ih, %iw, 0] [1, %n, 32] [1, 1, 1] : !x to !xg
        %line0 = arith.muli %r, %c14 : index
        %line = arith.addi %line0, %left : index
        %to = memref.subview %a[%line, 0] [%n, 32] [1, 1] : !a to !as
        npu.load ins(%from : !xg) outs(%to : !as)
      }
      %real = memref.subview %a[0, 0] [%m, 32] [1, 1] : !a to memref<?x32xf16, strided<[32, 1]>, #npu.space<l1>>
      %b = npu.alloc : !b
      %wg = memref.subview %w[%kh, %kw, 0, 0] [1, 1, 32, 64] [1, 1, 1, 1] : !w to !wg
      npu.load ins(%wg : !wg) outs(%b : !b)
      %f0 = arith.cmpi eq, %kh, %c0 : index
      %f1 = arith.cmpi eq, %kw, %c0 : index
      %first = arith.andi %f0, %f1 : i1
      npu.mmad ins(%real, %b : memref<?x32xf16, strided<[32, 1]>, #npu.space<l1>>, !b) bias(%bias1 : !v1) init %first outs(%acc : !accs) l0 [32]
    }
  }
  %start = arith.muli %row, %c14 : index
  %rg = memref.subview %residual[%start, 0] [%m, 64] [1, 1] : !y to !yg
  %add = npu.alloc : !r
  %adds = memref.subview %add[0, 0] [%m, 64] [1, 1] : !r to !rs
  npu.load ins(%rg : !yg) outs(%adds : !rs)
  npu.mmad ins(%adds, %identity : !rs, !i1) init %false outs(%acc : !accs) l0 [64]
  %og = memref.subview %out[%start, 0] [%m, 64] [1, 1] : !y to !yg
  npu.fixpipe relu ins(%acc : !accs) outs(%og : !yg)
  func.return
}
