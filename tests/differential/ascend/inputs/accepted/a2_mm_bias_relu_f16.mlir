// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
  func.func @mm_bias_relu_f16(%a: memref<128x256xf16, #hivm.address_space<gm>>, %b: memref<256x128xf16, #hivm.address_space<gm>>, %bias: memref<128xf32, #hivm.address_space<gm>>, %o: memref<128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
    %c0 = arith.constant 0 : index
    %kt = arith.constant 64 : index
    %k = arith.constant 256 : index
    %m = arith.constant 128 : index
    %n = arith.constant 128 : index
    %lc = memref.alloc() : memref<128x128xf32, #hivm.address_space<cc>>
      %lbi = memref.alloc() : memref<128xf32, #hivm.address_space<cbuf>>
      hivm.hir.load ins(%bias : memref<128xf32, #hivm.address_space<gm>>) outs(%lbi : memref<128xf32, #hivm.address_space<cbuf>>)
    scf.for %i = %c0 to %k step %kt {
      %sa = memref.subview %a[0, %i] [128, 64] [1, 1] : memref<128x256xf16, #hivm.address_space<gm>> to memref<128x64xf16, strided<[256, 1], offset: ?>, #hivm.address_space<gm>>
      %sb = memref.subview %b[%i, 0] [64, 128] [1, 1] : memref<256x128xf16, #hivm.address_space<gm>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
      %la = memref.alloc() : memref<128x64xf16, #hivm.address_space<cbuf>>
      %lb = memref.alloc() : memref<64x128xf16, #hivm.address_space<cbuf>>
      hivm.hir.load ins(%sa : memref<128x64xf16, strided<[256, 1], offset: ?>, #hivm.address_space<gm>>) outs(%la : memref<128x64xf16, #hivm.address_space<cbuf>>)
      hivm.hir.load ins(%sb : memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lb : memref<64x128xf16, #hivm.address_space<cbuf>>)
      %first = arith.cmpi eq, %i, %c0 : index
      hivm.hir.mmadL1 ins(%la, %lb, %first, %m, %kt, %n, %lbi : memref<128x64xf16, #hivm.address_space<cbuf>>, memref<64x128xf16, #hivm.address_space<cbuf>>, i1, index, index, index, memref<128xf32, #hivm.address_space<cbuf>>) outs(%lc : memref<128x128xf32, #hivm.address_space<cc>>)
    }
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>, pre_relu = #hivm.fixpipe_pre_relu_mode<NORMAL_RELU>} ins(%lc : memref<128x128xf32, #hivm.address_space<cc>>) outs(%o : memref<128x128xf16, #hivm.address_space<gm>>)
    return
  }
}
