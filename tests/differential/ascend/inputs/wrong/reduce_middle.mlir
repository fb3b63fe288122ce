// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<4x16x64xf32, #hivm.address_space<gm>>, %o: memref<4x1x64xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %ua = memref.alloc() : memref<4x16x64xf32, #hivm.address_space<ub>>
  %ub = memref.alloc() : memref<4x1x64xf32, #hivm.address_space<ub>>
  hivm.hir.load ins(%x : memref<4x16x64xf32, #hivm.address_space<gm>>) outs(%ua : memref<4x16x64xf32, #hivm.address_space<ub>>)
  hivm.hir.vreduce <sum> ins(%ua : memref<4x16x64xf32, #hivm.address_space<ub>>) outs(%ub : memref<4x1x64xf32, #hivm.address_space<ub>>) reduce_dims = [1]
  hivm.hir.store ins(%ub : memref<4x1x64xf32, #hivm.address_space<ub>>) outs(%o : memref<4x1x64xf32, #hivm.address_space<gm>>)

  return
}
}
