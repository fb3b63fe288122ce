// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
  func.func @mmT_f16(%a: memref<128x256xf16>, %b: memref<256x128xf16>, %o: memref<128x128xf16>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %c0 = arith.constant 0 : index
    %kt = arith.constant 64 : index
    %k = arith.constant 256 : index
    %m = arith.constant 128 : index
    %n = arith.constant 128 : index
    %e = tensor.empty() : tensor<128x128xf32>
    %acc = scf.for %i = %c0 to %k step %kt iter_args(%c = %e) -> (tensor<128x128xf32>) {
      %sa = memref.subview %a[0, %i] [128, 64] [1, 1] : memref<128x256xf16> to memref<128x64xf16, strided<[256, 1], offset: ?>>
      %sb = memref.subview %b[%i, 0] [64, 128] [1, 1] : memref<256x128xf16> to memref<64x128xf16, strided<[128, 1], offset: ?>>
      %la = memref.alloc() : memref<128x64xf16>
      %lb = memref.alloc() : memref<64x128xf16>
      hivm.hir.load ins(%sa : memref<128x64xf16, strided<[256, 1], offset: ?>>) outs(%la : memref<128x64xf16>)
      hivm.hir.load ins(%sb : memref<64x128xf16, strided<[128, 1], offset: ?>>) outs(%lb : memref<64x128xf16>)
      %ta = bufferization.to_tensor %la restrict writable : memref<128x64xf16>
      %tb = bufferization.to_tensor %lb restrict writable : memref<64x128xf16>
      %first = arith.cmpi eq, %i, %c0 : index
      %r = hivm.hir.mmadL1 ins(%ta, %tb, %first, %m, %kt, %n : tensor<128x64xf16>, tensor<64x128xf16>, i1, index, index, index) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
      scf.yield %r : tensor<128x128xf32>
    }
    %e3 = tensor.empty() : tensor<128x128xf16>
    %cst = hivm.hir.vcast ins(%acc : tensor<128x128xf32>) outs(%e3 : tensor<128x128xf16>) -> tensor<128x128xf16>
    hivm.hir.store ins(%cst : tensor<128x128xf16>) outs(%o : memref<128x128xf16>)
    return
  }
}
