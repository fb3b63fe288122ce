// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<8x100x64xf32, #hivm.address_space<gm>>, %o: memref<100x8x64xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

  %c100 = arith.constant 100 : index
  %r = memref.reinterpret_cast %x to offset: [0], sizes: [100, 8, 64], strides: [64, 6400, 1] : memref<8x100x64xf32, #hivm.address_space<gm>> to memref<100x8x64xf32, strided<[64, 6400, 1]>, #hivm.address_space<gm>>
  scf.for %t = %bi to %c100 step %nb {
    %s = memref.subview %r[%t, 0, 0] [1, 8, 64] [1, 1, 1] : memref<100x8x64xf32, strided<[64, 6400, 1]>, #hivm.address_space<gm>> to memref<8x64xf32, strided<[6400, 1], offset: ?>, #hivm.address_space<gm>>
    %so = memref.subview %o[%t, 0, 0] [1, 8, 64] [1, 1, 1] : memref<100x8x64xf32, #hivm.address_space<gm>> to memref<8x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
    %u = memref.alloc() : memref<8x64xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%s : memref<8x64xf32, strided<[6400, 1], offset: ?>, #hivm.address_space<gm>>) outs(%u : memref<8x64xf32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%u : memref<8x64xf32, #hivm.address_space<ub>>) outs(%so : memref<8x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
