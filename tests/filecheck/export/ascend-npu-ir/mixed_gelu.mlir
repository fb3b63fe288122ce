!x = memref<128x768xf32, #npu.space<gm>>
!w = memref<768x3000xf32, #npu.space<gm>>
!v = memref<3000xf32, #npu.space<gm>>
!y = memref<128x3000xf32, #npu.space<gm>>
!ws = memref<20x64x320xf32, #npu.space<gm>>
!a1 = memref<64x128xf32, #npu.space<l1>>
!b1 = memref<128x320xf32, #npu.space<l1>>
!b1s = memref<128x?xf32, strided<[320, 1]>, #npu.space<l1>>
!acc = memref<64x320xf32, #npu.space<l0c>>
!accs = memref<64x?xf32, strided<[320, 1]>, #npu.space<l0c>>
!xg = memref<64x128xf32, strided<[768, 1], offset: ?>, #npu.space<gm>>
!wg = memref<128x?xf32, strided<[3000, 1], offset: ?>, #npu.space<gm>>
!wsg = memref<?x?xf32, strided<[320, 1], offset: ?>, #npu.space<gm>>
!v2 = memref<1x3000xf32, strided<[1, 1]>, #npu.space<gm>>
!vg = memref<1x?xf32, strided<[1, 1], offset: ?>, #npu.space<gm>>
!yg = memref<?x?xf32, strided<[3000, 1], offset: ?>, #npu.space<gm>>
!u = memref<32x320xf32, #npu.space<ub>>
!us = memref<32x?xf32, strided<[320, 1]>, #npu.space<ub>>
!r = memref<1x320xf32, #npu.space<ub>>
!rs = memref<1x?xf32, strided<[320, 1]>, #npu.space<ub>>
func.func @matmul_bias_gelu(%x: !x, %w: !w, %bias: !v, %out: !y, %ws: !ws {npu.workspace})
    attributes {npu.core = "mixed", npu.blocks = 20 : i64} {
  %block = npu.block_idx : index
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c320 = arith.constant 320 : index
  %c768 = arith.constant 768 : index
  %c3000 = arith.constant 3000 : index
  %a0 = arith.constant 0.044715 : f32
  %a1 = arith.constant 1.000000e+00 : f32
  %a2 = arith.constant -1.5957691 : f32
  %ti = arith.divui %block, %c10 : index
  %tj = arith.remui %block, %c10 : index
  %i = arith.muli %ti, %c64 : index
  %j = arith.muli %tj, %c320 : index
  %rj = arith.subi %c3000, %j : index
  %n = arith.minsi %rj, %c320 : index
  %accb = npu.alloc : !acc
  %acc = memref.subview %accb[0, 0] [64, %n] [1, 1] : !acc to !accs
  scf.for %k = %c0 to %c768 step %c128 {
    %first = arith.cmpi eq, %k, %c0 : index
    %xg = memref.subview %x[%i, %k] [64, 128] [1, 1] : !x to !xg
    %l1a = npu.alloc : !a1
    npu.load ins(%xg : !xg) outs(%l1a : !a1)
    %wg = memref.subview %w[%k, %j] [128, %n] [1, 1] : !w to !wg
    %l1b = npu.alloc : !b1
    %bs = memref.subview %l1b[0, 0] [128, %n] [1, 1] : !b1 to !b1s
    npu.load ins(%wg : !wg) outs(%bs : !b1s)
    npu.mmad ins(%l1a, %bs : !a1, !b1s) init %first outs(%acc : !accs) l0 [16]
  }
  %to = memref.subview %ws[%block, 0, 0] [1, 64, %n] [1, 1, 1] : !ws to memref<64x?xf32, strided<[320, 1], offset: ?>, #npu.space<gm>>
  npu.fixpipe ins(%acc : !accs) outs(%to : memref<64x?xf32, strided<[320, 1], offset: ?>, #npu.space<gm>>)
  scf.for %c = %c0 to %c64 step %c32 {
    %row = arith.addi %i, %c : index
    %from = memref.subview %ws[%block, %c, 0] [1, 32, %n] [1, 1, 1] : !ws to memref<32x?xf32, strided<[320, 1], offset: ?>, #npu.space<gm>>
    %tile = npu.alloc : !u
    %v = memref.subview %tile[0, 0] [32, %n] [1, 1] : !u to !us
    npu.load ins(%from : memref<32x?xf32, strided<[320, 1], offset: ?>, #npu.space<gm>>) outs(%v : !us)
    %v2 = memref.reinterpret_cast %bias to offset: [0], sizes: [1, 3000], strides: [1, 1] : !v to !v2
    %vg = memref.subview %v2[0, %j] [1, %n] [1, 1] : !v2 to !vg
    %biasb = npu.alloc : !r
    %bu = memref.subview %biasb[0, 0] [1, %n] [1, 1] : !r to !rs
    npu.load ins(%vg : !vg) outs(%bu : !rs)
    npu.vadd ins(%v, %bu : !us, !rs) outs(%v : !us)
    %otherb = npu.alloc : !u
    %other = memref.subview %otherb[0, 0] [32, %n] [1, 1] : !u to !us
    npu.vmul ins(%v, %v : !us, !us) outs(%other : !us)
    npu.vmul ins(%other, %a0 : !us, f32) outs(%other : !us)
    npu.vadd ins(%other, %a1 : !us, f32) outs(%other : !us)
    npu.vmul ins(%other, %v : !us, !us) outs(%other : !us)
    npu.vmul ins(%other, %a2 : !us, f32) outs(%other : !us)
    npu.vexp ins(%other : !us) outs(%other : !us)
    npu.vadd ins(%other, %a1 : !us, f32) outs(%other : !us)
    npu.vdiv ins(%v, %other : !us, !us) outs(%v : !us)
    %yg = memref.subview %out[%row, %j] [32, %n] [1, 1] : !y to memref<32x?xf32, strided<[3000, 1], offset: ?>, #npu.space<gm>>
    npu.store ins(%v : !us) outs(%yg : memref<32x?xf32, strided<[3000, 1], offset: ?>, #npu.space<gm>>)
  }
  func.return
}
