// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<64x300xf32, #hivm.address_space<gm>>, %o: memref<64x300xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %ua = memref.alloc() : memref<64x300xf32, #hivm.address_space<ub>>
  %ub = memref.alloc() : memref<64x300xf32, #hivm.address_space<ub>>
  hivm.hir.load ins(%x : memref<64x300xf32, #hivm.address_space<gm>>) outs(%ua : memref<64x300xf32, #hivm.address_space<ub>>)
  
 %va = memref.subview %ua[0, 5] [64, 100] [1, 1] : memref<64x300xf32, #hivm.address_space<ub>> to memref<64x100xf32, strided<[300, 1], offset: 5>, #hivm.address_space<ub>>
 %vb = memref.subview %ub[0, 0] [64, 100] [1, 1] : memref<64x300xf32, #hivm.address_space<ub>> to memref<64x100xf32, strided<[300, 1]>, #hivm.address_space<ub>>
 hivm.hir.vexp ins(%va : memref<64x100xf32, strided<[300, 1], offset: 5>, #hivm.address_space<ub>>) outs(%vb : memref<64x100xf32, strided<[300, 1]>, #hivm.address_space<ub>>)
  hivm.hir.store ins(%ub : memref<64x300xf32, #hivm.address_space<ub>>) outs(%o : memref<64x300xf32, #hivm.address_space<gm>>)

  return
}
}
