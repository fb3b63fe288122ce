// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @g(%x: memref<64x128xi1, #hivm.address_space<gm>>, %o: memref<64x128xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
  %a = arith.constant 1.0 : f32
  %ux = memref.alloc() : memref<64x128xf32, #hivm.address_space<ub>>
  %uc = memref.alloc() : memref<64x128xi1, #hivm.address_space<ub>>
  hivm.hir.load ins(%x : memref<64x128xi1, #hivm.address_space<gm>>) outs(%uc : memref<64x128xi1, #hivm.address_space<ub>>)
  hivm.hir.vsel ins(%uc, %a, %a : memref<64x128xi1, #hivm.address_space<ub>>, f32, f32) outs(%ux : memref<64x128xf32, #hivm.address_space<ub>>)
  hivm.hir.store ins(%ux : memref<64x128xf32, #hivm.address_space<ub>>) outs(%o : memref<64x128xf32, #hivm.address_space<gm>>)
  return
}
}
