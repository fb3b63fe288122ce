// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --hivm-init-entry-kernel --hivm-infer-func-core-type --hivm-flatten-ops --hivm-inject-sync --convert-hivm-to-std -o OUT.mlir
module {
  func.func @softmax(%x: memref<1024x512xf32, #hivm.address_space<gm>>, %o: memref<1024x512xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %c0 = arith.constant 0 : index
    %r = arith.constant 1024 : index
    %rt = arith.constant 16 : index
    scf.for %i = %c0 to %r step %rt {
      %sx = memref.subview %x[%i, 0] [16, 512] [1, 1] : memref<1024x512xf32, #hivm.address_space<gm>> to memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>
      %so = memref.subview %o[%i, 0] [16, 512] [1, 1] : memref<1024x512xf32, #hivm.address_space<gm>> to memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>
      %ux_ad = arith.constant 0 : i64
      %ux = hivm.hir.pointer_cast(%ux_ad) : memref<16x512xf32, #hivm.address_space<ub>>
      %m_ad = arith.constant 32768 : i64
      %m = hivm.hir.pointer_cast(%m_ad) : memref<16x1xf32, #hivm.address_space<ub>>
      %s_ad = arith.constant 49728 : i64
      %s = hivm.hir.pointer_cast(%s_ad) : memref<16x1xf32, #hivm.address_space<ub>>
      %t_ad = arith.constant 65536 : i64
      %t1 = hivm.hir.pointer_cast(%t_ad) : memref<4096xf32, #hivm.address_space<ub>>
      %t2_ad = arith.constant 98304 : i64
      %t2 = hivm.hir.pointer_cast(%t2_ad) : memref<128xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%sx : memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>)
      hivm.hir.vreduce <max> ins(%ux : memref<16x512xf32, #hivm.address_space<ub>>) outs(%m : memref<16x1xf32, #hivm.address_space<ub>>) temp_buffer(%t1 : memref<4096xf32, #hivm.address_space<ub>>) reduce_dims = [1]
      hivm.hir.vsub ins(%ux, %m : memref<16x512xf32, #hivm.address_space<ub>>, memref<16x1xf32, #hivm.address_space<ub>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>) temp_buffer(%t2 : memref<128xf32, #hivm.address_space<ub>>) broadcast = [1]
      hivm.hir.vexp ins(%ux : memref<16x512xf32, #hivm.address_space<ub>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>)
      hivm.hir.vreduce <sum> ins(%ux : memref<16x512xf32, #hivm.address_space<ub>>) outs(%s : memref<16x1xf32, #hivm.address_space<ub>>) temp_buffer(%t1 : memref<4096xf32, #hivm.address_space<ub>>) reduce_dims = [1]
      hivm.hir.vdiv ins(%ux, %s : memref<16x512xf32, #hivm.address_space<ub>>, memref<16x1xf32, #hivm.address_space<ub>>) outs(%ux : memref<16x512xf32, #hivm.address_space<ub>>) temp_buffer(%t2 : memref<128xf32, #hivm.address_space<ub>>) broadcast = [1]
      hivm.hir.store ins(%ux : memref<16x512xf32, #hivm.address_space<ub>>) outs(%so : memref<16x512xf32, strided<[512, 1], offset: ?>, #hivm.address_space<gm>>)
    }
    return
  }
}
