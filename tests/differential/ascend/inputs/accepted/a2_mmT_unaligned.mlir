// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
  func.func @mm_unal(%a: memref<100x72xf16>, %b: memref<72x50xf16>, %o: memref<100x50xf32>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %true = arith.constant true
    %m = arith.constant 100 : index
    %k = arith.constant 72 : index
    %n = arith.constant 50 : index
    %la = memref.alloc() : memref<100x72xf16>
    %lb = memref.alloc() : memref<72x50xf16>
    hivm.hir.load ins(%a : memref<100x72xf16>) outs(%la : memref<100x72xf16>)
    hivm.hir.load ins(%b : memref<72x50xf16>) outs(%lb : memref<72x50xf16>)
    %ta = bufferization.to_tensor %la restrict writable : memref<100x72xf16>
    %tb = bufferization.to_tensor %lb restrict writable : memref<72x50xf16>
    %e = tensor.empty() : tensor<100x50xf32>
    %r = hivm.hir.mmadL1 ins(%ta, %tb, %true, %m, %k, %n : tensor<100x72xf16>, tensor<72x50xf16>, i1, index, index, index) outs(%e : tensor<100x50xf32>) -> tensor<100x50xf32>
    hivm.hir.store ins(%r : tensor<100x50xf32>) outs(%o : memref<100x50xf32>)
    return
  }
}
