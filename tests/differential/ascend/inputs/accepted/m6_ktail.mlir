// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true enable-auto-multi-buffer=true" -o OUT.mlir
module {
func.func @mmk(%a: memref<32x1000xf16, #hivm.address_space<gm>>, %b: memref<1000x256xf16, #hivm.address_space<gm>>, %o: memref<32x256xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
  %c0 = arith.constant 0 : index
  %m = arith.constant 32 : index
  %n = arith.constant 256 : index
  %tk = arith.constant 128 : index
  %K = arith.constant 1000 : index
  %lc = memref.alloc() : memref<32x256xf32, #hivm.address_space<cc>>
  scf.for %k = %c0 to %K step %tk {
    %rk = arith.subi %K, %k : index
    %ks = arith.minsi %rk, %tk : index
    %sa = memref.subview %a[0, %k] [32, %ks] [1, 1] : memref<32x1000xf16, #hivm.address_space<gm>> to memref<32x?xf16, strided<[1000, 1], offset: ?>, #hivm.address_space<gm>>
    %sb = memref.subview %b[%k, 0] [%ks, 256] [1, 1] : memref<1000x256xf16, #hivm.address_space<gm>> to memref<?x256xf16, strided<[256, 1], offset: ?>, #hivm.address_space<gm>>
    %la = memref.alloc() : memref<32x128xf16, #hivm.address_space<cbuf>>
    %lb = memref.alloc() : memref<128x256xf16, #hivm.address_space<cbuf>>
    %la1 = memref.subview %la[0, 0] [32, %ks] [1, 1] : memref<32x128xf16, #hivm.address_space<cbuf>> to memref<32x?xf16, strided<[128, 1]>, #hivm.address_space<cbuf>>
    %lb1 = memref.subview %lb[0, 0] [%ks, 256] [1, 1] : memref<128x256xf16, #hivm.address_space<cbuf>> to memref<?x256xf16, strided<[256, 1]>, #hivm.address_space<cbuf>>
    hivm.hir.load ins(%sa : memref<32x?xf16, strided<[1000, 1], offset: ?>, #hivm.address_space<gm>>) outs(%la1 : memref<32x?xf16, strided<[128, 1]>, #hivm.address_space<cbuf>>)
    hivm.hir.load ins(%sb : memref<?x256xf16, strided<[256, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lb1 : memref<?x256xf16, strided<[256, 1]>, #hivm.address_space<cbuf>>)
    %first = arith.cmpi eq, %k, %c0 : index
    hivm.hir.mmadL1 ins(%la, %lb, %first, %m, %ks, %n : memref<32x128xf16, #hivm.address_space<cbuf>>, memref<128x256xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<32x256xf32, #hivm.address_space<cc>>)
  }
  hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>} ins(%lc : memref<32x256xf32, #hivm.address_space<cc>>) outs(%o : memref<32x256xf32, #hivm.address_space<gm>>)
  return
}
}
