// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
  func.func @ew_block(%a: memref<1048576xf16, #hivm.address_space<gm>>, %b: memref<1048576xf16, #hivm.address_space<gm>>, %o: memref<1048576xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.block_dim = 40 : i64, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %n = arith.constant 1048576 : index
    %t = arith.constant 8192 : index
    %bi64 = hivm.hir.get_block_idx -> i64
    %nb64 = hivm.hir.get_block_num -> i64
    %bi = arith.index_cast %bi64 : i64 to index
    %nb = arith.index_cast %nb64 : i64 to index
    %lo = arith.muli %bi, %t : index
    %st = arith.muli %nb, %t : index
    scf.for %i = %lo to %n step %st {
      %sa = memref.subview %a[%i] [8192] [1] : memref<1048576xf16, #hivm.address_space<gm>> to memref<8192xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>
      %sb = memref.subview %b[%i] [8192] [1] : memref<1048576xf16, #hivm.address_space<gm>> to memref<8192xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>
      %so = memref.subview %o[%i] [8192] [1] : memref<1048576xf16, #hivm.address_space<gm>> to memref<8192xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>
      %ua = memref.alloc() : memref<8192xf16, #hivm.address_space<ub>>
      %ub = memref.alloc() : memref<8192xf16, #hivm.address_space<ub>>
      annotation.mark %ua {hivm.multi_buffer = 2 : i32} : memref<8192xf16, #hivm.address_space<ub>>
      annotation.mark %ub {hivm.multi_buffer = 2 : i32} : memref<8192xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%sa : memref<8192xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>) outs(%ua : memref<8192xf16, #hivm.address_space<ub>>)
      hivm.hir.load ins(%sb : memref<8192xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>) outs(%ub : memref<8192xf16, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%ua, %ub : memref<8192xf16, #hivm.address_space<ub>>, memref<8192xf16, #hivm.address_space<ub>>) outs(%ua : memref<8192xf16, #hivm.address_space<ub>>)
      hivm.hir.vrelu ins(%ua : memref<8192xf16, #hivm.address_space<ub>>) outs(%ua : memref<8192xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%ua : memref<8192xf16, #hivm.address_space<ub>>) outs(%so : memref<8192xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>)
    }
    return
  }
}
