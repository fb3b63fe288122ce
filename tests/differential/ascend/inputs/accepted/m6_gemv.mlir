// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @gemv(%a: memref<1x768xf16, #hivm.address_space<gm>>, %b: memref<768x256xf16, #hivm.address_space<gm>>, %o: memref<1x256xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
  %c0 = arith.constant 0 : index
  %m = arith.constant 1 : index
  %n = arith.constant 256 : index
  %tk = arith.constant 128 : index
  %K = arith.constant 768 : index
  %lc = memref.alloc() : memref<1x256xf32, #hivm.address_space<cc>>
  scf.for %k = %c0 to %K step %tk {
    %sa = memref.subview %a[0, %k] [1, 128] [1, 1] : memref<1x768xf16, #hivm.address_space<gm>> to memref<1x128xf16, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>
    %sb = memref.subview %b[%k, 0] [128, 256] [1, 1] : memref<768x256xf16, #hivm.address_space<gm>> to memref<128x256xf16, strided<[256, 1], offset: ?>, #hivm.address_space<gm>>
    %la = memref.alloc() : memref<1x128xf16, #hivm.address_space<cbuf>>
    %lb = memref.alloc() : memref<128x256xf16, #hivm.address_space<cbuf>>
    hivm.hir.load ins(%sa : memref<1x128xf16, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>) outs(%la : memref<1x128xf16, #hivm.address_space<cbuf>>)
    hivm.hir.load ins(%sb : memref<128x256xf16, strided<[256, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lb : memref<128x256xf16, #hivm.address_space<cbuf>>)
    %first = arith.cmpi eq, %k, %c0 : index
    hivm.hir.mmadL1 ins(%la, %lb, %first, %m, %tk, %n : memref<1x128xf16, #hivm.address_space<cbuf>>, memref<128x256xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<1x256xf32, #hivm.address_space<cc>>)
  }
  hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>} ins(%lc : memref<1x256xf32, #hivm.address_space<cc>>) outs(%o : memref<1x256xf16, #hivm.address_space<gm>>)
  return
}
}
