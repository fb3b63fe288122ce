// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<8x12x16x64xf32, #hivm.address_space<gm>>, %o: memref<8x16x12x64xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

  %tot = arith.constant 96 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  scf.for %t = %bi to %tot step %nb {
    %b = arith.divui %t, %c12 : index
    %h = arith.remui %t, %c12 : index
    %s = memref.subview %x[%b, %h, 0, 0] [1, 1, 16, 64] [1, 1, 1, 1] : memref<8x12x16x64xf32, #hivm.address_space<gm>> to memref<16x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
    %so = memref.subview %o[%b, 0, %h, 0] [1, 16, 1, 64] [1, 1, 1, 1] : memref<8x16x12x64xf32, #hivm.address_space<gm>> to memref<16x64xf32, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>
    %u = memref.alloc() : memref<16x64xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%s : memref<16x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%u : memref<16x64xf32, #hivm.address_space<ub>>)
    hivm.hir.vrelu ins(%u : memref<16x64xf32, #hivm.address_space<ub>>) outs(%u : memref<16x64xf32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%u : memref<16x64xf32, #hivm.address_space<ub>>) outs(%so : memref<16x64xf32, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
