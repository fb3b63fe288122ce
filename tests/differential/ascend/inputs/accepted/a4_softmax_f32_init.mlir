// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
  func.func @softmax(%x: memref<1024x512xf32, #hivm.address_space<gm>>, %o: memref<1024x512xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %ninf = arith.constant 0xFF800000 : f32
    %r = arith.constant 1024 : index
    %rt = arith.constant 16 : index
    scf.for %i = %c0 to %r step %rt {
      %sx = memref.subview %x[%i, 0] [16, 512] [1, 1] : memref<1024x512xf32, #hivm.address_space<gm>> to memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>
      %so = memref.subview %o[%i, 0] [16, 512] [1, 1] : memref<1024x512xf32, #hivm.address_space<gm>> to memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>
      %ux = memref.alloc() : memref<16x512xf32, #hivm.address_space<ub>>
      %m = memref.alloc() : memref<16x1xf32, #hivm.address_space<ub>>
      %s = memref.alloc() : memref<16x1xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%sx : memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>)
      hivm.hir.vbrc ins(%ninf : f32) outs(%m : memref<16x1xf32, #hivm.address_space<ub>>)
      hivm.hir.vreduce <max> ins(%ux : memref<16x512xf32, #hivm.address_space<ub>>) outs(%m : memref<16x1xf32, #hivm.address_space<ub>>) reduce_dims = [1]
      hivm.hir.vsub ins(%ux, %m : memref<16x512xf32, #hivm.address_space<ub>>, memref<16x1xf32, #hivm.address_space<ub>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>) broadcast = [1]
      hivm.hir.vexp ins(%ux : memref<16x512xf32, #hivm.address_space<ub>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>)
      hivm.hir.vbrc ins(%zero : f32) outs(%s : memref<16x1xf32, #hivm.address_space<ub>>)
      hivm.hir.vreduce <sum> ins(%ux : memref<16x512xf32, #hivm.address_space<ub>>) outs(%s : memref<16x1xf32, #hivm.address_space<ub>>) reduce_dims = [1]
      hivm.hir.vdiv ins(%ux, %s : memref<16x512xf32, #hivm.address_space<ub>>, memref<16x1xf32, #hivm.address_space<ub>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>) broadcast = [1]
      hivm.hir.store ins(%ux : memref<16x512xf32, #hivm.address_space<ub>>) outs(%so : memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>)
    }
    return
  }
}
