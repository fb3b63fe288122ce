// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
  func.func @layernorm(%x: memref<1024x512xf32, #hivm.address_space<gm>>, %g: memref<1x512xf32, #hivm.address_space<gm>>, %b: memref<1x512xf32, #hivm.address_space<gm>>, %o: memref<1024x512xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %c0 = arith.constant 0 : index
    %r = arith.constant 1024 : index
    %rt = arith.constant 16 : index
    %inv = arith.constant 0.001953125 : f32
    %eps = arith.constant 1.0e-05 : f32
    %ug = memref.alloc() : memref<1x512xf32, #hivm.address_space<ub>>
    %ubt = memref.alloc() : memref<1x512xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%g : memref<1x512xf32, #hivm.address_space<gm>>) outs(%ug : memref<1x512xf32, #hivm.address_space<ub>>)
    hivm.hir.load ins(%b : memref<1x512xf32, #hivm.address_space<gm>>) outs(%ubt : memref<1x512xf32, #hivm.address_space<ub>>)
    scf.for %i = %c0 to %r step %rt {
      %sx = memref.subview %x[%i, 0] [16, 512] [1, 1] : memref<1024x512xf32, #hivm.address_space<gm>> to memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>
      %so = memref.subview %o[%i, 0] [16, 512] [1, 1] : memref<1024x512xf32, #hivm.address_space<gm>> to memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>
      %ux = memref.alloc() : memref<16x512xf32, #hivm.address_space<ub>>
      %sq = memref.alloc() : memref<16x512xf32, #hivm.address_space<ub>>
      %m = memref.alloc() : memref<16x1xf32, #hivm.address_space<ub>>
      %v = memref.alloc() : memref<16x1xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%sx : memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>)
      hivm.hir.vreduce <sum> ins(%ux : memref<16x512xf32, #hivm.address_space<ub>>) outs(%m : memref<16x1xf32, #hivm.address_space<ub>>) reduce_dims = [1]
      hivm.hir.vmul ins(%m, %inv : memref<16x1xf32, #hivm.address_space<ub>>, f32) outs(%m : memref<16x1xf32, #hivm.address_space<ub>>)
      hivm.hir.vsub ins(%ux, %m : memref<16x512xf32, #hivm.address_space<ub>>, memref<16x1xf32, #hivm.address_space<ub>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>) broadcast = [1]
      hivm.hir.vmul ins(%ux, %ux : memref<16x512xf32, #hivm.address_space<ub>>, memref<16x512xf32, #hivm.address_space<ub>>) outs(%sq : memref<16x512xf32, #hivm.address_space<ub>>)
      hivm.hir.vreduce <sum> ins(%sq : memref<16x512xf32, #hivm.address_space<ub>>) outs(%v : memref<16x1xf32, #hivm.address_space<ub>>) reduce_dims = [1]
      hivm.hir.vmul ins(%v, %inv : memref<16x1xf32, #hivm.address_space<ub>>, f32) outs(%v : memref<16x1xf32, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%v, %eps : memref<16x1xf32, #hivm.address_space<ub>>, f32) outs(%v : memref<16x1xf32, #hivm.address_space<ub>>)
      hivm.hir.vsqrt ins(%v : memref<16x1xf32, #hivm.address_space<ub>>) outs(%v : memref<16x1xf32, #hivm.address_space<ub>>)
      hivm.hir.vdiv ins(%ux, %v : memref<16x512xf32, #hivm.address_space<ub>>, memref<16x1xf32, #hivm.address_space<ub>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>) broadcast = [1]
      hivm.hir.vmul ins(%ux, %ug : memref<16x512xf32, #hivm.address_space<ub>>, memref<1x512xf32, #hivm.address_space<ub>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>) broadcast = [0]
      hivm.hir.vadd ins(%ux, %ubt : memref<16x512xf32, #hivm.address_space<ub>>, memref<1x512xf32, #hivm.address_space<ub>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>) broadcast = [0]
      hivm.hir.store ins(%ux : memref<16x512xf32, #hivm.address_space<ub>>) outs(%so : memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>)
    }
    return
  }
}
