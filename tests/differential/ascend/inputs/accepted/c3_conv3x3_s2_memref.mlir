// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @conv3s2(%x: memref<58x58x64xf16, #hivm.address_space<gm>>, %w: memref<3x3x64x128xf16, #hivm.address_space<gm>>, %bias: memref<128xf32, #hivm.address_space<gm>>, %o: memref<28x28x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %h = arith.constant 28 : index
  %k = arith.constant 64 : index
  %n = arith.constant 128 : index
  %lb = memref.alloc() : memref<128xf32, #hivm.address_space<cbuf>>
  hivm.hir.load ins(%bias : memref<128xf32, #hivm.address_space<gm>>) outs(%lb : memref<128xf32, #hivm.address_space<cbuf>>)
  scf.for %oh = %c0 to %h step %c1 {
    %lc = memref.alloc() : memref<28x128xf32, #hivm.address_space<cc>>
    scf.for %kh = %c0 to %c3 step %c1 {
      scf.for %kw = %c0 to %c3 step %c1 {
        %oh2 = arith.addi %oh, %oh : index
        %ih = arith.addi %oh2, %kh : index
        %sx = memref.subview %x[%ih, %kw, 0] [1, 28, 64] [1, 2, 1] : memref<58x58x64xf16, #hivm.address_space<gm>> to memref<28x64xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
        %sw = memref.subview %w[%kh, %kw, 0, 0] [1, 1, 64, 128] [1, 1, 1, 1] : memref<3x3x64x128xf16, #hivm.address_space<gm>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
        %lx = memref.alloc() : memref<28x64xf16, #hivm.address_space<cbuf>>
        %lw = memref.alloc() : memref<64x128xf16, #hivm.address_space<cbuf>>
        hivm.hir.load ins(%sx : memref<28x64xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lx : memref<28x64xf16, #hivm.address_space<cbuf>>)
        hivm.hir.load ins(%sw : memref<64x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lw : memref<64x128xf16, #hivm.address_space<cbuf>>)
        %f0 = arith.cmpi eq, %kh, %c0 : index
        %f1 = arith.cmpi eq, %kw, %c0 : index
        %first = arith.andi %f0, %f1 : i1
        hivm.hir.mmadL1 ins(%lx, %lw, %first, %h, %k, %n, %lb : memref<28x64xf16, #hivm.address_space<cbuf>>, memref<64x128xf16, #hivm.address_space<cbuf>>, i1, index, index, index, memref<128xf32, #hivm.address_space<cbuf>>) outs(%lc : memref<28x128xf32, #hivm.address_space<cc>>)
      }
    }
    %so = memref.subview %o[%oh, 0, 0] [1, 28, 128] [1, 1, 1] : memref<28x28x128xf16, #hivm.address_space<gm>> to memref<28x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_quant = #hivm.fixpipe_pre_quant_mode<F322F16>, pre_relu = #hivm.fixpipe_pre_relu_mode<NORMAL_RELU>} ins(%lc : memref<28x128xf32, #hivm.address_space<cc>>) outs(%so : memref<28x128xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
