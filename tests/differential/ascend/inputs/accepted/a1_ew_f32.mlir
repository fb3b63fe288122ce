// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
  func.func @ew_f32(%a: memref<1048576xf32, #hivm.address_space<gm>>, %b: memref<1048576xf32, #hivm.address_space<gm>>, %c: memref<1048576xf32, #hivm.address_space<gm>>, %o: memref<1048576xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %c0 = arith.constant 0 : index
    %n = arith.constant 1048576 : index
    %t = arith.constant 4096 : index
    scf.for %i = %c0 to %n step %t {
      %sa = memref.subview %a[%i] [4096] [1] : memref<1048576xf32, #hivm.address_space<gm>> to memref<4096xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>
      %sb = memref.subview %b[%i] [4096] [1] : memref<1048576xf32, #hivm.address_space<gm>> to memref<4096xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>
      %sc = memref.subview %c[%i] [4096] [1] : memref<1048576xf32, #hivm.address_space<gm>> to memref<4096xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>
      %so = memref.subview %o[%i] [4096] [1] : memref<1048576xf32, #hivm.address_space<gm>> to memref<4096xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>
      %ua = memref.alloc() : memref<4096xf32, #hivm.address_space<ub>>
      %ub = memref.alloc() : memref<4096xf32, #hivm.address_space<ub>>
      %uc = memref.alloc() : memref<4096xf32, #hivm.address_space<ub>>
      %ud = memref.alloc() : memref<4096xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%sa : memref<4096xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>) outs(%ua : memref<4096xf32, #hivm.address_space<ub>>)
      hivm.hir.load ins(%sb : memref<4096xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>) outs(%ub : memref<4096xf32, #hivm.address_space<ub>>)
      hivm.hir.load ins(%sc : memref<4096xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>) outs(%uc : memref<4096xf32, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%ua, %ub : memref<4096xf32, #hivm.address_space<ub>>, memref<4096xf32, #hivm.address_space<ub>>) outs(%ud : memref<4096xf32, #hivm.address_space<ub>>)
      hivm.hir.vmul ins(%ud, %uc : memref<4096xf32, #hivm.address_space<ub>>, memref<4096xf32, #hivm.address_space<ub>>) outs(%ud : memref<4096xf32, #hivm.address_space<ub>>)
      hivm.hir.vexp ins(%ud : memref<4096xf32, #hivm.address_space<ub>>) outs(%ud : memref<4096xf32, #hivm.address_space<ub>>)
      hivm.hir.vrelu ins(%ud : memref<4096xf32, #hivm.address_space<ub>>) outs(%ud : memref<4096xf32, #hivm.address_space<ub>>)
      hivm.hir.store ins(%ud : memref<4096xf32, #hivm.address_space<ub>>) outs(%so : memref<4096xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>)
    }
    return
  }
}
