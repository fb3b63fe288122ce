// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<3x8x100x64xf32, #hivm.address_space<gm>>, %o: memref<3x4x5x35xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

    %s = memref.subview %x[0, 2, 3, 0] [3, 4, 5, 35] [1, 1, 1, 1] : memref<3x8x100x64xf32, #hivm.address_space<gm>> to memref<3x4x5x35xf32, strided<[51200, 6400, 64, 1], offset: 12992>, #hivm.address_space<gm>>
    %u = memref.alloc() : memref<3x4x5x40xf32, #hivm.address_space<ub>>
    %uv = memref.subview %u[0, 0, 0, 0] [3, 4, 5, 35] [1, 1, 1, 1] : memref<3x4x5x40xf32, #hivm.address_space<ub>> to memref<3x4x5x35xf32, strided<[800, 200, 40, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%s : memref<3x4x5x35xf32, strided<[51200, 6400, 64, 1], offset: 12992>, #hivm.address_space<gm>>) outs(%uv : memref<3x4x5x35xf32, strided<[800, 200, 40, 1]>, #hivm.address_space<ub>>)
    hivm.hir.vrelu ins(%uv : memref<3x4x5x35xf32, strided<[800, 200, 40, 1]>, #hivm.address_space<ub>>) outs(%uv : memref<3x4x5x35xf32, strided<[800, 200, 40, 1]>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%uv : memref<3x4x5x35xf32, strided<[800, 200, 40, 1]>, #hivm.address_space<ub>>) outs(%o : memref<3x4x5x35xf32, #hivm.address_space<gm>>)

  return
}
}
