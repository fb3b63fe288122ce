// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --hivm-init-entry-kernel --hivm-infer-func-core-type --hivm-alloc-extra-buffer --convert-hivm-to-std -o OUT.mlir
module {
  func.func @ew_ownplan(%a: memref<1048576xf16, #hivm.address_space<gm>>, %b: memref<1048576xf16, #hivm.address_space<gm>>, %o: memref<1048576xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %c0 = arith.constant 0 : index
    %n = arith.constant 1048576 : index
    %t = arith.constant 4096 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 16384 : i64
    %a2 = arith.constant 65536 : i64
    %ua = hivm.hir.pointer_cast(%a0) : memref<4096xf16, #hivm.address_space<ub>>
    %ub = hivm.hir.pointer_cast(%a1) : memref<4096xf16, #hivm.address_space<ub>>
    %ud = hivm.hir.pointer_cast(%a2) : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID3>]
    scf.for %i = %c0 to %n step %t {
      %sa = memref.subview %a[%i] [4096] [1] : memref<1048576xf16, #hivm.address_space<gm>> to memref<4096xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>
      %sb = memref.subview %b[%i] [4096] [1] : memref<1048576xf16, #hivm.address_space<gm>> to memref<4096xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>
      %so = memref.subview %o[%i] [4096] [1] : memref<1048576xf16, #hivm.address_space<gm>> to memref<4096xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>
      hivm.hir.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID3>]
      hivm.hir.load ins(%sa : memref<4096xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>) outs(%ua : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.load ins(%sb : memref<4096xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>) outs(%ub : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID2>]
      hivm.hir.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID2>]
      hivm.hir.vadd ins(%ua, %ub : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%ud : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.pipe_barrier[<PIPE_V>]
      hivm.hir.vrelu ins(%ud : memref<4096xf16, #hivm.address_space<ub>>) outs(%ud : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID2>]
      hivm.hir.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID2>]
      hivm.hir.store ins(%ud : memref<4096xf16, #hivm.address_space<ub>>) outs(%so : memref<4096xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>)
      hivm.hir.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID3>]
    }
    hivm.hir.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID3>]
    return
  }
}
