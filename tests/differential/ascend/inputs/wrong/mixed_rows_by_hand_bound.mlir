// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%a: memref<200x768xf32>, %b: memref<768x1000xf32>, %bias: memref<1000xf32>, %res: memref<200x1000xf32>, %o: memref<200x1000xf32>, %ws: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %ff: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %tm = arith.constant 128 : index
  %tn = arith.constant 128 : index
  %tk = arith.constant 64 : index
  %rr = arith.constant 64 : index
  %M = arith.constant 200 : index
  %N = arith.constant 1000 : index
  %K = arith.constant 768 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index
  %lo = arith.muli %bi, %tn : index
  %st = arith.muli %nb, %tn : index
  scf.for %i = %c0 to %M step %tm {
  scf.for %j = %lo to %N step %st {
    %rm = arith.subi %M, %i : index
    %ms = arith.minsi %rm, %tm : index
    %rn = arith.subi %N, %j : index
    %ns = arith.minsi %rn, %tn : index
    %e = tensor.empty() : tensor<128x128xf32>
    %acc = scf.for %k = %c0 to %K step %tk iter_args(%c = %e) -> (tensor<128x128xf32>) {
      %sa = memref.subview %a[%i, %k] [%ms, 64] [1, 1] : memref<200x768xf32> to memref<?x64xf32, strided<[768, 1], offset: ?>>
      %sb = memref.subview %b[%k, %j] [64, %ns] [1, 1] : memref<768x1000xf32> to memref<64x?xf32, strided<[1000, 1], offset: ?>>
      %la = memref.alloc() : memref<128x64xf32>
      %lb = memref.alloc() : memref<64x128xf32>
      %la1 = memref.subview %la[0, 0] [%ms, 64] [1, 1] : memref<128x64xf32> to memref<?x64xf32, strided<[64, 1]>>
      %lb1 = memref.subview %lb[0, 0] [64, %ns] [1, 1] : memref<64x128xf32> to memref<64x?xf32, strided<[128, 1]>>
      hivm.hir.load ins(%sa : memref<?x64xf32, strided<[768, 1], offset: ?>>) outs(%la1 : memref<?x64xf32, strided<[64, 1]>>)
      hivm.hir.load ins(%sb : memref<64x?xf32, strided<[1000, 1], offset: ?>>) outs(%lb1 : memref<64x?xf32, strided<[128, 1]>>)
      %ta = bufferization.to_tensor %la restrict writable : memref<128x64xf32>
      %tb = bufferization.to_tensor %lb restrict writable : memref<64x128xf32>
      %first = arith.cmpi eq, %k, %c0 : index
      %r = hivm.hir.mmadL1 ins(%ta, %tb, %first, %tm, %tk, %tn : tensor<128x64xf32>, tensor<64x128xf32>, i1, index, index, index) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
      scf.yield %r : tensor<128x128xf32>
    }
    %sbi = memref.subview %bias[%j] [%ns] [1] : memref<1000xf32> to memref<?xf32, strided<[1], offset: ?>>
    %bal = memref.alloc() : memref<128xf32>
    %bal1 = memref.subview %bal[0] [%ns] [1] : memref<128xf32> to memref<?xf32, strided<[1]>>
    hivm.hir.load ins(%sbi : memref<?xf32, strided<[1], offset: ?>>) outs(%bal1 : memref<?xf32, strided<[1]>>)
    %bt = bufferization.to_tensor %bal restrict writable : memref<128xf32>
    %bias2 = tensor.expand_shape %bt [[0, 1]] output_shape [1, 128] : tensor<128xf32> into tensor<1x128xf32>
    %si64 = hivm.hir.get_sub_block_idx -> i64
    %si = arith.index_cast %si64 : i64 to index
    %q0 = arith.muli %si, %rr : index
    %qs = arith.muli %rr, %c2 : index
    scf.for %q = %q0 to %ms step %qs {
      %row = arith.addi %i, %q : index
      %rl = arith.subi %ms, %q : index
      %rows = arith.minsi %rl, %rr : index
      %sl = tensor.extract_slice %acc[%q, 0] [64, 128] [1, 1] : tensor<128x128xf32> to tensor<64x128xf32>
      %sr = memref.subview %res[%row, %j] [%rows, %ns] [1, 1] : memref<200x1000xf32> to memref<?x?xf32, strided<[1000, 1], offset: ?>>
      %ra = memref.alloc() : memref<64x128xf32>
      %ra1 = memref.subview %ra[0, 0] [%rows, %ns] [1, 1] : memref<64x128xf32> to memref<?x?xf32, strided<[128, 1]>>
      hivm.hir.load ins(%sr : memref<?x?xf32, strided<[1000, 1], offset: ?>>) outs(%ra1 : memref<?x?xf32, strided<[128, 1]>>)
      %rt = bufferization.to_tensor %ra restrict writable : memref<64x128xf32>
      %be0 = tensor.empty() : tensor<64x128xf32>
 %x = hivm.hir.vadd ins(%sl, %bias2 : tensor<64x128xf32>, tensor<1x128xf32>) outs(%be0 : tensor<64x128xf32>) broadcast = [0] -> tensor<64x128xf32>
%v1 = tensor.empty() : tensor<64x128xf32>
 %v2 = hivm.hir.vmul ins(%x, %x : tensor<64x128xf32>, tensor<64x128xf32>) outs(%v1 : tensor<64x128xf32>) -> tensor<64x128xf32>
%v5 = arith.constant 0.044715 : f32
 %v3 = tensor.empty() : tensor<64x128xf32>
 %v4 = hivm.hir.vmul ins(%v2, %v5 : tensor<64x128xf32>, f32) outs(%v3 : tensor<64x128xf32>) -> tensor<64x128xf32>
%v8 = arith.constant 1.0 : f32
 %v6 = tensor.empty() : tensor<64x128xf32>
 %v7 = hivm.hir.vadd ins(%v4, %v8 : tensor<64x128xf32>, f32) outs(%v6 : tensor<64x128xf32>) -> tensor<64x128xf32>
%v9 = tensor.empty() : tensor<64x128xf32>
 %v10 = hivm.hir.vmul ins(%v7, %x : tensor<64x128xf32>, tensor<64x128xf32>) outs(%v9 : tensor<64x128xf32>) -> tensor<64x128xf32>
%v13 = arith.constant -1.5957691 : f32
 %v11 = tensor.empty() : tensor<64x128xf32>
 %v12 = hivm.hir.vmul ins(%v10, %v13 : tensor<64x128xf32>, f32) outs(%v11 : tensor<64x128xf32>) -> tensor<64x128xf32>
%v14 = tensor.empty() : tensor<64x128xf32>
 %v15 = hivm.hir.vexp ins(%v12 : tensor<64x128xf32>) outs(%v14 : tensor<64x128xf32>) -> tensor<64x128xf32>
%v18 = arith.constant 1.0 : f32
 %v16 = tensor.empty() : tensor<64x128xf32>
 %v17 = hivm.hir.vadd ins(%v15, %v18 : tensor<64x128xf32>, f32) outs(%v16 : tensor<64x128xf32>) -> tensor<64x128xf32>
%v19 = tensor.empty() : tensor<64x128xf32>
 %v20 = hivm.hir.vdiv ins(%x, %v17 : tensor<64x128xf32>, tensor<64x128xf32>) outs(%v19 : tensor<64x128xf32>) -> tensor<64x128xf32>
%v21 = tensor.empty() : tensor<64x128xf32>
 %v22 = hivm.hir.vadd ins(%v20, %rt : tensor<64x128xf32>, tensor<64x128xf32>) outs(%v21 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %xs = tensor.extract_slice %v22[0, 0] [%rows, %ns] [1, 1] : tensor<64x128xf32> to tensor<?x?xf32>
      %so = memref.subview %o[%row, %j] [%rows, %ns] [1, 1] : memref<200x1000xf32> to memref<?x?xf32, strided<[1000, 1], offset: ?>>
      hivm.hir.store ins(%xs : tensor<?x?xf32>) outs(%so : memref<?x?xf32, strided<[1000, 1], offset: ?>>)
    }
  }
  }

  return
}
}
