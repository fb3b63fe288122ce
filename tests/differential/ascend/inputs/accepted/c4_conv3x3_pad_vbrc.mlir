// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @convpad(%x: memref<56x56x64xf16, #hivm.address_space<gm>>, %w: memref<3x3x64x128xf16, #hivm.address_space<gm>>, %o: memref<56x56x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %h = arith.constant 56 : index
  %k = arith.constant 64 : index
  %n = arith.constant 128 : index
  %z = arith.constant 0.0 : f16
  scf.for %oh = %c0 to %h step %c1 {
    %lc = memref.alloc() : memref<56x128xf32, #hivm.address_space<cc>>
    // valid kh range: ih = oh + kh - 1 in [0, 56)
    %t0 = arith.subi %c1, %oh : index
    %kh0 = arith.maxsi %t0, %c0 : index
    %t1 = arith.subi %h, %oh : index
    %t2 = arith.addi %t1, %c1 : index
    %kh1 = arith.minsi %t2, %c3 : index
    scf.for %kh = %kh0 to %kh1 step %c1 {
      scf.for %kw = %c0 to %c3 step %c1 {
        %ih0 = arith.addi %oh, %kh : index
        %ih = arith.subi %ih0, %c1 : index
        // kw = 0: dst pixels 1..55 <- src 0..54 ; kw = 1: all ; kw = 2: dst 0..54 <- src 1..55
        %s0 = arith.subi %kw, %c1 : index
        %src = arith.maxsi %s0, %c0 : index
        %d0 = arith.subi %c1, %kw : index
        %dst = arith.maxsi %d0, %c0 : index
        %ab = arith.addi %src, %dst : index
        %len = arith.subi %h, %ab : index
        %lx = memref.alloc() : memref<56x64xf16, #hivm.address_space<cbuf>>
        hivm.hir.vbrc ins(%z : f16) outs(%lx : memref<56x64xf16, #hivm.address_space<cbuf>>)
        %lx1 = memref.subview %lx[%dst, 0] [%len, 64] [1, 1] : memref<56x64xf16, #hivm.address_space<cbuf>> to memref<?x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>>
        %sx = memref.subview %x[%ih, %src, 0] [1, %len, 64] [1, 1, 1] : memref<56x56x64xf16, #hivm.address_space<gm>> to memref<?x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
        %sw = memref.subview %w[%kh, %kw, 0, 0] [1, 1, 64, 128] [1, 1, 1, 1] : memref<3x3x64x128xf16, #hivm.address_space<gm>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
        %lw = memref.alloc() : memref<64x128xf16, #hivm.address_space<cbuf>>
        hivm.hir.load ins(%sx : memref<?x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lx1 : memref<?x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>>)
        hivm.hir.load ins(%sw : memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lw : memref<64x128xf16, #hivm.address_space<cbuf>>)
        %f0 = arith.cmpi eq, %kh, %kh0 : index
        %f1 = arith.cmpi eq, %kw, %c0 : index
        %first = arith.andi %f0, %f1 : i1
        hivm.hir.mmadL1 ins(%lx, %lw, %first, %h, %k, %n : memref<56x64xf16, #hivm.address_space<cbuf>>, memref<64x128xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<56x128xf32, #hivm.address_space<cc>>)
      }
    }
    %so = memref.subview %o[%oh, 0, 0] [1, 56, 128] [1, 1, 1] : memref<56x56x128xf16, #hivm.address_space<gm>> to memref<56x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>} ins(%lc : memref<56x128xf32, #hivm.address_space<cc>>) outs(%so : memref<56x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
