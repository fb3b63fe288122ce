// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @mm(%a: memref<128x768xf16, #hivm.address_space<gm>>, %b: memref<768x3072xf16, #hivm.address_space<gm>>, %bias: memref<3072xf32, #hivm.address_space<gm>>, %o: memref<128x3072xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>, hacc.block_dim = 20 : i64} {
  %c0 = arith.constant 0 : index
  %tm = arith.constant 128 : index
  %tn = arith.constant 256 : index
  %tk = arith.constant 64 : index
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
    %lc = memref.alloc() : memref<128x256xf32, #hivm.address_space<cc>>
    %sbi = memref.subview %bias[%j] [256] [1] : memref<3072xf32, #hivm.address_space<gm>> to memref<256xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>
    %lbi = memref.alloc() : memref<256xf32, #hivm.address_space<cbuf>>
    hivm.hir.load ins(%sbi : memref<256xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>) outs(%lbi : memref<256xf32, #hivm.address_space<cbuf>>)
    scf.for %k = %c0 to %K step %tk {
      %sa = memref.subview %a[%i, %k] [128, 64] [1, 1] : memref<128x768xf16, #hivm.address_space<gm>> to memref<128x64xf16, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>
      %sb = memref.subview %b[%k, %j] [64, 256] [1, 1] : memref<768x3072xf16, #hivm.address_space<gm>> to memref<64x256xf16, strided<[3072, 1], offset: ?>, #hivm.address_space<gm>>
      %la = memref.alloc() : memref<128x64xf16, #hivm.address_space<cbuf>>
      %lb = memref.alloc() : memref<64x256xf16, #hivm.address_space<cbuf>>
      annotation.mark %la {hivm.multi_buffer = 2 : i32} : memref<128x64xf16, #hivm.address_space<cbuf>>
      annotation.mark %lb {hivm.multi_buffer = 2 : i32} : memref<64x256xf16, #hivm.address_space<cbuf>>
      hivm.hir.load ins(%sa : memref<128x64xf16, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>) outs(%la : memref<128x64xf16, #hivm.address_space<cbuf>>)
      hivm.hir.load ins(%sb : memref<64x256xf16, strided<[3072, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lb : memref<64x256xf16, #hivm.address_space<cbuf>>)
      %first = arith.cmpi eq, %k, %c0 : index
      hivm.hir.mmadL1 ins(%la, %lb, %first, %tm, %tk, %tn, %lbi : memref<128x64xf16, #hivm.address_space<cbuf>>, memref<64x256xf16, #hivm.address_space<cbuf>>, i1, index, index, index, memref<256xf32, #hivm.address_space<cbuf>>) outs(%lc : memref<128x256xf32, #hivm.address_space<cc>>)
    }
    %so = memref.subview %o[%i, %j] [128, 256] [1, 1] : memref<128x3072xf16, #hivm.address_space<gm>> to memref<128x256xf16, strided<[3072, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>, pre_relu = #hivm.fixpipe_pre_relu_mode<NORMAL_RELU>} ins(%lc : memref<128x256xf32, #hivm.address_space<cc>>) outs(%so : memref<128x256xf16, strided<[3072, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  }
  return
}
}
