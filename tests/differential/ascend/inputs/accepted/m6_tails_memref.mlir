// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @mmtail(%a: memref<?x768xf16, #hivm.address_space<gm>>, %b: memref<768x1000xf16, #hivm.address_space<gm>>, %o: memref<?x1000xf16, #hivm.address_space<gm>>, %m64: i64) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
  %c0 = arith.constant 0 : index
  %tm = arith.constant 128 : index
  %tn = arith.constant 256 : index
  %tk = arith.constant 64 : index
  %N = arith.constant 1000 : index
  %K = arith.constant 768 : index
  %M = arith.index_cast %m64 : i64 to index
  scf.for %i = %c0 to %M step %tm {
  scf.for %j = %c0 to %N step %tn {
    %lc = memref.alloc() : memref<128x256xf32, #hivm.address_space<cc>>
    %rm = arith.subi %M, %i : index
    %ms = arith.minsi %rm, %tm : index
    %rn = arith.subi %N, %j : index
    %ns = arith.minsi %rn, %tn : index
    scf.for %k = %c0 to %K step %tk {
      %sa = memref.subview %a[%i, %k] [%ms, 64] [1, 1] : memref<?x768xf16, #hivm.address_space<gm>> to memref<?x64xf16, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>
      %sb = memref.subview %b[%k, %j] [64, %ns] [1, 1] : memref<768x1000xf16, #hivm.address_space<gm>> to memref<64x?xf16, strided<[1000, 1], offset: ?>, #hivm.address_space<gm>>
      %la = memref.alloc() : memref<128x64xf16, #hivm.address_space<cbuf>>
      %lb = memref.alloc() : memref<64x256xf16, #hivm.address_space<cbuf>>
      %la1 = memref.subview %la[0, 0] [%ms, 64] [1, 1] : memref<128x64xf16, #hivm.address_space<cbuf>> to memref<?x64xf16, strided<[64, 1]>, #hivm.address_space<cbuf>>
      %lb1 = memref.subview %lb[0, 0] [64, %ns] [1, 1] : memref<64x256xf16, #hivm.address_space<cbuf>> to memref<64x?xf16, strided<[256, 1]>, #hivm.address_space<cbuf>>
      hivm.hir.load ins(%sa : memref<?x64xf16, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>) outs(%la1 : memref<?x64xf16, strided<[64, 1]>, #hivm.address_space<cbuf>>)
      hivm.hir.load ins(%sb : memref<64x?xf16, strided<[1000, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lb1 : memref<64x?xf16, strided<[256, 1]>, #hivm.address_space<cbuf>>)
      %first = arith.cmpi eq, %k, %c0 : index
      hivm.hir.mmadL1 ins(%la, %lb, %first, %ms, %tk, %ns : memref<128x64xf16, #hivm.address_space<cbuf>>, memref<64x256xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<128x256xf32, #hivm.address_space<cc>>)
    }
    %lc1 = memref.subview %lc[0, 0] [%ms, %ns] [1, 1] : memref<128x256xf32, #hivm.address_space<cc>> to memref<?x?xf32, strided<[256, 1]>, #hivm.address_space<cc>>
    %so = memref.subview %o[%i, %j] [%ms, %ns] [1, 1] : memref<?x1000xf16, #hivm.address_space<gm>> to memref<?x?xf16, strided<[1000, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>} ins(%lc1 : memref<?x?xf32, strided<[256, 1]>, #hivm.address_space<cc>>) outs(%so : memref<?x?xf16, strided<[1000, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  }
  return
}
}
