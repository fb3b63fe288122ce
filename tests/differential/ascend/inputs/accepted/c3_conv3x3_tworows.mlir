// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @conv3r(%x: memref<58x58x64xf16, #hivm.address_space<gm>>, %w: memref<3x3x64x128xf16, #hivm.address_space<gm>>, %o: memref<3136x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %h = arith.constant 56 : index
  %m = arith.constant 112 : index
  %k = arith.constant 64 : index
  %n = arith.constant 128 : index
  scf.for %oh = %c0 to %h step %c2 {
    %lc = memref.alloc() : memref<112x128xf32, #hivm.address_space<cc>>
    scf.for %kh = %c0 to %c3 step %c1 {
      scf.for %kw = %c0 to %c3 step %c1 {
        %ih = arith.addi %oh, %kh : index
        %ih1 = arith.addi %ih, %c1 : index
        %sx = memref.subview %x[%ih, %kw, 0] [1, 56, 64] [1, 1, 1] : memref<58x58x64xf16, #hivm.address_space<gm>> to memref<56x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
        %sx1 = memref.subview %x[%ih1, %kw, 0] [1, 56, 64] [1, 1, 1] : memref<58x58x64xf16, #hivm.address_space<gm>> to memref<56x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
        %sw = memref.subview %w[%kh, %kw, 0, 0] [1, 1, 64, 128] [1, 1, 1, 1] : memref<3x3x64x128xf16, #hivm.address_space<gm>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
        %lx = memref.alloc() : memref<112x64xf16, #hivm.address_space<cbuf>>
        %lx0 = memref.subview %lx[0, 0] [56, 64] [1, 1] : memref<112x64xf16, #hivm.address_space<cbuf>> to memref<56x64xf16, strided<[64, 1]>, #hivm.address_space<cbuf>>
        %lx1 = memref.subview %lx[56, 0] [56, 64] [1, 1] : memref<112x64xf16, #hivm.address_space<cbuf>> to memref<56x64xf16, strided<[64, 1], offset: 3584>, #hivm.address_space<cbuf>>
        %lw = memref.alloc() : memref<64x128xf16, #hivm.address_space<cbuf>>
        hivm.hir.load ins(%sx : memref<56x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lx0 : memref<56x64xf16, strided<[64, 1]>, #hivm.address_space<cbuf>>)
        hivm.hir.load ins(%sx1 : memref<56x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lx1 : memref<56x64xf16, strided<[64, 1], offset: 3584>, #hivm.address_space<cbuf>>)
        hivm.hir.load ins(%sw : memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lw : memref<64x128xf16, #hivm.address_space<cbuf>>)
        %f0 = arith.cmpi eq, %kh, %c0 : index
        %f1 = arith.cmpi eq, %kw, %c0 : index
        %first = arith.andi %f0, %f1 : i1
        hivm.hir.mmadL1 ins(%lx, %lw, %first, %m, %k, %n : memref<112x64xf16, #hivm.address_space<cbuf>>, memref<64x128xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<112x128xf32, #hivm.address_space<cc>>)
      }
    }
    %r0 = arith.muli %oh, %h : index
    %so = memref.subview %o[%r0, 0] [112, 128] [1, 1] : memref<3136x128xf16, #hivm.address_space<gm>> to memref<112x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>} ins(%lc : memref<112x128xf32, #hivm.address_space<cc>>) outs(%so : memref<112x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
