// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @conv3f(%x: memref<64x3488xf16, #hivm.address_space<gm>>, %w: memref<3x3x128x64xf16, #hivm.address_space<gm>>, %o: memref<128x3328xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %wp = arith.constant 58 : index
  %nt = arith.constant 256 : index
  %tot = arith.constant 3328 : index
  %k = arith.constant 64 : index
  %m = arith.constant 128 : index
  scf.for %p = %c0 to %tot step %nt {
    %lc = memref.alloc() : memref<128x256xf32, #hivm.address_space<cc>>
    scf.for %kh = %c0 to %c3 step %c1 {
      scf.for %kw = %c0 to %c3 step %c1 {
        %d0 = arith.muli %kh, %wp : index
        %d1 = arith.addi %d0, %kw : index
        %d = arith.addi %d1, %p : index
        %sx = memref.subview %x[0, %d] [64, 256] [1, 1] : memref<64x3488xf16, #hivm.address_space<gm>> to memref<64x256xf16, strided<[3488, 1], offset: ?>, #hivm.address_space<gm>>
        %sw = memref.subview %w[%kh, %kw, 0, 0] [1, 1, 128, 64] [1, 1, 1, 1] : memref<3x3x128x64xf16, #hivm.address_space<gm>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
        %lx = memref.alloc() : memref<64x256xf16, #hivm.address_space<cbuf>>
        %lw = memref.alloc() : memref<128x64xf16, #hivm.address_space<cbuf>>
        hivm.hir.load ins(%sx : memref<64x256xf16, strided<[3488, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lx : memref<64x256xf16, #hivm.address_space<cbuf>>)
        hivm.hir.load ins(%sw : memref<128x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lw : memref<128x64xf16, #hivm.address_space<cbuf>>)
        %f0 = arith.cmpi eq, %kh, %c0 : index
        %f1 = arith.cmpi eq, %kw, %c0 : index
        %first = arith.andi %f0, %f1 : i1
        hivm.hir.mmadL1 ins(%lw, %lx, %first, %m, %k, %nt : memref<128x64xf16, #hivm.address_space<cbuf>>, memref<64x256xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<128x256xf32, #hivm.address_space<cc>>)
      }
    }
    %so = memref.subview %o[0, %p] [128, 256] [1, 1] : memref<128x3328xf16, #hivm.address_space<gm>> to memref<128x256xf16, strided<[3328, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>} ins(%lc : memref<128x256xf32, #hivm.address_space<cc>>) outs(%so : memref<128x256xf16, strided<[3328, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
