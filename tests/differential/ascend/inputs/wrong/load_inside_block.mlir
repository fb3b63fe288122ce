// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<8x48xf32, #hivm.address_space<gm>>, %o: memref<10x64xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

  %z = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<10x64xf32, #hivm.address_space<ub>>
  hivm.hir.vbrc ins(%z : f32) outs(%a : memref<10x64xf32, #hivm.address_space<ub>>)
  %av = memref.subview %a[1, 1] [8, 48] [1, 1] : memref<10x64xf32, #hivm.address_space<ub>> to memref<8x48xf32, strided<[64, 1], offset: 65>, #hivm.address_space<ub>>
  hivm.hir.load ins(%x : memref<8x48xf32, #hivm.address_space<gm>>) outs(%av : memref<8x48xf32, strided<[64, 1], offset: 65>, #hivm.address_space<ub>>)
  hivm.hir.store ins(%a : memref<10x64xf32, #hivm.address_space<ub>>) outs(%o : memref<10x64xf32, #hivm.address_space<gm>>)
  
  return
}
}
