// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<4x17x35xf32, #hivm.address_space<gm>>, %o: memref<4x1x35xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %c4 = arith.constant 4 : index
 %ua = memref.alloc() : memref<4x17x35xf32, #hivm.address_space<ub>>
 %ub = memref.alloc() : memref<4x1x35xf32, #hivm.address_space<ub>>
 hivm.hir.load ins(%x : memref<4x17x35xf32, #hivm.address_space<gm>>) outs(%ua : memref<4x17x35xf32, #hivm.address_space<ub>>)
 scf.for %j = %c0 to %c4 step %c1 {
   %r = memref.subview %ua[%j, 0, 0] [1, 17, 35] [1, 1, 1] : memref<4x17x35xf32, #hivm.address_space<ub>> to memref<17x35xf32, strided<[35, 1], offset: ?>, #hivm.address_space<ub>>
   %q = memref.subview %ub[%j, 0, 0] [1, 1, 35] [1, 1, 1] : memref<4x1x35xf32, #hivm.address_space<ub>> to memref<1x35xf32, strided<[35, 1], offset: ?>, #hivm.address_space<ub>>
   hivm.hir.vreduce <sum> ins(%r : memref<17x35xf32, strided<[35, 1], offset: ?>, #hivm.address_space<ub>>) outs(%q : memref<1x35xf32, strided<[35, 1], offset: ?>, #hivm.address_space<ub>>) reduce_dims = [0]
 }
 hivm.hir.store ins(%ub : memref<4x1x35xf32, #hivm.address_space<ub>>) outs(%o : memref<4x1x35xf32, #hivm.address_space<gm>>)
  return
}
}
