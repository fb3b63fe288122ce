// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
  func.func @attn(%ffts: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}, %ws: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %q: memref<1024x64xf16>, %k: memref<128x64xf16>, %v: memref<128x64xf16>, %o: memref<1024x64xf16>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    %scale = arith.constant 0.125 : f32
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %qt = arith.constant 64 : index
    %nq = arith.constant 1024 : index
    %d = arith.constant 64 : index
    %sk = arith.constant 128 : index
    %lk = memref.alloc() : memref<128x64xf16>
    %lv = memref.alloc() : memref<128x64xf16>
    hivm.hir.load ins(%k : memref<128x64xf16>) outs(%lk : memref<128x64xf16>)
    hivm.hir.load ins(%v : memref<128x64xf16>) outs(%lv : memref<128x64xf16>)
    %tk = bufferization.to_tensor %lk restrict writable : memref<128x64xf16>
    %tv = bufferization.to_tensor %lv restrict writable : memref<128x64xf16>
    scf.for %i = %c0 to %nq step %qt {
      %sq = memref.subview %q[%i, 0] [64, 64] [1, 1] : memref<1024x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      %so = memref.subview %o[%i, 0] [64, 64] [1, 1] : memref<1024x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      %lq = memref.alloc() : memref<64x64xf16>
      hivm.hir.load ins(%sq : memref<64x64xf16, strided<[64, 1], offset: ?>>) outs(%lq : memref<64x64xf16>)
      %tq = bufferization.to_tensor %lq restrict writable : memref<64x64xf16>
      %e0 = tensor.empty() : tensor<64x128xf32>
      %s0 = hivm.hir.mmadL1 {b_transpose} ins(%tq, %tk, %true, %qt, %d, %sk : tensor<64x64xf16>, tensor<128x64xf16>, i1, index, index, index) outs(%e0 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %e1 = tensor.empty() : tensor<64x128xf32>
      %s1 = hivm.hir.vmul ins(%s0, %scale : tensor<64x128xf32>, f32) outs(%e1 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %em = tensor.empty() : tensor<64x1xf32>
      %im = hivm.hir.vbrc ins(%ninf : f32) outs(%em : tensor<64x1xf32>) -> tensor<64x1xf32>
      %m = hivm.hir.vreduce <max> ins(%s1 : tensor<64x128xf32>) outs(%im : tensor<64x1xf32>) reduce_dims = [1] -> tensor<64x1xf32>
      %e2 = tensor.empty() : tensor<64x128xf32>
      %s2 = hivm.hir.vsub ins(%s1, %m : tensor<64x128xf32>, tensor<64x1xf32>) outs(%e2 : tensor<64x128xf32>) broadcast = [1] -> tensor<64x128xf32>
      %e3 = tensor.empty() : tensor<64x128xf32>
      %p = hivm.hir.vexp ins(%s2 : tensor<64x128xf32>) outs(%e3 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %es = tensor.empty() : tensor<64x1xf32>
      %is = hivm.hir.vbrc ins(%zero : f32) outs(%es : tensor<64x1xf32>) -> tensor<64x1xf32>
      %l = hivm.hir.vreduce <sum> ins(%p : tensor<64x128xf32>) outs(%is : tensor<64x1xf32>) reduce_dims = [1] -> tensor<64x1xf32>
      %e4 = tensor.empty() : tensor<64x128xf32>
      %pn = hivm.hir.vdiv ins(%p, %l : tensor<64x128xf32>, tensor<64x1xf32>) outs(%e4 : tensor<64x128xf32>) broadcast = [1] -> tensor<64x128xf32>
      %e5 = tensor.empty() : tensor<64x128xf16>
      %p16 = hivm.hir.vcast ins(%pn : tensor<64x128xf32>) outs(%e5 : tensor<64x128xf16>) -> tensor<64x128xf16>
      %e6 = tensor.empty() : tensor<64x64xf32>
      %o32 = hivm.hir.mmadL1 ins(%p16, %tv, %true, %qt, %sk, %d : tensor<64x128xf16>, tensor<128x64xf16>, i1, index, index, index) outs(%e6 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %e7 = tensor.empty() : tensor<64x64xf16>
      %o16 = hivm.hir.vcast ins(%o32 : tensor<64x64xf32>) outs(%e7 : tensor<64x64xf16>) -> tensor<64x64xf16>
      hivm.hir.store ins(%o16 : tensor<64x64xf16>) outs(%so : memref<64x64xf16, strided<[64, 1], offset: ?>>)
    }
    return
  }
}
