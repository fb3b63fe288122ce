// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%a: memref<200x768xf32>, %b: memref<768x1000xf32>, %bias: memref<1000xf32>, %res: memref<200x1000xf32>, %o: memref<200x1000xf32>, %ws: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %ff: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %tm = arith.constant 128 : index
  %tn = arith.constant 128 : index
  %tk = arith.constant 64 : index
  %M = arith.constant 200 : index
  %N = arith.constant 1000 : index
  %K = arith.constant 768 : index
  %lastM = arith.constant 72 : index
  %lastN = arith.constant 872 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index
  %lo = arith.muli %bi, %tn : index
  %st = arith.muli %nb, %tn : index
  scf.for %i0 = %c0 to %M step %tm {
  scf.for %j0 = %lo to %N step %st {
    %i = arith.minsi %i0, %lastM : index
    %j = arith.minsi %j0, %lastN : index
    %rm = arith.subi %M, %i : index
    %ms = arith.minsi %rm, %tm : index
    %rn = arith.subi %N, %j : index
    %ns = arith.minsi %rn, %tn : index
    %e = tensor.empty() : tensor<128x128xf32>
    %acc = scf.for %k = %c0 to %K step %tk iter_args(%c = %e) -> (tensor<128x128xf32>) {
      %sa = memref.subview %a[%i, %k] [128, 64] [1, 1] : memref<200x768xf32> to memref<128x64xf32, strided<[768, 1], offset: ?>>
      %sb = memref.subview %b[%k, %j] [64, 128] [1, 1] : memref<768x1000xf32> to memref<64x128xf32, strided<[1000, 1], offset: ?>>
      %la = memref.alloc() : memref<128x64xf32>
      %lb = memref.alloc() : memref<64x128xf32>
      hivm.hir.load ins(%sa : memref<128x64xf32, strided<[768, 1], offset: ?>>) outs(%la : memref<128x64xf32>)
      hivm.hir.load ins(%sb : memref<64x128xf32, strided<[1000, 1], offset: ?>>) outs(%lb : memref<64x128xf32>)
      %ta = bufferization.to_tensor %la restrict writable : memref<128x64xf32>
      %tb = bufferization.to_tensor %lb restrict writable : memref<64x128xf32>
      %first = arith.cmpi eq, %k, %c0 : index
      %r = hivm.hir.mmadL1 ins(%ta, %tb, %first, %tm, %tk, %tn : tensor<128x64xf32>, tensor<64x128xf32>, i1, index, index, index) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
      scf.yield %r : tensor<128x128xf32>
    }

    %sbi = memref.subview %bias[%j] [128] [1] : memref<1000xf32> to memref<128xf32, strided<[1], offset: ?>>
    %bt0 = bufferization.to_tensor %sbi restrict : memref<128xf32, strided<[1], offset: ?>>
    %be = tensor.empty() : tensor<128xf32>
    %bt = hivm.hir.load ins(%bt0 : tensor<128xf32>) outs(%be : tensor<128xf32>) -> tensor<128xf32>
    %bias2 = tensor.expand_shape %bt [[0, 1]] output_shape [1, 128] : tensor<128xf32> into tensor<1x128xf32>
  %v1 = tensor.empty() : tensor<128x128xf32>
 %v2 = hivm.hir.vadd ins(%acc, %bias2 : tensor<128x128xf32>, tensor<1x128xf32>) outs(%v1 : tensor<128x128xf32>) broadcast = [0] -> tensor<128x128xf32>
  %v5 = arith.constant 0.70710678 : f32
 %v3 = tensor.empty() : tensor<128x128xf32>
 %v4 = hivm.hir.vmul ins(%v2, %v5 : tensor<128x128xf32>, f32) outs(%v3 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v8 = arith.constant 3.92 : f32
 %v6 = tensor.empty() : tensor<128x128xf32>
 %v7 = hivm.hir.vmin ins(%v4, %v8 : tensor<128x128xf32>, f32) outs(%v6 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v11 = arith.constant -3.92 : f32
 %v9 = tensor.empty() : tensor<128x128xf32>
 %v10 = hivm.hir.vmax ins(%v7, %v11 : tensor<128x128xf32>, f32) outs(%v9 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v12 = tensor.empty() : tensor<128x128xf32>
 %v13 = hivm.hir.vmul ins(%v10, %v10 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v12 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v16 = arith.constant 0.0002 : f32
 %v14 = tensor.empty() : tensor<128x128xf32>
 %v15 = hivm.hir.vmul ins(%v13, %v16 : tensor<128x128xf32>, f32) outs(%v14 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v19 = arith.constant 0.0034 : f32
 %v17 = tensor.empty() : tensor<128x128xf32>
 %v18 = hivm.hir.vadd ins(%v15, %v19 : tensor<128x128xf32>, f32) outs(%v17 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v20 = tensor.empty() : tensor<128x128xf32>
 %v21 = hivm.hir.vmul ins(%v18, %v13 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v20 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v24 = arith.constant 0.05 : f32
 %v22 = tensor.empty() : tensor<128x128xf32>
 %v23 = hivm.hir.vadd ins(%v21, %v24 : tensor<128x128xf32>, f32) outs(%v22 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v25 = tensor.empty() : tensor<128x128xf32>
 %v26 = hivm.hir.vmul ins(%v23, %v13 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v25 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v29 = arith.constant 0.18 : f32
 %v27 = tensor.empty() : tensor<128x128xf32>
 %v28 = hivm.hir.vadd ins(%v26, %v29 : tensor<128x128xf32>, f32) outs(%v27 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v30 = tensor.empty() : tensor<128x128xf32>
 %v31 = hivm.hir.vmul ins(%v28, %v13 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v30 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v34 = arith.constant 1.12 : f32
 %v32 = tensor.empty() : tensor<128x128xf32>
 %v33 = hivm.hir.vadd ins(%v31, %v34 : tensor<128x128xf32>, f32) outs(%v32 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v35 = tensor.empty() : tensor<128x128xf32>
 %v36 = hivm.hir.vmul ins(%v33, %v10 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v35 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v39 = arith.constant -1.0e-7 : f32
 %v37 = tensor.empty() : tensor<128x128xf32>
 %v38 = hivm.hir.vmul ins(%v13, %v39 : tensor<128x128xf32>, f32) outs(%v37 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v42 = arith.constant 0.00002 : f32
 %v40 = tensor.empty() : tensor<128x128xf32>
 %v41 = hivm.hir.vadd ins(%v38, %v42 : tensor<128x128xf32>, f32) outs(%v40 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v43 = tensor.empty() : tensor<128x128xf32>
 %v44 = hivm.hir.vmul ins(%v41, %v13 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v43 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v47 = arith.constant 0.001 : f32
 %v45 = tensor.empty() : tensor<128x128xf32>
 %v46 = hivm.hir.vadd ins(%v44, %v47 : tensor<128x128xf32>, f32) outs(%v45 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v48 = tensor.empty() : tensor<128x128xf32>
 %v49 = hivm.hir.vmul ins(%v46, %v13 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v48 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v52 = arith.constant 0.014 : f32
 %v50 = tensor.empty() : tensor<128x128xf32>
 %v51 = hivm.hir.vadd ins(%v49, %v52 : tensor<128x128xf32>, f32) outs(%v50 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v53 = tensor.empty() : tensor<128x128xf32>
 %v54 = hivm.hir.vmul ins(%v51, %v13 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v53 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v57 = arith.constant 0.11 : f32
 %v55 = tensor.empty() : tensor<128x128xf32>
 %v56 = hivm.hir.vadd ins(%v54, %v57 : tensor<128x128xf32>, f32) outs(%v55 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v58 = tensor.empty() : tensor<128x128xf32>
 %v59 = hivm.hir.vmul ins(%v56, %v13 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v58 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v62 = arith.constant 0.49 : f32
 %v60 = tensor.empty() : tensor<128x128xf32>
 %v61 = hivm.hir.vadd ins(%v59, %v62 : tensor<128x128xf32>, f32) outs(%v60 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v63 = tensor.empty() : tensor<128x128xf32>
 %v64 = hivm.hir.vmul ins(%v61, %v13 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v63 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v67 = arith.constant 1.0 : f32
 %v65 = tensor.empty() : tensor<128x128xf32>
 %v66 = hivm.hir.vadd ins(%v64, %v67 : tensor<128x128xf32>, f32) outs(%v65 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v68 = tensor.empty() : tensor<128x128xf32>
 %v69 = hivm.hir.vdiv ins(%v36, %v66 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v68 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v72 = arith.constant 1.0 : f32
 %v70 = tensor.empty() : tensor<128x128xf32>
 %v71 = hivm.hir.vadd ins(%v69, %v72 : tensor<128x128xf32>, f32) outs(%v70 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v75 = arith.constant 0.5 : f32
 %v73 = tensor.empty() : tensor<128x128xf32>
 %v74 = hivm.hir.vmul ins(%v2, %v75 : tensor<128x128xf32>, f32) outs(%v73 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v76 = tensor.empty() : tensor<128x128xf32>
 %v77 = hivm.hir.vmul ins(%v74, %v71 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v76 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %sr = memref.subview %res[%i, %j] [128, 128] [1, 1] : memref<200x1000xf32> to memref<128x128xf32, strided<[1000, 1], offset: ?>>
  %rt0 = bufferization.to_tensor %sr restrict : memref<128x128xf32, strided<[1000, 1], offset: ?>>
  %re = tensor.empty() : tensor<128x128xf32>
  %rt = hivm.hir.load ins(%rt0 : tensor<128x128xf32>) outs(%re : tensor<128x128xf32>) -> tensor<128x128xf32>
  %v78 = tensor.empty() : tensor<128x128xf32>
 %v79 = hivm.hir.vadd ins(%v77, %rt : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v78 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %so = memref.subview %o[%i, %j] [128, 128] [1, 1] : memref<200x1000xf32> to memref<128x128xf32, strided<[1000, 1], offset: ?>>
  hivm.hir.store ins(%v79 : tensor<128x128xf32>) outs(%so : memref<128x128xf32, strided<[1000, 1], offset: ?>>)
  }
  }

  return
}
}
