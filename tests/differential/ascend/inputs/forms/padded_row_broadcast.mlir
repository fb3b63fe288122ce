// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<250x300xf32, #hivm.address_space<gm>>, %o: memref<250x300xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %R = arith.constant 250 : index
  scf.for %i = %c0 to %R step %c16 {
  %rem = arith.subi %R, %i : index
  %n = arith.minsi %rem, %c16 : index
  %sx = memref.subview %x[%i, 0] [%n, 300] [1, 1] : memref<250x300xf32, #hivm.address_space<gm>> to memref<?x300xf32, strided<[300, 1], offset: ?>, #hivm.address_space<gm>>
  %so = memref.subview %o[%i, 0] [%n, 300] [1, 1] : memref<250x300xf32, #hivm.address_space<gm>> to memref<?x300xf32, strided<[300, 1], offset: ?>, #hivm.address_space<gm>>
  %ua0 = memref.alloc() : memref<16x304xf32, #hivm.address_space<ub>>
  %ua = memref.subview %ua0[0, 0] [%n, 300] [1, 1] : memref<16x304xf32, #hivm.address_space<ub>> to memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>
  %ub0 = memref.alloc() : memref<16x304xf32, #hivm.address_space<ub>>
  %ub = memref.subview %ub0[0, 0] [%n, 300] [1, 1] : memref<16x304xf32, #hivm.address_space<ub>> to memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>
  hivm.hir.load ins(%sx : memref<?x300xf32, strided<[300, 1], offset: ?>, #hivm.address_space<gm>>) outs(%ua : memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>)
%g0 = memref.alloc() : memref<1x304xf32, #hivm.address_space<ub>>
 %g = memref.subview %g0[0, 0] [1, 300] [1, 1] : memref<1x304xf32, #hivm.address_space<ub>> to memref<1x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>
 %sg = memref.subview %x[0, 0] [1, 300] [1, 1] : memref<250x300xf32, #hivm.address_space<gm>> to memref<1x300xf32, strided<[300, 1]>, #hivm.address_space<gm>>
 hivm.hir.load ins(%sg : memref<1x300xf32, strided<[300, 1]>, #hivm.address_space<gm>>) outs(%g : memref<1x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>)
 hivm.hir.vmul ins(%ua, %g : memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>, memref<1x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>) outs(%ub : memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>) broadcast = [0]
  hivm.hir.store ins(%ub : memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>) outs(%so : memref<?x300xf32, strided<[300, 1], offset: ?>, #hivm.address_space<gm>>)
  }

  return
}
}
