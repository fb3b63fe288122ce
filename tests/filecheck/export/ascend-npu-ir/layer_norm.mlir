// Rows broadcast in axis 0, columns in axis 1; casts between f16 and f32.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s

// CHECK:      %g2 = memref.reinterpret_cast %gamma to offset: [0], sizes: [1, 768], strides: [768, 1] : memref<768xf16, #hivm.address_space<gm>> to memref<1x768xf16, strided<[768, 1]>, #hivm.address_space<gm>>
// CHECK:      hivm.hir.vcast ins(%gh : memref<1x768xf16, #hivm.address_space<ub>>) outs(%gf : memref<1x768xf32, #hivm.address_space<ub>>)
// CHECK:      hivm.hir.vadd ins(%xh, %rh : memref<8x768xf16, #hivm.address_space<ub>>, memref<8x768xf16, #hivm.address_space<ub>>) outs(%xh : memref<8x768xf16, #hivm.address_space<ub>>)
// CHECK:      hivm.hir.vdiv ins(%mean, %n : memref<8x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>, f32) outs(%mean : {{.*}})
// CHECK-NEXT: hivm.hir.vsub ins(%v, %mean : {{.*}}) outs(%v : {{.*}}) broadcast = [1]
// CHECK:      hivm.hir.vmul ins(%v, %gf : {{.*}}) outs(%v : {{.*}}) broadcast = [0]
// CHECK-NEXT: hivm.hir.vadd ins(%v, %bf : {{.*}}) outs(%v : {{.*}}) broadcast = [0]
// CHECK-NEXT: hivm.hir.vcast ins(%v : {{.*}}) outs(%xh : memref<8x768xf16, #hivm.address_space<ub>>)

!g = memref<128x768xf16, #npu.space<gm>>
!w = memref<768xf16, #npu.space<gm>>
!w2 = memref<1x768xf16, strided<[768, 1]>, #npu.space<gm>>
!h = memref<8x768xf16, #npu.space<ub>>
!u = memref<8x768xf32, #npu.space<ub>>
!rh = memref<1x768xf16, #npu.space<ub>>
!r = memref<1x768xf32, #npu.space<ub>>
!c = memref<8x8xf32, #npu.space<ub>>
!cs = memref<8x1xf32, strided<[8, 1]>, #npu.space<ub>>
!gs = memref<8x768xf16, strided<[768, 1], offset: ?>, #npu.space<gm>>
func.func @layer_norm(%x: !g, %residual: !g, %gamma: !w, %beta: !w, %out: !g)
    attributes {npu.core = "vector", npu.blocks = 8 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %n = arith.constant 7.680000e+02 : f32
  %eps = arith.constant 1.000000e-05 : f32
  %g2 = memref.reinterpret_cast %gamma to offset: [0], sizes: [1, 768], strides: [768, 1] : !w to !w2
  %b2 = memref.reinterpret_cast %beta to offset: [0], sizes: [1, 768], strides: [768, 1] : !w to !w2
  %gh = npu.alloc : !rh
  npu.load ins(%g2 : !w2) outs(%gh : !rh)
  %gf = npu.alloc : !r
  npu.vcast ins(%gh : !rh) outs(%gf : !r)
  %bh = npu.alloc : !rh
  npu.load ins(%b2 : !w2) outs(%bh : !rh)
  %bf = npu.alloc : !r
  npu.vcast ins(%bh : !rh) outs(%bf : !r)
  scf.for %t = %block to %c16 step %blocks {
    %o = arith.muli %t, %c8 : index
    %gx = memref.subview %x[%o, 0] [8, 768] [1, 1] : !g to !gs
    %gr = memref.subview %residual[%o, 0] [8, 768] [1, 1] : !g to !gs
    %go = memref.subview %out[%o, 0] [8, 768] [1, 1] : !g to !gs
    %xh = npu.alloc : !h
    npu.load ins(%gx : !gs) outs(%xh : !h)
    %rh = npu.alloc : !h
    npu.load ins(%gr : !gs) outs(%rh : !h)
    npu.vadd ins(%xh, %rh : !h, !h) outs(%xh : !h)
    %v = npu.alloc : !u
    npu.vcast ins(%xh : !h) outs(%v : !u)
    %cb = npu.alloc : !c
    %mean = memref.subview %cb[0, 0] [8, 1] [1, 1] : !c to !cs
    npu.vreduce "sum" ins(%v : !u) outs(%mean : !cs) dims [1]
    npu.vdiv ins(%mean, %n : !cs, f32) outs(%mean : !cs)
    npu.vsub ins(%v, %mean : !u, !cs) outs(%v : !u)
    %sq = npu.alloc : !u
    npu.vmul ins(%v, %v : !u, !u) outs(%sq : !u)
    %vb = npu.alloc : !c
    %var = memref.subview %vb[0, 0] [8, 1] [1, 1] : !c to !cs
    npu.vreduce "sum" ins(%sq : !u) outs(%var : !cs) dims [1]
    npu.vdiv ins(%var, %n : !cs, f32) outs(%var : !cs)
    npu.vadd ins(%var, %eps : !cs, f32) outs(%var : !cs)
    npu.vsqrt ins(%var : !cs) outs(%var : !cs)
    npu.vdiv ins(%v, %var : !u, !cs) outs(%v : !u)
    npu.vmul ins(%v, %gf : !u, !r) outs(%v : !u)
    npu.vadd ins(%v, %bf : !u, !r) outs(%v : !u)
    npu.vcast ins(%v : !u) outs(%xh : !h)
    npu.store ins(%xh : !h) outs(%go : !gs)
  }
  func.return
}
