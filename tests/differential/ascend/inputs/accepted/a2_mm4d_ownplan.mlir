// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --hivm-init-entry-kernel --hivm-inject-sync --convert-hivm-to-std -o OUT.mlir
module {
  func.func @mm(%a: memref<128x256xf16, #hivm.address_space<gm>>, %b: memref<256x128xf16, #hivm.address_space<gm>>, %o: memref<128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
    %c0 = arith.constant 0 : index
    %kt = arith.constant 64 : index
    %k = arith.constant 256 : index
    %m = arith.constant 128 : index
    %n = arith.constant 128 : index
    %lc_ad = arith.constant 0 : i64
      %lc = hivm.hir.pointer_cast(%lc_ad) : memref<8x8x16x16xf32, #hivm.address_space<cc>>
    scf.for %i = %c0 to %k step %kt {
      %sa = memref.subview %a[0, %i] [128, 64] [1, 1] : memref<128x256xf16, #hivm.address_space<gm>> to memref<128x64xf16, strided<[256, 1], offset: ?>, #hivm.address_space<gm>>
      %sb = memref.subview %b[%i, 0] [64, 128] [1, 1] : memref<256x128xf16, #hivm.address_space<gm>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
      %la_ad = arith.constant 0 : i64
      %la = hivm.hir.pointer_cast(%la_ad) : memref<4x8x16x16xf16, #hivm.address_space<cbuf>>
      %lb_ad = arith.constant 16384 : i64
      %lb = hivm.hir.pointer_cast(%lb_ad) : memref<8x4x16x16xf16, #hivm.address_space<cbuf>>
      hivm.hir.nd2nz {dst_continuous} ins(%sa : memref<128x64xf16, strided<[256, 1], offset: ?>, #hivm.address_space<gm>>) outs(%la : memref<4x8x16x16xf16, #hivm.address_space<cbuf>>)
      hivm.hir.nd2nz {dst_continuous} ins(%sb : memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lb : memref<8x4x16x16xf16, #hivm.address_space<cbuf>>)
      %first = arith.cmpi eq, %i, %c0 : index
      hivm.hir.mmadL1 ins(%la, %lb, %first, %m, %kt, %n : memref<4x8x16x16xf16, #hivm.address_space<cbuf>>, memref<8x4x16x16xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<8x8x16x16xf32, #hivm.address_space<cc>>)
    }
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>, pre_relu = #hivm.fixpipe_pre_relu_mode<NORMAL_RELU>} ins(%lc : memref<8x8x16x16xf32, #hivm.address_space<cc>>) outs(%o : memref<128x128xf16, #hivm.address_space<gm>>)
    return
  }
}
