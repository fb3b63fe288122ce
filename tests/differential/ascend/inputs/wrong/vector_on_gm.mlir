// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @g(%x: memref<64x128xf32, #hivm.address_space<gm>>, %o: memref<64x128xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
  %ux = memref.alloc() : memref<64x128xf32, #hivm.address_space<ub>>
  hivm.hir.vexp ins(%x : memref<64x128xf32, #hivm.address_space<gm>>) outs(%ux : memref<64x128xf32, #hivm.address_space<ub>>)
  hivm.hir.store ins(%ux : memref<64x128xf32, #hivm.address_space<ub>>) outs(%o : memref<64x128xf32, #hivm.address_space<gm>>)
  return
}
}
