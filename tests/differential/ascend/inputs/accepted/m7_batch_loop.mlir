// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true enable-auto-multi-buffer=true" -o OUT.mlir
module {
func.func @bmm(%a: memref<12x128x64xf16, #hivm.address_space<gm>>, %b: memref<12x128x64xf16, #hivm.address_space<gm>>, %o: memref<12x128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nb = arith.constant 12 : index
  %m = arith.constant 128 : index
  %k = arith.constant 64 : index
  %true = arith.constant true
  scf.for %i = %c0 to %nb step %c1 {
    %sa = memref.subview %a[%i, 0, 0] [1, 128, 64] [1, 1, 1] : memref<12x128x64xf16, #hivm.address_space<gm>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
    %sb = memref.subview %b[%i, 0, 0] [1, 128, 64] [1, 1, 1] : memref<12x128x64xf16, #hivm.address_space<gm>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
    %so = memref.subview %o[%i, 0, 0] [1, 128, 128] [1, 1, 1] : memref<12x128x128xf16, #hivm.address_space<gm>> to memref<128x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
    %la = memref.alloc() : memref<128x64xf16, #hivm.address_space<cbuf>>
    %lb = memref.alloc() : memref<128x64xf16, #hivm.address_space<cbuf>>
    %lc = memref.alloc() : memref<128x128xf32, #hivm.address_space<cc>>
    hivm.hir.load ins(%sa : memref<128x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%la : memref<128x64xf16, #hivm.address_space<cbuf>>)
    hivm.hir.load ins(%sb : memref<128x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lb : memref<128x64xf16, #hivm.address_space<cbuf>>)
    hivm.hir.mmadL1 {b_transpose} ins(%la, %lb, %true, %m, %k, %m : memref<128x64xf16, #hivm.address_space<cbuf>>, memref<128x64xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<128x128xf32, #hivm.address_space<cc>>)
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>} ins(%lc : memref<128x128xf32, #hivm.address_space<cc>>) outs(%so : memref<128x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
