// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<197x100xf32, #hivm.address_space<gm>>, %o: memref<100x197xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

  %M = arith.constant 197 : index
  %N = arith.constant 100 : index
  %tm = arith.constant 64 : index
  %tn = arith.constant 64 : index
  scf.for %i = %c0 to %M step %tm {
  scf.for %j = %c0 to %N step %tn {
    %rm = arith.subi %M, %i : index
    %ms = arith.minsi %rm, %tm : index
    %rn = arith.subi %N, %j : index
    %ns = arith.minsi %rn, %tn : index
    %a = memref.alloc() : memref<64x64xf32, #hivm.address_space<ub>>
    %b = memref.alloc() : memref<64x64xf32, #hivm.address_space<ub>>
    %av = memref.subview %a[0, 0] [%ms, %ns] [1, 1] : memref<64x64xf32, #hivm.address_space<ub>> to memref<?x?xf32, strided<[64, 1]>, #hivm.address_space<ub>>
    %bv = memref.subview %b[0, 0] [%ns, %ms] [1, 1] : memref<64x64xf32, #hivm.address_space<ub>> to memref<?x?xf32, strided<[64, 1]>, #hivm.address_space<ub>>
    %s = memref.subview %x[%i, %j] [%ms, %ns] [1, 1] : memref<197x100xf32, #hivm.address_space<gm>> to memref<?x?xf32, strided<[100, 1], offset: ?>, #hivm.address_space<gm>>
    %so = memref.subview %o[%j, %i] [%ns, %ms] [1, 1] : memref<100x197xf32, #hivm.address_space<gm>> to memref<?x?xf32, strided<[197, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.load ins(%s : memref<?x?xf32, strided<[100, 1], offset: ?>, #hivm.address_space<gm>>) outs(%av : memref<?x?xf32, strided<[64, 1]>, #hivm.address_space<ub>>)
    hivm.hir.vtranspose ins(%a : memref<64x64xf32, #hivm.address_space<ub>>) outs(%b : memref<64x64xf32, #hivm.address_space<ub>>) permutation = [1, 0]
    hivm.hir.store ins(%bv : memref<?x?xf32, strided<[64, 1]>, #hivm.address_space<ub>>) outs(%so : memref<?x?xf32, strided<[197, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  }
  return
}
}
