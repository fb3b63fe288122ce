// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<10xf32, #hivm.address_space<gm>>, %s: memref<1xf32, #hivm.address_space<gm>>, %o: memref<10xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

    %u = memref.alloc() : memref<10xf32, #hivm.address_space<ub>>
    %v = memref.load %s[%c0] : memref<1xf32, #hivm.address_space<gm>>
    hivm.hir.load ins(%x : memref<10xf32, #hivm.address_space<gm>>) outs(%u : memref<10xf32, #hivm.address_space<ub>>)
    hivm.hir.vmul ins(%u, %v : memref<10xf32, #hivm.address_space<ub>>, f32) outs(%u : memref<10xf32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%u : memref<10xf32, #hivm.address_space<ub>>) outs(%o : memref<10xf32, #hivm.address_space<gm>>)
  
  return
}
}
