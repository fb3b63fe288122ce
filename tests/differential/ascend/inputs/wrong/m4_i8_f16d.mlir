// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @mm(%a: memref<128x768xi8, #hivm.address_space<gm>>, %b: memref<768x3072xi8, #hivm.address_space<gm>>, %o: memref<128x3072xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>, hacc.block_dim = 20 : i64} {
  %c0 = arith.constant 0 : index
  %tm = arith.constant 128 : index
  %tn = arith.constant 256 : index
  %tk = arith.constant 128 : index
  %M = arith.constant 128 : index
  %N = arith.constant 3072 : index
  %K = arith.constant 768 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index
  %lo = arith.muli %bi, %tn : index
  %st = arith.muli %nb, %tn : index
  scf.for %i = %c0 to %M step %tm {
  scf.for %j = %lo to %N step %st {
    %lc = memref.alloc() : memref<128x256xi32, #hivm.address_space<cc>>
    scf.for %k = %c0 to %K step %tk {
      %sa = memref.subview %a[%i, %k] [128, 128] [1, 1] : memref<128x768xi8, #hivm.address_space<gm>> to memref<128x128xi8, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>
      %sb = memref.subview %b[%k, %j] [128, 256] [1, 1] : memref<768x3072xi8, #hivm.address_space<gm>> to memref<128x256xi8, strided<[3072, 1], offset: ?>, #hivm.address_space<gm>>
      %la = memref.alloc() : memref<128x128xi8, #hivm.address_space<cbuf>>
      %lb = memref.alloc() : memref<128x256xi8, #hivm.address_space<cbuf>>
      annotation.mark %la {hivm.multi_buffer = 2 : i32} : memref<128x128xi8, #hivm.address_space<cbuf>>
      annotation.mark %lb {hivm.multi_buffer = 2 : i32} : memref<128x256xi8, #hivm.address_space<cbuf>>
      hivm.hir.load ins(%sa : memref<128x128xi8, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>) outs(%la : memref<128x128xi8, #hivm.address_space<cbuf>>)
      hivm.hir.load ins(%sb : memref<128x256xi8, strided<[3072, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lb : memref<128x256xi8, #hivm.address_space<cbuf>>)
      %first = arith.cmpi eq, %k, %c0 : index
      hivm.hir.mmadL1 ins(%la, %lb, %first, %tm, %tk, %tn : memref<128x128xi8, #hivm.address_space<cbuf>>, memref<128x256xi8, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<128x256xi32, #hivm.address_space<cc>>)
    }
    %so = memref.subview %o[%i, %j] [128, 256] [1, 1] : memref<128x3072xf16, #hivm.address_space<gm>> to memref<128x256xf16, strided<[3072, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>} ins(%lc : memref<128x256xi32, #hivm.address_space<cc>>) outs(%so : memref<128x256xf16, strided<[3072, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  }
  return
}
}
