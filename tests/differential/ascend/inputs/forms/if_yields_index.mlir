// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<7x64xf32, #hivm.address_space<gm>>, %o: memref<10x64xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

  %n = arith.constant 10 : index
  %m = arith.constant 7 : index
  scf.for %i = %bi to %n step %nb {
    %c = arith.cmpi slt, %i, %m : index
    %q = scf.if %c -> (index) {
      scf.yield %i : index
    } else {
      %j = arith.subi %i, %m : index
      scf.yield %j : index
    }
    %u = memref.alloc() : memref<1x64xf32, #hivm.address_space<ub>>
    %so = memref.subview %o[%i, 0] [1, 64] [1, 1] : memref<10x64xf32, #hivm.address_space<gm>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
    %s = memref.subview %x[%q, 0] [1, 64] [1, 1] : memref<7x64xf32, #hivm.address_space<gm>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.load ins(%s : memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%u : memref<1x64xf32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%u : memref<1x64xf32, #hivm.address_space<ub>>) outs(%so : memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
