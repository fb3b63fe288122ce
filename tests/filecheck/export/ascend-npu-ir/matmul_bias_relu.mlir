// Cube operands are whole buffers, the sizes of their views are m, k and n.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s
// RUN: fuse-opt %s -p npu-multi-buffer -t ascend-npu-ir | filecheck %s --check-prefix=DOUBLE

// CHECK:      // matmul_bias_relu: route opt
// CHECK-NEXT: func.func @matmul_bias_relu({{.*}}) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 8 : i64, hivm.func_core_type = #hivm.func_core_type<AIC>} {
// CHECK:      %accb = memref.alloc() : memref<128x256xf32, #hivm.address_space<cc>>
// CHECK-NEXT: %vb = memref.alloc() : memref<256xf32, #hivm.address_space<cbuf>>
// CHECK-NEXT: %v1 = memref.subview %vb[0] [%n] [1]
// CHECK:      hivm.hir.load ins(%vg : {{.*}}) outs(%v1 : memref<?xf32, strided<[1]>, #hivm.address_space<cbuf>>)
// CHECK:      hivm.hir.load ins(%ag : {{.*}}) outs(%a1 : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<cbuf>>)
// CHECK:      hivm.hir.mmadL1 ins(%ab, %bb, %first, %m, %ks, %n, %vb : memref<128x64xf16, #hivm.address_space<cbuf>>, memref<64x256xf16, #hivm.address_space<cbuf>>, i1, index, index, index, memref<256xf32, #hivm.address_space<cbuf>>) outs(%accb : memref<128x256xf32, #hivm.address_space<cc>>)
// CHECK:      hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>, pre_relu = #hivm.fixpipe_pre_relu_mode<NORMAL_RELU>} ins(%accb : memref<128x256xf32, #hivm.address_space<cc>>) outs(%og : memref<?x?xf16, strided<[1000, 1], offset: ?>, #hivm.address_space<gm>>)

// Marks on L1 buffers are lost: double buffering is an option.
// DOUBLE: // matmul_bias_relu: route opt enable-auto-multi-buffer=true
// DOUBLE-NOT: annotation.mark

!a = memref<200x160xf16, #npu.space<gm>>
!b = memref<160x1000xf16, #npu.space<gm>>
!v = memref<1000xf32, #npu.space<gm>>
!y = memref<200x1000xf16, #npu.space<gm>>
!a1 = memref<128x64xf16, #npu.space<l1>>
!a1s = memref<?x?xf16, strided<[64, 1]>, #npu.space<l1>>
!b1 = memref<64x256xf16, #npu.space<l1>>
!b1s = memref<?x?xf16, strided<[256, 1]>, #npu.space<l1>>
!v1 = memref<256xf32, #npu.space<l1>>
!v1s = memref<?xf32, strided<[1]>, #npu.space<l1>>
!acc = memref<128x256xf32, #npu.space<l0c>>
!accs = memref<?x?xf32, strided<[256, 1]>, #npu.space<l0c>>
!ag = memref<?x?xf16, strided<[160, 1], offset: ?>, #npu.space<gm>>
!bg = memref<?x?xf16, strided<[1000, 1], offset: ?>, #npu.space<gm>>
!vg = memref<?xf32, strided<[1], offset: ?>, #npu.space<gm>>
func.func @matmul_bias_relu(%a: !a, %b: !b, %bias: !v, %out: !y)
    attributes {npu.core = "cube", npu.blocks = 8 : i64} {
  %block = npu.block_idx : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c160 = arith.constant 160 : index
  %c200 = arith.constant 200 : index
  %c256 = arith.constant 256 : index
  %c1000 = arith.constant 1000 : index
  %ti = arith.divui %block, %c4 : index
  %tj = arith.remui %block, %c4 : index
  %i = arith.muli %ti, %c128 : index
  %j = arith.muli %tj, %c256 : index
  %ri = arith.subi %c200, %i : index
  %m = arith.minsi %ri, %c128 : index
  %rj = arith.subi %c1000, %j : index
  %n = arith.minsi %rj, %c256 : index
  %accb = npu.alloc : !acc
  %acc = memref.subview %accb[0, 0] [%m, %n] [1, 1] : !acc to !accs
  %vb = npu.alloc : !v1
  %v1 = memref.subview %vb[0] [%n] [1] : !v1 to !v1s
  %vg = memref.subview %bias[%j] [%n] [1] : !v to !vg
  npu.load ins(%vg : !vg) outs(%v1 : !v1s)
  scf.for %k = %c0 to %c160 step %c64 {
    %rk = arith.subi %c160, %k : index
    %ks = arith.minsi %rk, %c64 : index
    %first = arith.cmpi eq, %k, %c0 : index
    %ab = npu.alloc : !a1
    %a1 = memref.subview %ab[0, 0] [%m, %ks] [1, 1] : !a1 to !a1s
    %ag = memref.subview %a[%i, %k] [%m, %ks] [1, 1] : !a to !ag
    npu.load ins(%ag : !ag) outs(%a1 : !a1s)
    %bb = npu.alloc : !b1
    %b1 = memref.subview %bb[0, 0] [%ks, %n] [1, 1] : !b1 to !b1s
    %bg = memref.subview %b[%k, %j] [%ks, %n] [1, 1] : !b to !bg
    npu.load ins(%bg : !bg) outs(%b1 : !b1s)
    npu.mmad ins(%a1, %b1 : !a1s, !b1s) bias(%v1 : !v1s) init %first outs(%acc : !accs) l0 [32]
  }
  %og = memref.subview %out[%i, %j] [%m, %n] [1, 1] : !y to !bg
  npu.fixpipe relu ins(%acc : !accs) outs(%og : !bg)
  func.return
}
