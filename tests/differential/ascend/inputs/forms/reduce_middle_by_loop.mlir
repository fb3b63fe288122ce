// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<50x16x35xf32, #hivm.address_space<gm>>, %o: memref<50x16x35xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %R = arith.constant 50 : index
  scf.for %i = %c0 to %R step %c4 {
  %rem = arith.subi %R, %i : index
  %n = arith.minsi %rem, %c4 : index
  %sx = memref.subview %x[%i, 0, 0] [%n, 16, 35] [1, 1, 1] : memref<50x16x35xf32, #hivm.address_space<gm>> to memref<?x16x35xf32, strided<[560, 35, 1], offset: ?>, #hivm.address_space<gm>>
  %so = memref.subview %o[%i, 0, 0] [%n, 16, 35] [1, 1, 1] : memref<50x16x35xf32, #hivm.address_space<gm>> to memref<?x16x35xf32, strided<[560, 35, 1], offset: ?>, #hivm.address_space<gm>>
  %ua0 = memref.alloc() : memref<4x16x40xf32, #hivm.address_space<ub>>
  %ua = memref.subview %ua0[0, 0, 0] [%n, 16, 35] [1, 1, 1] : memref<4x16x40xf32, #hivm.address_space<ub>> to memref<?x16x35xf32, strided<[640, 40, 1]>, #hivm.address_space<ub>>
  %ub0 = memref.alloc() : memref<4x16x40xf32, #hivm.address_space<ub>>
  %ub = memref.subview %ub0[0, 0, 0] [%n, 16, 35] [1, 1, 1] : memref<4x16x40xf32, #hivm.address_space<ub>> to memref<?x16x35xf32, strided<[640, 40, 1]>, #hivm.address_space<ub>>
  hivm.hir.load ins(%sx : memref<?x16x35xf32, strided<[560, 35, 1], offset: ?>, #hivm.address_space<gm>>) outs(%ua : memref<?x16x35xf32, strided<[640, 40, 1]>, #hivm.address_space<ub>>)
  %g0 = memref.alloc() : memref<4x1x40xf32, #hivm.address_space<ub>>
 %c1 = arith.constant 1 : index
 scf.for %j = %c0 to %n step %c1 {
   %r = memref.subview %ua0[%j, 0, 0] [1, 16, 35] [1, 1, 1] : memref<4x16x40xf32, #hivm.address_space<ub>> to memref<16x35xf32, strided<[40, 1], offset: ?>, #hivm.address_space<ub>>
   %q = memref.subview %g0[%j, 0, 0] [1, 1, 35] [1, 1, 1] : memref<4x1x40xf32, #hivm.address_space<ub>> to memref<1x35xf32, strided<[40, 1], offset: ?>, #hivm.address_space<ub>>
   hivm.hir.vreduce <sum> ins(%r : memref<16x35xf32, strided<[40, 1], offset: ?>, #hivm.address_space<ub>>) outs(%q : memref<1x35xf32, strided<[40, 1], offset: ?>, #hivm.address_space<ub>>) reduce_dims = [0]
 }
 %g = memref.subview %g0[0, 0, 0] [%n, 1, 35] [1, 1, 1] : memref<4x1x40xf32, #hivm.address_space<ub>> to memref<?x1x35xf32, strided<[40, 40, 1]>, #hivm.address_space<ub>>
 hivm.hir.vsub ins(%ua, %g : memref<?x16x35xf32, strided<[640, 40, 1]>, #hivm.address_space<ub>>, memref<?x1x35xf32, strided<[40, 40, 1]>, #hivm.address_space<ub>>) outs(%ub : memref<?x16x35xf32, strided<[640, 40, 1]>, #hivm.address_space<ub>>) broadcast = [1]
  hivm.hir.store ins(%ub : memref<?x16x35xf32, strided<[640, 40, 1]>, #hivm.address_space<ub>>) outs(%so : memref<?x16x35xf32, strided<[560, 35, 1], offset: ?>, #hivm.address_space<gm>>)
  }

  return
}
}
