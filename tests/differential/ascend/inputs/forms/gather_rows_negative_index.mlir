// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%t: memref<30522x768xf32, #hivm.address_space<gm>>, %i: memref<128xi64, #hivm.address_space<gm>>, %o: memref<128x768xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

  %n = arith.constant 128 : index
  %V = arith.constant 30522 : index
  scf.for %r = %bi to %n step %nb {
    %ix = memref.load %i[%r] : memref<128xi64, #hivm.address_space<gm>>
    %i0 = arith.index_cast %ix : i64 to index
    %neg = arith.cmpi slt, %i0, %c0 : index
    %iw = arith.addi %i0, %V : index
    %ii = arith.select %neg, %iw, %i0 : index
    %s = memref.subview %t[%ii, 0] [1, 768] [1, 1] : memref<30522x768xf32, #hivm.address_space<gm>> to memref<1x768xf32, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>
    %so = memref.subview %o[%r, 0] [1, 768] [1, 1] : memref<128x768xf32, #hivm.address_space<gm>> to memref<1x768xf32, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>
    %u = memref.alloc() : memref<1x768xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%s : memref<1x768xf32, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>) outs(%u : memref<1x768xf32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%u : memref<1x768xf32, #hivm.address_space<ub>>) outs(%so : memref<1x768xf32, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
