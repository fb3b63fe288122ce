// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @flash(%ff: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}, %ws: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %q: memref<12288x64xf16>, %kk: memref<12288x64xf16>, %vv: memref<12288x64xf16>, %o: memref<12288x64xf16>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %scale = arith.constant 0.125 : f32
    %ninf = arith.constant -1.0e+30 : f32
    %zero = arith.constant 0.0 : f32
    %qt = arith.constant 128 : index
    %kt = arith.constant 128 : index
    %d = arith.constant 64 : index
    %S = arith.constant 1024 : index
    %nq = arith.constant 8 : index
    %tot = arith.constant 96 : index
    %bi64 = hivm.hir.get_block_idx -> i64
    %nb64 = hivm.hir.get_block_num -> i64
    %bi = arith.index_cast %bi64 : i64 to index
    %nb = arith.index_cast %nb64 : i64 to index
    scf.for %t = %bi to %tot step %nb {
      %bh = arith.divui %t, %nq : index
      %qi = arith.remui %t, %nq : index
      %base = arith.muli %bh, %S : index
      %q0 = arith.muli %qi, %qt : index
      %qrow = arith.addi %base, %q0 : index
      %v1 = memref.subview %q[%qrow, 0] [128, 64] [1, 1] : memref<12288x64xf16> to memref<128x64xf16, strided<[64, 1], offset: ?>>
      %v2 = memref.alloc() : memref<128x64xf16>
      hivm.hir.load ins(%v1 : memref<128x64xf16, strided<[64, 1], offset: ?>>) outs(%v2 : memref<128x64xf16>)
      %v3 = bufferization.to_tensor %v2 restrict writable : memref<128x64xf16>
      %v4 = tensor.empty() : tensor<128x1xf32>
      %v5 = hivm.hir.vbrc ins(%ninf : f32) outs(%v4 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v6 = tensor.empty() : tensor<128x1xf32>
      %v7 = hivm.hir.vbrc ins(%zero : f32) outs(%v6 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v8 = tensor.empty() : tensor<128x64xf32>
      %v9 = hivm.hir.vbrc ins(%zero : f32) outs(%v8 : tensor<128x64xf32>) -> tensor<128x64xf32>
      %v5c = tensor.collapse_shape %v5 [[0, 1]] : tensor<128x1xf32> into tensor<128xf32>
 %v7c = tensor.collapse_shape %v7 [[0, 1]] : tensor<128x1xf32> into tensor<128xf32>
     %lp:3 = scf.for %j = %c0 to %S step %kt iter_args(%m0v = %v5c, %l0v = %v7c, %o0 = %v9) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
 %m0 = tensor.expand_shape %m0v [[0, 1]] output_shape [128, 1] : tensor<128xf32> into tensor<128x1xf32>
%l0 = tensor.expand_shape %l0v [[0, 1]] output_shape [128, 1] : tensor<128xf32> into tensor<128x1xf32>
      %krow = arith.addi %base, %j : index
      %v10 = memref.subview %kk[%krow, 0] [128, 64] [1, 1] : memref<12288x64xf16> to memref<128x64xf16, strided<[64, 1], offset: ?>>
      %v11 = memref.alloc() : memref<128x64xf16>
      hivm.hir.load ins(%v10 : memref<128x64xf16, strided<[64, 1], offset: ?>>) outs(%v11 : memref<128x64xf16>)
      %v12 = bufferization.to_tensor %v11 restrict writable : memref<128x64xf16>
      %v13 = memref.subview %vv[%krow, 0] [128, 64] [1, 1] : memref<12288x64xf16> to memref<128x64xf16, strided<[64, 1], offset: ?>>
      %v14 = memref.alloc() : memref<128x64xf16>
      hivm.hir.load ins(%v13 : memref<128x64xf16, strided<[64, 1], offset: ?>>) outs(%v14 : memref<128x64xf16>)
      %v15 = bufferization.to_tensor %v14 restrict writable : memref<128x64xf16>
      %v16 = tensor.empty() : tensor<128x128xf32>
      %v17 = hivm.hir.mmadL1 {b_transpose} ins(%v3, %v12, %true, %qt, %d, %kt : tensor<128x64xf16>, tensor<128x64xf16>, i1, index, index, index) outs(%v16 : tensor<128x128xf32>) -> tensor<128x128xf32>
      %v18 = tensor.empty() : tensor<128x128xf32>
      %v19 = hivm.hir.vmul ins(%v17, %scale : tensor<128x128xf32>, f32) outs(%v18 : tensor<128x128xf32>) -> tensor<128x128xf32>
      %v20 = arith.constant 0xFF800000 : f32
      %v21 = tensor.empty() : tensor<128x1xf32>
      %v22 = hivm.hir.vbrc ins(%v20 : f32) outs(%v21 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v23 = hivm.hir.vreduce <max> ins(%v19 : tensor<128x128xf32>) outs(%v22 : tensor<128x1xf32>) reduce_dims = [1] -> tensor<128x1xf32>
      %v24 = tensor.empty() : tensor<128x1xf32>
      %v25 = hivm.hir.vmax ins(%m0, %v23 : tensor<128x1xf32>, tensor<128x1xf32>) outs(%v24 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v26 = tensor.empty() : tensor<128x128xf32>
      %v27 = hivm.hir.vsub ins(%v19, %v25 : tensor<128x128xf32>, tensor<128x1xf32>) outs(%v26 : tensor<128x128xf32>) broadcast = [1] -> tensor<128x128xf32>
      %v28 = tensor.empty() : tensor<128x128xf32>
      %v29 = hivm.hir.vexp ins(%v27 : tensor<128x128xf32>) outs(%v28 : tensor<128x128xf32>) -> tensor<128x128xf32>
      %v30 = tensor.empty() : tensor<128x1xf32>
      %v31 = hivm.hir.vsub ins(%m0, %v25 : tensor<128x1xf32>, tensor<128x1xf32>) outs(%v30 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v32 = tensor.empty() : tensor<128x1xf32>
      %v33 = hivm.hir.vexp ins(%v31 : tensor<128x1xf32>) outs(%v32 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v34 = arith.constant 0.0 : f32
      %v35 = tensor.empty() : tensor<128x1xf32>
      %v36 = hivm.hir.vbrc ins(%v34 : f32) outs(%v35 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v37 = hivm.hir.vreduce <sum> ins(%v29 : tensor<128x128xf32>) outs(%v36 : tensor<128x1xf32>) reduce_dims = [1] -> tensor<128x1xf32>
      %v38 = tensor.empty() : tensor<128x1xf32>
      %v39 = hivm.hir.vmul ins(%l0, %v33 : tensor<128x1xf32>, tensor<128x1xf32>) outs(%v38 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v40 = tensor.empty() : tensor<128x1xf32>
      %v41 = hivm.hir.vadd ins(%v39, %v37 : tensor<128x1xf32>, tensor<128x1xf32>) outs(%v40 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v42 = tensor.empty() : tensor<128x128xf16>
      %v43 = hivm.hir.vcast ins(%v29 : tensor<128x128xf32>) outs(%v42 : tensor<128x128xf16>) -> tensor<128x128xf16>
      %v44 = tensor.empty() : tensor<128x64xf32>
      %v45 = hivm.hir.mmadL1 ins(%v43, %v15, %true, %qt, %kt, %d : tensor<128x128xf16>, tensor<128x64xf16>, i1, index, index, index) outs(%v44 : tensor<128x64xf32>) -> tensor<128x64xf32>
      %v46 = tensor.empty() : tensor<128x64xf32>
      %v47 = hivm.hir.vmul ins(%o0, %v33 : tensor<128x64xf32>, tensor<128x1xf32>) outs(%v46 : tensor<128x64xf32>) broadcast = [1] -> tensor<128x64xf32>
      %v48 = tensor.empty() : tensor<128x64xf32>
      %v49 = hivm.hir.vadd ins(%v47, %v45 : tensor<128x64xf32>, tensor<128x64xf32>) outs(%v48 : tensor<128x64xf32>) -> tensor<128x64xf32>
      %v25c = tensor.collapse_shape %v25 [[0, 1]] : tensor<128x1xf32> into tensor<128xf32>
 %v41c = tensor.collapse_shape %v41 [[0, 1]] : tensor<128x1xf32> into tensor<128xf32>
 scf.yield %v25c, %v41c, %v49 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
      }
      %v50 = tensor.empty() : tensor<128x64xf32>
      %lp1 = tensor.expand_shape %lp#1 [[0, 1]] output_shape [128, 1] : tensor<128xf32> into tensor<128x1xf32>
      %v51 = hivm.hir.vdiv ins(%lp#2, %lp1 : tensor<128x64xf32>, tensor<128x1xf32>) outs(%v50 : tensor<128x64xf32>) broadcast = [1] -> tensor<128x64xf32>
      %v52 = tensor.empty() : tensor<128x64xf16>
      %v53 = hivm.hir.vcast ins(%v51 : tensor<128x64xf32>) outs(%v52 : tensor<128x64xf16>) -> tensor<128x64xf16>
      %v54 = memref.subview %o[%qrow, 0] [128, 64] [1, 1] : memref<12288x64xf16> to memref<128x64xf16, strided<[64, 1], offset: ?>>
      hivm.hir.store ins(%v53 : tensor<128x64xf16>) outs(%v54 : memref<128x64xf16, strided<[64, 1], offset: ?>>)
    }
    return
}
}
