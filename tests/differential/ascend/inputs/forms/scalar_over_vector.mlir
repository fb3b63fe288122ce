// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<64x128xf32, #hivm.address_space<gm>>, %y: memref<64x128xf32, #hivm.address_space<gm>>, %o: memref<64x128xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

 %k = arith.constant 2.0 : f32
 %z = arith.constant 0.0 : f32
 %ua = memref.alloc() : memref<64x128xf32, #hivm.address_space<ub>>
 %uy = memref.alloc() : memref<64x128xf32, #hivm.address_space<ub>>
 %ub = memref.alloc() : memref<64x128xf32, #hivm.address_space<ub>>
 hivm.hir.load ins(%x : memref<64x128xf32, #hivm.address_space<gm>>) outs(%ua : memref<64x128xf32, #hivm.address_space<ub>>)
 hivm.hir.load ins(%y : memref<64x128xf32, #hivm.address_space<gm>>) outs(%uy : memref<64x128xf32, #hivm.address_space<ub>>)
 hivm.hir.vdiv ins(%k, %ua : f32, memref<64x128xf32, #hivm.address_space<ub>>) outs(%ub : memref<64x128xf32, #hivm.address_space<ub>>)
 hivm.hir.store ins(%ub : memref<64x128xf32, #hivm.address_space<ub>>) outs(%o : memref<64x128xf32, #hivm.address_space<gm>>)
  return
}
}
