// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @convl1(%x: memref<3364x64xf16, #hivm.address_space<gm>>, %w: memref<9x64x128xf16, #hivm.address_space<gm>>, %o: memref<3248x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %wp = arith.constant 58 : index
  %m = arith.constant 112 : index
  %k = arith.constant 64 : index
  %n = arith.constant 128 : index
  %tot = arith.constant 3248 : index
  scf.for %p = %c0 to %tot step %m {
    %lc = memref.alloc() : memref<112x128xf32, #hivm.address_space<cc>>
    %lx = memref.alloc() : memref<240x64xf16, #hivm.address_space<cbuf>>
    %lx0 = memref.subview %lx[0, 0] [232, 64] [1, 1] : memref<240x64xf16, #hivm.address_space<cbuf>> to memref<232x64xf16, strided<[64, 1]>, #hivm.address_space<cbuf>>
    %sx = memref.subview %x[%p, 0] [232, 64] [1, 1] : memref<3364x64xf16, #hivm.address_space<gm>> to memref<232x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.load ins(%sx : memref<232x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lx0 : memref<232x64xf16, strided<[64, 1]>, #hivm.address_space<cbuf>>)
    scf.for %kh = %c0 to %c3 step %c1 {
      scf.for %kw = %c0 to %c3 step %c1 {
        %d0 = arith.muli %kh, %wp : index
        %d = arith.addi %d0, %kw : index
        %q0 = arith.muli %kh, %c3 : index
        %q = arith.addi %q0, %kw : index
        %la = memref.subview %lx[%d, 0] [112, 64] [1, 1] : memref<240x64xf16, #hivm.address_space<cbuf>> to memref<112x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>>
        %sw = memref.subview %w[%q, 0, 0] [1, 64, 128] [1, 1, 1] : memref<9x64x128xf16, #hivm.address_space<gm>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
        %lw = memref.alloc() : memref<64x128xf16, #hivm.address_space<cbuf>>
        hivm.hir.load ins(%sw : memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lw : memref<64x128xf16, #hivm.address_space<cbuf>>)
        %first = arith.cmpi eq, %q, %c0 : index
        hivm.hir.mmadL1 ins(%la, %lw, %first, %m, %k, %n : memref<112x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>>, memref<64x128xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<112x128xf32, #hivm.address_space<cc>>)
      }
    }
    %so = memref.subview %o[%p, 0] [112, 128] [1, 1] : memref<3248x128xf16, #hivm.address_space<gm>> to memref<112x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>} ins(%lc : memref<112x128xf32, #hivm.address_space<cc>>) outs(%so : memref<112x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
