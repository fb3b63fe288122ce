// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<1000x197xf32, #hivm.address_space<gm>>, %g: memref<197xf32, #hivm.address_space<gm>>, %be: memref<197xf32, #hivm.address_space<gm>>, %o: memref<1000x197xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

  %R = arith.constant 1000 : index
  %T = arith.constant 8 : index
  %lo = arith.muli %bi, %T : index
  %st = arith.muli %nb, %T : index
  %inv = arith.constant 0.0013 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ug0 = memref.alloc() : memref<1x200xf32, #hivm.address_space<ub>>
  %ub0 = memref.alloc() : memref<1x200xf32, #hivm.address_space<ub>>
  %ug = memref.subview %ug0[0, 0] [1, 197] [1, 1] : memref<1x200xf32, #hivm.address_space<ub>> to memref<1x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>
  %ub = memref.subview %ub0[0, 0] [1, 197] [1, 1] : memref<1x200xf32, #hivm.address_space<ub>> to memref<1x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>
  %g2 = memref.expand_shape %g [[0, 1]] output_shape [1, 197] : memref<197xf32, #hivm.address_space<gm>> into memref<1x197xf32, #hivm.address_space<gm>>
  %be2 = memref.expand_shape %be [[0, 1]] output_shape [1, 197] : memref<197xf32, #hivm.address_space<gm>> into memref<1x197xf32, #hivm.address_space<gm>>
  hivm.hir.load ins(%g2 : memref<1x197xf32, #hivm.address_space<gm>>) outs(%ug : memref<1x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>)
  hivm.hir.load ins(%be2 : memref<1x197xf32, #hivm.address_space<gm>>) outs(%ub : memref<1x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>)
  scf.for %i = %lo to %R step %st {
    %rem = arith.subi %R, %i : index
    %n = arith.minsi %rem, %T : index
    %s = memref.subview %x[%i, 0] [%n, 197] [1, 1] : memref<1000x197xf32, #hivm.address_space<gm>> to memref<?x197xf32, strided<[197, 1], offset: ?>, #hivm.address_space<gm>>
    %so = memref.subview %o[%i, 0] [%n, 197] [1, 1] : memref<1000x197xf32, #hivm.address_space<gm>> to memref<?x197xf32, strided<[197, 1], offset: ?>, #hivm.address_space<gm>>
    %u0 = memref.alloc() : memref<8x200xf32, #hivm.address_space<ub>>
    %u = memref.subview %u0[0, 0] [%n, 197] [1, 1] : memref<8x200xf32, #hivm.address_space<ub>> to memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>
    %m0 = memref.alloc() : memref<8x1xf32, #hivm.address_space<ub>>
    %m = memref.subview %m0[0, 0] [%n, 1] [1, 1] : memref<8x1xf32, #hivm.address_space<ub>> to memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%s : memref<?x197xf32, strided<[197, 1], offset: ?>, #hivm.address_space<gm>>) outs(%u : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>)
    
    %v0 = memref.alloc() : memref<8x1xf32, #hivm.address_space<ub>>
    %v = memref.subview %v0[0, 0] [%n, 1] [1, 1] : memref<8x1xf32, #hivm.address_space<ub>> to memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>
    %q0 = memref.alloc() : memref<8x200xf32, #hivm.address_space<ub>>
    %q = memref.subview %q0[0, 0] [%n, 197] [1, 1] : memref<8x200xf32, #hivm.address_space<ub>> to memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>
    hivm.hir.vreduce <sum> ins(%u : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>) outs(%m : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>) reduce_dims = [1]
    hivm.hir.vmul ins(%m, %inv : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>, f32) outs(%m : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>)
    hivm.hir.vsub ins(%u, %m : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>, memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>) outs(%u : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>) broadcast = [1]
    hivm.hir.vmul ins(%u, %u : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>, memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>) outs(%q : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>)
    hivm.hir.vreduce <sum> ins(%q : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>) outs(%v : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>) reduce_dims = [1]
    hivm.hir.vmul ins(%v, %inv : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>, f32) outs(%v : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>)
    hivm.hir.vadd ins(%v, %eps : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>, f32) outs(%v : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>)
    hivm.hir.vsqrt ins(%v : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>) outs(%v : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>)
    hivm.hir.vdiv ins(%u, %v : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>, memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>) outs(%u : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>) broadcast = [1]
    hivm.hir.vmul ins(%u, %ug : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>, memref<1x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>) outs(%u : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>) broadcast = [0]
    hivm.hir.vadd ins(%u, %ub : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>, memref<1x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>) outs(%u : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>) broadcast = [0]
    hivm.hir.store ins(%u : memref<?x197xf32, strided<[200, 1]>, #hivm.address_space<ub>>) outs(%so : memref<?x197xf32, strided<[197, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
