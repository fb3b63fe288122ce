// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<1000x1001xf32, #hivm.address_space<gm>>, %g: memref<1001xf32, #hivm.address_space<gm>>, %be: memref<1001xf32, #hivm.address_space<gm>>, %o: memref<1000x1001xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

  %R = arith.constant 1000 : index
  %T = arith.constant 16 : index
  %lo = arith.muli %bi, %T : index
  %st = arith.muli %nb, %T : index
  
  scf.for %i = %lo to %R step %st {
    %rem = arith.subi %R, %i : index
    %n = arith.minsi %rem, %T : index
    %s = memref.subview %x[%i, 0] [%n, 1001] [1, 1] : memref<1000x1001xf32, #hivm.address_space<gm>> to memref<?x1001xf32, strided<[1001, 1], offset: ?>, #hivm.address_space<gm>>
    %so = memref.subview %o[%i, 0] [%n, 1001] [1, 1] : memref<1000x1001xf32, #hivm.address_space<gm>> to memref<?x1001xf32, strided<[1001, 1], offset: ?>, #hivm.address_space<gm>>
    %u0 = memref.alloc() : memref<16x1008xf32, #hivm.address_space<ub>>
    %u = memref.subview %u0[0, 0] [%n, 1001] [1, 1] : memref<16x1008xf32, #hivm.address_space<ub>> to memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>
    %m0 = memref.alloc() : memref<16x1xf32, #hivm.address_space<ub>>
    %m = memref.subview %m0[0, 0] [%n, 1] [1, 1] : memref<16x1xf32, #hivm.address_space<ub>> to memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%s : memref<?x1001xf32, strided<[1001, 1], offset: ?>, #hivm.address_space<gm>>) outs(%u : memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>)
    
    hivm.hir.vreduce <max> ins(%u : memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>) outs(%m : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>) reduce_dims = [1]
    hivm.hir.vsub ins(%u, %m : memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>, memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>) outs(%u : memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>) broadcast = [1]
    hivm.hir.vexp ins(%u : memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>) outs(%u : memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>)
    hivm.hir.vreduce <sum> ins(%u : memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>) outs(%m : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>) reduce_dims = [1]
    hivm.hir.vdiv ins(%u, %m : memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>, memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>) outs(%u : memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>) broadcast = [1]
    hivm.hir.store ins(%u : memref<?x1001xf32, strided<[1008, 1]>, #hivm.address_space<ub>>) outs(%so : memref<?x1001xf32, strided<[1001, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
