// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @k(%a: memref<1x12x50xf32, #hivm.address_space<gm>>, %bm: memref<72x12x50xf32, #hivm.address_space<gm>>, %o: memref<1x12x72xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64, hivm.func_core_type = #hivm.func_core_type<AIC>} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = arith.constant 12 : index
  %tm = arith.constant 1 : index
  %tn = arith.constant 64 : index
  %tk = arith.constant 32 : index
  %M = arith.constant 1 : index
  %N = arith.constant 72 : index
  %K = arith.constant 50 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index
  scf.for %b = %bi to %B step %nb {
  scf.for %i = %c0 to %M step %tm {
  scf.for %j = %c0 to %N step %tn {
    %lc = memref.alloc() : memref<1x64xf32, #hivm.address_space<cc>>
    %rm = arith.subi %M, %i : index
    %ms = arith.minsi %rm, %tm : index
    %rn = arith.subi %N, %j : index
    %ns = arith.minsi %rn, %tn : index
    scf.for %k = %c0 to %K step %tk {
      %rk = arith.subi %K, %k : index
      %ks = arith.minsi %rk, %tk : index
      %sa = memref.subview %a[%i, %b, %k] [%ms, 1, %ks] [1, 1, 1] : memref<1x12x50xf32, #hivm.address_space<gm>> to memref<?x?xf32, strided<[600, 1], offset: ?>, #hivm.address_space<gm>>
      %sb = memref.subview %bm[%j, %b, %k] [%ns, 1, %ks] [1, 1, 1] : memref<72x12x50xf32, #hivm.address_space<gm>> to memref<?x?xf32, strided<[600, 1], offset: ?>, #hivm.address_space<gm>>
      %la = memref.alloc() : memref<1x32xf32, #hivm.address_space<cbuf>>
      %lb = memref.alloc() : memref<64x32xf32, #hivm.address_space<cbuf>>
      %la1 = memref.subview %la[0, 0] [%ms, %ks] [1, 1] : memref<1x32xf32, #hivm.address_space<cbuf>> to memref<?x?xf32, strided<[32, 1]>, #hivm.address_space<cbuf>>
      %lb1 = memref.subview %lb[0, 0] [%ns, %ks] [1, 1] : memref<64x32xf32, #hivm.address_space<cbuf>> to memref<?x?xf32, strided<[32, 1]>, #hivm.address_space<cbuf>>
      hivm.hir.load ins(%sa : memref<?x?xf32, strided<[600, 1], offset: ?>, #hivm.address_space<gm>>) outs(%la1 : memref<?x?xf32, strided<[32, 1]>, #hivm.address_space<cbuf>>)
      hivm.hir.load ins(%sb : memref<?x?xf32, strided<[600, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lb1 : memref<?x?xf32, strided<[32, 1]>, #hivm.address_space<cbuf>>)
      %first = arith.cmpi eq, %k, %c0 : index
      hivm.hir.mmadL1 {b_transpose} ins(%la, %lb, %first, %ms, %ks, %ns : memref<1x32xf32, #hivm.address_space<cbuf>>, memref<64x32xf32, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<1x64xf32, #hivm.address_space<cc>>)
    }
    %so = memref.subview %o[%i, %b, %j] [%ms, 1, %ns] [1, 1, 1] : memref<1x12x72xf32, #hivm.address_space<gm>> to memref<?x?xf32, strided<[864, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>} ins(%lc : memref<1x64xf32, #hivm.address_space<cc>>) outs(%so : memref<?x?xf32, strided<[864, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  }
  }

  return
}
}
