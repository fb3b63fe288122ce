// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<5x64xf32, #hivm.address_space<gm>>, %o: memref<5x32xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

    %v = memref.alloc() : memref<5x32xf32, #hivm.address_space<ub>>
    %xv = memref.subview %x[0, 0] [5, 32] [1, 2] : memref<5x64xf32, #hivm.address_space<gm>> to memref<5x32xf32, strided<[64, 2]>, #hivm.address_space<gm>>
    hivm.hir.load ins(%xv : memref<5x32xf32, strided<[64, 2]>, #hivm.address_space<gm>>) outs(%v : memref<5x32xf32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%v : memref<5x32xf32, #hivm.address_space<ub>>) outs(%o : memref<5x32xf32, #hivm.address_space<gm>>)
  return
}
}
