// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @dynsm(%x: memref<?x768xf16, #hivm.address_space<gm>>, %o: memref<?x768xf16, #hivm.address_space<gm>>, %m64: i64) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 40 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %R = arith.constant 16 : index
  %M = arith.index_cast %m64 : i64 to index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index
  %lo = arith.muli %bi, %R : index
  %st = arith.muli %nb, %R : index
  scf.for %i = %lo to %M step %st {
    %rem = arith.subi %M, %i : index
    %ms = arith.minsi %rem, %R : index
    %sx = memref.subview %x[%i, 0] [%ms, 768] [1, 1] : memref<?x768xf16, #hivm.address_space<gm>> to memref<?x768xf16, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>
    %so = memref.subview %o[%i, 0] [%ms, 768] [1, 1] : memref<?x768xf16, #hivm.address_space<gm>> to memref<?x768xf16, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>
    %ux = memref.alloc() : memref<16x768xf16, #hivm.address_space<ub>>
    %ux1 = memref.subview %ux[0, 0] [%ms, 768] [1, 1] : memref<16x768xf16, #hivm.address_space<ub>> to memref<?x768xf16, strided<[768, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%sx : memref<?x768xf16, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>) outs(%ux1 : memref<?x768xf16, strided<[768, 1]>, #hivm.address_space<ub>>)
    %u32 = memref.alloc() : memref<16x768xf32, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%ux : memref<16x768xf16, #hivm.address_space<ub>>) outs(%u32 : memref<16x768xf32, #hivm.address_space<ub>>)
    %mm = memref.alloc() : memref<16x1xf32, #hivm.address_space<ub>>
    hivm.hir.vreduce <max> ins(%u32 : memref<16x768xf32, #hivm.address_space<ub>>) outs(%mm : memref<16x1xf32, #hivm.address_space<ub>>) reduce_dims = [1]
    hivm.hir.vsub ins(%u32, %mm : memref<16x768xf32, #hivm.address_space<ub>>, memref<16x1xf32, #hivm.address_space<ub>>) outs(%u32 : memref<16x768xf32, #hivm.address_space<ub>>) broadcast = [1]
    hivm.hir.vexp ins(%u32 : memref<16x768xf32, #hivm.address_space<ub>>) outs(%u32 : memref<16x768xf32, #hivm.address_space<ub>>)
    hivm.hir.vreduce <sum> ins(%u32 : memref<16x768xf32, #hivm.address_space<ub>>) outs(%mm : memref<16x1xf32, #hivm.address_space<ub>>) reduce_dims = [1]
    hivm.hir.vdiv ins(%u32, %mm : memref<16x768xf32, #hivm.address_space<ub>>, memref<16x1xf32, #hivm.address_space<ub>>) outs(%u32 : memref<16x768xf32, #hivm.address_space<ub>>) broadcast = [1]
    %uo = memref.alloc() : memref<16x768xf16, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%u32 : memref<16x768xf32, #hivm.address_space<ub>>) outs(%uo : memref<16x768xf16, #hivm.address_space<ub>>)
    %uo1 = memref.subview %uo[0, 0] [%ms, 768] [1, 1] : memref<16x768xf16, #hivm.address_space<ub>> to memref<?x768xf16, strided<[768, 1]>, #hivm.address_space<ub>>
    hivm.hir.store ins(%uo1 : memref<?x768xf16, strided<[768, 1]>, #hivm.address_space<ub>>) outs(%so : memref<?x768xf16, strided<[768, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
func.func @tr2(%x: memref<1024x2048xf16, #hivm.address_space<gm>>, %o: memref<2048x1024xf16, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
  %c0 = arith.constant 0 : index
  %t = arith.constant 128 : index
  %m = arith.constant 1024 : index
  %n = arith.constant 2048 : index
  scf.for %i = %c0 to %m step %t {
    scf.for %j = %c0 to %n step %t {
      %s = memref.subview %x[%i, %j] [128, 128] [1, 1] : memref<1024x2048xf16, #hivm.address_space<gm>> to memref<128x128xf16, strided<[2048, 1], offset: ?>, #hivm.address_space<gm>>
      %so = memref.subview %o[%j, %i] [128, 128] [1, 1] : memref<2048x1024xf16, #hivm.address_space<gm>> to memref<128x128xf16, strided<[1024, 1], offset: ?>, #hivm.address_space<gm>>
      %u = memref.alloc() : memref<128x128xf16, #hivm.address_space<ub>>
      %v = memref.alloc() : memref<128x128xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%s : memref<128x128xf16, strided<[2048, 1], offset: ?>, #hivm.address_space<gm>>) outs(%u : memref<128x128xf16, #hivm.address_space<ub>>)
      hivm.hir.vtranspose ins(%u : memref<128x128xf16, #hivm.address_space<ub>>) outs(%v : memref<128x128xf16, #hivm.address_space<ub>>) permutation = [1, 0]
      hivm.hir.store ins(%v : memref<128x128xf16, #hivm.address_space<ub>>) outs(%so : memref<128x128xf16, strided<[1024, 1], offset: ?>, #hivm.address_space<gm>>)
    }
  }
  return
}
func.func @mmT(%a: memref<128x768xf16>, %b: memref<3072x768xf16>, %o: memref<128x3072xf16>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {
  %c0 = arith.constant 0 : index
  %tm = arith.constant 128 : index
  %tn = arith.constant 256 : index
  %tk = arith.constant 128 : index
  %M = arith.constant 128 : index
  %N = arith.constant 3072 : index
  %K = arith.constant 768 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index
  %lo = arith.muli %bi, %tn : index
  %st = arith.muli %nb, %tn : index
  scf.for %i = %c0 to %M step %tm {
  scf.for %j = %lo to %N step %st {
    %e = tensor.empty() : tensor<128x256xf32>
    %acc = scf.for %k = %c0 to %K step %tk iter_args(%c = %e) -> (tensor<128x256xf32>) {
      %sa = memref.subview %a[%i, %k] [128, 128] [1, 1] : memref<128x768xf16> to memref<128x128xf16, strided<[768, 1], offset: ?>>
      %sb = memref.subview %b[%j, %k] [256, 128] [1, 1] : memref<3072x768xf16> to memref<256x128xf16, strided<[768, 1], offset: ?>>
      %la = memref.alloc() : memref<128x128xf16>
      %lb = memref.alloc() : memref<256x128xf16>
      annotation.mark %la {hivm.multi_buffer = 2 : i32} : memref<128x128xf16>
      annotation.mark %lb {hivm.multi_buffer = 2 : i32} : memref<256x128xf16>
      hivm.hir.load ins(%sa : memref<128x128xf16, strided<[768, 1], offset: ?>>) outs(%la : memref<128x128xf16>)
      hivm.hir.load ins(%sb : memref<256x128xf16, strided<[768, 1], offset: ?>>) outs(%lb : memref<256x128xf16>)
      %ta = bufferization.to_tensor %la restrict writable : memref<128x128xf16>
      %tb = bufferization.to_tensor %lb restrict writable : memref<256x128xf16>
      %first = arith.cmpi eq, %k, %c0 : index
      %r = hivm.hir.mmadL1 {b_transpose} ins(%ta, %tb, %first, %tm, %tk, %tn : tensor<128x128xf16>, tensor<256x128xf16>, i1, index, index, index) outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
      scf.yield %r : tensor<128x256xf32>
    }
    %e2 = tensor.empty() : tensor<128x256xf32>
    %rl = hivm.hir.vrelu ins(%acc : tensor<128x256xf32>) outs(%e2 : tensor<128x256xf32>) -> tensor<128x256xf32>
    %e3 = tensor.empty() : tensor<128x256xf16>
    %cs = hivm.hir.vcast ins(%rl : tensor<128x256xf32>) outs(%e3 : tensor<128x256xf16>) -> tensor<128x256xf16>
    %so = memref.subview %o[%i, %j] [128, 256] [1, 1] : memref<128x3072xf16> to memref<128x256xf16, strided<[3072, 1], offset: ?>>
    hivm.hir.store ins(%cs : tensor<128x256xf16>) outs(%so : memref<128x256xf16, strided<[3072, 1], offset: ?>>)
  }
  }
  return
}
func.func @mmgelu(%a: memref<128x768xf16>, %b: memref<768x3072xf16>, %bias: memref<3072xf32>, %res: memref<128x3072xf16>, %o: memref<128x3072xf16>, %ws: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %ff: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {
    %c0 = arith.constant 0 : index
    %tm = arith.constant 64 : index
    %tn = arith.constant 128 : index
    %tk = arith.constant 128 : index
    %M = arith.constant 128 : index
    %N = arith.constant 3072 : index
    %K = arith.constant 768 : index
    %bi64 = hivm.hir.get_block_idx -> i64
    %nb64 = hivm.hir.get_block_num -> i64
    %bi = arith.index_cast %bi64 : i64 to index
    %nb = arith.index_cast %nb64 : i64 to index
    %lo = arith.muli %bi, %tn : index
    %st = arith.muli %nb, %tn : index
    scf.for %i = %c0 to %M step %tm {
    scf.for %j = %lo to %N step %st {
      %e = tensor.empty() : tensor<64x128xf32>
      %acc = scf.for %k = %c0 to %K step %tk iter_args(%c = %e) -> (tensor<64x128xf32>) {
      %v1 = memref.subview %a[%i, %k] [64, 128] [1, 1] : memref<128x768xf16> to memref<64x128xf16, strided<[768, 1], offset: ?>>
      %v2 = memref.subview %b[%k, %j] [128, 128] [1, 1] : memref<768x3072xf16> to memref<128x128xf16, strided<[3072, 1], offset: ?>>
      %v3 = memref.alloc() : memref<64x128xf16>
      hivm.hir.load ins(%v1 : memref<64x128xf16, strided<[768, 1], offset: ?>>) outs(%v3 : memref<64x128xf16>)
      %v4 = bufferization.to_tensor %v3 restrict writable : memref<64x128xf16>
      %v5 = memref.alloc() : memref<128x128xf16>
      hivm.hir.load ins(%v2 : memref<128x128xf16, strided<[3072, 1], offset: ?>>) outs(%v5 : memref<128x128xf16>)
      %v6 = bufferization.to_tensor %v5 restrict writable : memref<128x128xf16>
      %first = arith.cmpi eq, %k, %c0 : index
      %r = hivm.hir.mmadL1 ins(%v4, %v6, %first, %tm, %tk, %tn : tensor<64x128xf16>, tensor<128x128xf16>, i1, index, index, index) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
      scf.yield %r : tensor<64x128xf32>
      }
      %v7 = memref.subview %bias[%j] [128] [1] : memref<3072xf32> to memref<128xf32, strided<[1], offset: ?>>
      %v8 = bufferization.to_tensor %v7 restrict : memref<128xf32, strided<[1], offset: ?>>
      %v9 = tensor.empty() : tensor<128xf32>
      %v10 = hivm.hir.load ins(%v8 : tensor<128xf32>) outs(%v9 : tensor<128xf32>) -> tensor<128xf32>
      %v11 = tensor.expand_shape %v10 [[0, 1]] output_shape [1, 128] : tensor<128xf32> into tensor<1x128xf32>
      %v12 = tensor.empty() : tensor<64x128xf32>
      %v13 = hivm.hir.vadd ins(%acc, %v11 : tensor<64x128xf32>, tensor<1x128xf32>) outs(%v12 : tensor<64x128xf32>) broadcast = [0] -> tensor<64x128xf32>
      %v14 = arith.constant 4.471500e-02 : f32
      %v15 = arith.constant -1.5957691 : f32
      %v16 = arith.constant 1.0 : f32
      %v17 = tensor.empty() : tensor<64x128xf32>
      %v18 = hivm.hir.vmul ins(%v13, %v13 : tensor<64x128xf32>, tensor<64x128xf32>) outs(%v17 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %v19 = tensor.empty() : tensor<64x128xf32>
      %v20 = hivm.hir.vmul ins(%v18, %v14 : tensor<64x128xf32>, f32) outs(%v19 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %v21 = tensor.empty() : tensor<64x128xf32>
      %v22 = hivm.hir.vadd ins(%v20, %v16 : tensor<64x128xf32>, f32) outs(%v21 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %v23 = tensor.empty() : tensor<64x128xf32>
      %v24 = hivm.hir.vmul ins(%v22, %v13 : tensor<64x128xf32>, tensor<64x128xf32>) outs(%v23 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %v25 = tensor.empty() : tensor<64x128xf32>
      %v26 = hivm.hir.vmul ins(%v24, %v15 : tensor<64x128xf32>, f32) outs(%v25 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %v27 = tensor.empty() : tensor<64x128xf32>
      %v28 = hivm.hir.vexp ins(%v26 : tensor<64x128xf32>) outs(%v27 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %v29 = tensor.empty() : tensor<64x128xf32>
      %v30 = hivm.hir.vadd ins(%v28, %v16 : tensor<64x128xf32>, f32) outs(%v29 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %v31 = tensor.empty() : tensor<64x128xf32>
      %v32 = hivm.hir.vdiv ins(%v13, %v30 : tensor<64x128xf32>, tensor<64x128xf32>) outs(%v31 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %v33 = memref.subview %res[%i, %j] [64, 128] [1, 1] : memref<128x3072xf16> to memref<64x128xf16, strided<[3072, 1], offset: ?>>
      %v34 = bufferization.to_tensor %v33 restrict : memref<64x128xf16, strided<[3072, 1], offset: ?>>
      %v35 = tensor.empty() : tensor<64x128xf16>
      %v36 = hivm.hir.load ins(%v34 : tensor<64x128xf16>) outs(%v35 : tensor<64x128xf16>) -> tensor<64x128xf16>
      %v37 = tensor.empty() : tensor<64x128xf32>
      %v38 = hivm.hir.vcast ins(%v36 : tensor<64x128xf16>) outs(%v37 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %v39 = tensor.empty() : tensor<64x128xf32>
      %v40 = hivm.hir.vadd ins(%v32, %v38 : tensor<64x128xf32>, tensor<64x128xf32>) outs(%v39 : tensor<64x128xf32>) -> tensor<64x128xf32>
      %v41 = tensor.empty() : tensor<64x128xf16>
      %v42 = hivm.hir.vcast ins(%v40 : tensor<64x128xf32>) outs(%v41 : tensor<64x128xf16>) -> tensor<64x128xf16>
      %v43 = memref.subview %o[%i, %j] [64, 128] [1, 1] : memref<128x3072xf16> to memref<64x128xf16, strided<[3072, 1], offset: ?>>
      hivm.hir.store ins(%v42 : tensor<64x128xf16>) outs(%v43 : memref<64x128xf16, strided<[3072, 1], offset: ?>>)
    }
    }
    return
}
func.func @mmln(%a: memref<1024x768xf16>, %b: memref<768x768xf16>, %bias: memref<768xf32>, %res: memref<1024x768xf16>, %g: memref<768xf32>, %be: memref<768xf32>, %o: memref<1024x768xf16>, %ws: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %ff: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {
    %c0 = arith.constant 0 : index
    %tm = arith.constant 32 : index
    %tn = arith.constant 768 : index
    %tk = arith.constant 64 : index
    %M = arith.constant 1024 : index
    %N = arith.constant 768 : index
    %K = arith.constant 768 : index
    %bi64 = hivm.hir.get_block_idx -> i64
    %nb64 = hivm.hir.get_block_num -> i64
    %bi = arith.index_cast %bi64 : i64 to index
    %nb = arith.index_cast %nb64 : i64 to index
    %lo = arith.muli %bi, %tm : index
    %st = arith.muli %nb, %tm : index
    scf.for %i = %lo to %M step %st {
    scf.for %j = %c0 to %N step %tn {
      %e = tensor.empty() : tensor<32x768xf32>
      %acc = scf.for %k = %c0 to %K step %tk iter_args(%c = %e) -> (tensor<32x768xf32>) {
      %v1 = memref.subview %a[%i, %k] [32, 64] [1, 1] : memref<1024x768xf16> to memref<32x64xf16, strided<[768, 1], offset: ?>>
      %v2 = memref.subview %b[%k, %j] [64, 768] [1, 1] : memref<768x768xf16> to memref<64x768xf16, strided<[768, 1], offset: ?>>
      %v3 = memref.alloc() : memref<32x64xf16>
      hivm.hir.load ins(%v1 : memref<32x64xf16, strided<[768, 1], offset: ?>>) outs(%v3 : memref<32x64xf16>)
      %v4 = bufferization.to_tensor %v3 restrict writable : memref<32x64xf16>
      %v5 = memref.alloc() : memref<64x768xf16>
      hivm.hir.load ins(%v2 : memref<64x768xf16, strided<[768, 1], offset: ?>>) outs(%v5 : memref<64x768xf16>)
      %v6 = bufferization.to_tensor %v5 restrict writable : memref<64x768xf16>
      %first = arith.cmpi eq, %k, %c0 : index
      %r = hivm.hir.mmadL1 ins(%v4, %v6, %first, %tm, %tk, %tn : tensor<32x64xf16>, tensor<64x768xf16>, i1, index, index, index) outs(%c : tensor<32x768xf32>) -> tensor<32x768xf32>
      scf.yield %r : tensor<32x768xf32>
      }
      %v7 = memref.subview %bias[%j] [768] [1] : memref<768xf32> to memref<768xf32, strided<[1], offset: ?>>
      %v8 = bufferization.to_tensor %v7 restrict : memref<768xf32, strided<[1], offset: ?>>
      %v9 = tensor.empty() : tensor<768xf32>
      %v10 = hivm.hir.load ins(%v8 : tensor<768xf32>) outs(%v9 : tensor<768xf32>) -> tensor<768xf32>
      %v11 = tensor.expand_shape %v10 [[0, 1]] output_shape [1, 768] : tensor<768xf32> into tensor<1x768xf32>
      %v12 = tensor.empty() : tensor<32x768xf32>
      %v13 = hivm.hir.vadd ins(%acc, %v11 : tensor<32x768xf32>, tensor<1x768xf32>) outs(%v12 : tensor<32x768xf32>) broadcast = [0] -> tensor<32x768xf32>
      %v14 = memref.subview %res[%i, %j] [32, 768] [1, 1] : memref<1024x768xf16> to memref<32x768xf16, strided<[768, 1], offset: ?>>
      %v15 = bufferization.to_tensor %v14 restrict : memref<32x768xf16, strided<[768, 1], offset: ?>>
      %v16 = tensor.empty() : tensor<32x768xf16>
      %v17 = hivm.hir.load ins(%v15 : tensor<32x768xf16>) outs(%v16 : tensor<32x768xf16>) -> tensor<32x768xf16>
      %v18 = tensor.empty() : tensor<32x768xf32>
      %v19 = hivm.hir.vcast ins(%v17 : tensor<32x768xf16>) outs(%v18 : tensor<32x768xf32>) -> tensor<32x768xf32>
      %v20 = tensor.empty() : tensor<32x768xf32>
      %v21 = hivm.hir.vadd ins(%v13, %v19 : tensor<32x768xf32>, tensor<32x768xf32>) outs(%v20 : tensor<32x768xf32>) -> tensor<32x768xf32>
      %v22 = arith.constant 0.0013020833333333333 : f32
      %v23 = arith.constant 1.0e-05 : f32
      %v24 = arith.constant 0.0 : f32
      %v25 = tensor.empty() : tensor<32x1xf32>
      %v26 = hivm.hir.vbrc ins(%v24 : f32) outs(%v25 : tensor<32x1xf32>) -> tensor<32x1xf32>
      %v27 = hivm.hir.vreduce <sum> ins(%v21 : tensor<32x768xf32>) outs(%v26 : tensor<32x1xf32>) reduce_dims = [1] -> tensor<32x1xf32>
      %v28 = tensor.empty() : tensor<32x1xf32>
      %v29 = hivm.hir.vmul ins(%v27, %v22 : tensor<32x1xf32>, f32) outs(%v28 : tensor<32x1xf32>) -> tensor<32x1xf32>
      %v30 = tensor.empty() : tensor<32x768xf32>
      %v31 = hivm.hir.vsub ins(%v21, %v29 : tensor<32x768xf32>, tensor<32x1xf32>) outs(%v30 : tensor<32x768xf32>) broadcast = [1] -> tensor<32x768xf32>
      %v32 = tensor.empty() : tensor<32x768xf32>
      %v33 = hivm.hir.vmul ins(%v31, %v31 : tensor<32x768xf32>, tensor<32x768xf32>) outs(%v32 : tensor<32x768xf32>) -> tensor<32x768xf32>
      %v34 = arith.constant 0.0 : f32
      %v35 = tensor.empty() : tensor<32x1xf32>
      %v36 = hivm.hir.vbrc ins(%v34 : f32) outs(%v35 : tensor<32x1xf32>) -> tensor<32x1xf32>
      %v37 = hivm.hir.vreduce <sum> ins(%v33 : tensor<32x768xf32>) outs(%v36 : tensor<32x1xf32>) reduce_dims = [1] -> tensor<32x1xf32>
      %v38 = tensor.empty() : tensor<32x1xf32>
      %v39 = hivm.hir.vmul ins(%v37, %v22 : tensor<32x1xf32>, f32) outs(%v38 : tensor<32x1xf32>) -> tensor<32x1xf32>
      %v40 = tensor.empty() : tensor<32x1xf32>
      %v41 = hivm.hir.vadd ins(%v39, %v23 : tensor<32x1xf32>, f32) outs(%v40 : tensor<32x1xf32>) -> tensor<32x1xf32>
      %v42 = tensor.empty() : tensor<32x1xf32>
      %v43 = hivm.hir.vsqrt ins(%v41 : tensor<32x1xf32>) outs(%v42 : tensor<32x1xf32>) -> tensor<32x1xf32>
      %v44 = tensor.empty() : tensor<32x768xf32>
      %v45 = hivm.hir.vdiv ins(%v31, %v43 : tensor<32x768xf32>, tensor<32x1xf32>) outs(%v44 : tensor<32x768xf32>) broadcast = [1] -> tensor<32x768xf32>
      %v46 = memref.subview %g[%j] [768] [1] : memref<768xf32> to memref<768xf32, strided<[1], offset: ?>>
      %v47 = bufferization.to_tensor %v46 restrict : memref<768xf32, strided<[1], offset: ?>>
      %v48 = tensor.empty() : tensor<768xf32>
      %v49 = hivm.hir.load ins(%v47 : tensor<768xf32>) outs(%v48 : tensor<768xf32>) -> tensor<768xf32>
      %v50 = tensor.expand_shape %v49 [[0, 1]] output_shape [1, 768] : tensor<768xf32> into tensor<1x768xf32>
      %v51 = tensor.empty() : tensor<32x768xf32>
      %v52 = hivm.hir.vmul ins(%v45, %v50 : tensor<32x768xf32>, tensor<1x768xf32>) outs(%v51 : tensor<32x768xf32>) broadcast = [0] -> tensor<32x768xf32>
      %v53 = memref.subview %be[%j] [768] [1] : memref<768xf32> to memref<768xf32, strided<[1], offset: ?>>
      %v54 = bufferization.to_tensor %v53 restrict : memref<768xf32, strided<[1], offset: ?>>
      %v55 = tensor.empty() : tensor<768xf32>
      %v56 = hivm.hir.load ins(%v54 : tensor<768xf32>) outs(%v55 : tensor<768xf32>) -> tensor<768xf32>
      %v57 = tensor.expand_shape %v56 [[0, 1]] output_shape [1, 768] : tensor<768xf32> into tensor<1x768xf32>
      %v58 = tensor.empty() : tensor<32x768xf32>
      %v59 = hivm.hir.vadd ins(%v52, %v57 : tensor<32x768xf32>, tensor<1x768xf32>) outs(%v58 : tensor<32x768xf32>) broadcast = [0] -> tensor<32x768xf32>
      %v60 = tensor.empty() : tensor<32x768xf16>
      %v61 = hivm.hir.vcast ins(%v59 : tensor<32x768xf32>) outs(%v60 : tensor<32x768xf16>) -> tensor<32x768xf16>
      %v62 = memref.subview %o[%i, %j] [32, 768] [1, 1] : memref<1024x768xf16> to memref<32x768xf16, strided<[768, 1], offset: ?>>
      hivm.hir.store ins(%v61 : tensor<32x768xf16>) outs(%v62 : memref<32x768xf16, strided<[768, 1], offset: ?>>)
    }
    }
    return
}
func.func @flash(%ff: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}, %ws: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %q: memref<12288x64xf16>, %kk: memref<12288x64xf16>, %vv: memref<12288x64xf16>, %mask: memref<1024x1024xf16>, %o: memref<12288x64xf16>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {
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
      %ub = arith.addi %q0, %qt : index
      %lp:3 = scf.for %j = %c0 to %ub step %kt iter_args(%m0 = %v5, %l0 = %v7, %o0 = %v9) -> (tensor<128x1xf32>, tensor<128x1xf32>, tensor<128x64xf32>) {
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
      %v20 = memref.subview %mask[%q0, %j] [128, 128] [1, 1] : memref<1024x1024xf16> to memref<128x128xf16, strided<[1024, 1], offset: ?>>
      %v21 = bufferization.to_tensor %v20 restrict : memref<128x128xf16, strided<[1024, 1], offset: ?>>
      %v22 = tensor.empty() : tensor<128x128xf16>
      %v23 = hivm.hir.load ins(%v21 : tensor<128x128xf16>) outs(%v22 : tensor<128x128xf16>) -> tensor<128x128xf16>
      %v24 = tensor.empty() : tensor<128x128xf32>
      %v25 = hivm.hir.vcast ins(%v23 : tensor<128x128xf16>) outs(%v24 : tensor<128x128xf32>) -> tensor<128x128xf32>
      %v26 = tensor.empty() : tensor<128x128xf32>
      %v27 = hivm.hir.vadd ins(%v19, %v25 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%v26 : tensor<128x128xf32>) -> tensor<128x128xf32>
      %v28 = arith.constant 0xFF800000 : f32
      %v29 = tensor.empty() : tensor<128x1xf32>
      %v30 = hivm.hir.vbrc ins(%v28 : f32) outs(%v29 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v31 = hivm.hir.vreduce <max> ins(%v27 : tensor<128x128xf32>) outs(%v30 : tensor<128x1xf32>) reduce_dims = [1] -> tensor<128x1xf32>
      %v32 = tensor.empty() : tensor<128x1xf32>
      %v33 = hivm.hir.vmax ins(%m0, %v31 : tensor<128x1xf32>, tensor<128x1xf32>) outs(%v32 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v34 = tensor.empty() : tensor<128x128xf32>
      %v35 = hivm.hir.vsub ins(%v27, %v33 : tensor<128x128xf32>, tensor<128x1xf32>) outs(%v34 : tensor<128x128xf32>) broadcast = [1] -> tensor<128x128xf32>
      %v36 = tensor.empty() : tensor<128x128xf32>
      %v37 = hivm.hir.vexp ins(%v35 : tensor<128x128xf32>) outs(%v36 : tensor<128x128xf32>) -> tensor<128x128xf32>
      %v38 = tensor.empty() : tensor<128x1xf32>
      %v39 = hivm.hir.vsub ins(%m0, %v33 : tensor<128x1xf32>, tensor<128x1xf32>) outs(%v38 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v40 = tensor.empty() : tensor<128x1xf32>
      %v41 = hivm.hir.vexp ins(%v39 : tensor<128x1xf32>) outs(%v40 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v42 = arith.constant 0.0 : f32
      %v43 = tensor.empty() : tensor<128x1xf32>
      %v44 = hivm.hir.vbrc ins(%v42 : f32) outs(%v43 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v45 = hivm.hir.vreduce <sum> ins(%v37 : tensor<128x128xf32>) outs(%v44 : tensor<128x1xf32>) reduce_dims = [1] -> tensor<128x1xf32>
      %v46 = tensor.empty() : tensor<128x1xf32>
      %v47 = hivm.hir.vmul ins(%l0, %v41 : tensor<128x1xf32>, tensor<128x1xf32>) outs(%v46 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v48 = tensor.empty() : tensor<128x1xf32>
      %v49 = hivm.hir.vadd ins(%v47, %v45 : tensor<128x1xf32>, tensor<128x1xf32>) outs(%v48 : tensor<128x1xf32>) -> tensor<128x1xf32>
      %v50 = tensor.empty() : tensor<128x128xf16>
      %v51 = hivm.hir.vcast ins(%v37 : tensor<128x128xf32>) outs(%v50 : tensor<128x128xf16>) -> tensor<128x128xf16>
      %v52 = tensor.empty() : tensor<128x64xf32>
      %v53 = hivm.hir.mmadL1 ins(%v51, %v15, %true, %qt, %kt, %d : tensor<128x128xf16>, tensor<128x64xf16>, i1, index, index, index) outs(%v52 : tensor<128x64xf32>) -> tensor<128x64xf32>
      %v54 = tensor.empty() : tensor<128x64xf32>
      %v55 = hivm.hir.vmul ins(%o0, %v41 : tensor<128x64xf32>, tensor<128x1xf32>) outs(%v54 : tensor<128x64xf32>) broadcast = [1] -> tensor<128x64xf32>
      %v56 = tensor.empty() : tensor<128x64xf32>
      %v57 = hivm.hir.vadd ins(%v55, %v53 : tensor<128x64xf32>, tensor<128x64xf32>) outs(%v56 : tensor<128x64xf32>) -> tensor<128x64xf32>
      %keep = hivm.hir.vmax ins(%v33, %v33 : tensor<128x1xf32>, tensor<128x1xf32>) outs(%m0 : tensor<128x1xf32>) -> tensor<128x1xf32>
      scf.yield %keep, %v49, %v57 : tensor<128x1xf32>, tensor<128x1xf32>, tensor<128x64xf32>
      }
      %v58 = tensor.empty() : tensor<128x64xf32>
      %v59 = hivm.hir.vdiv ins(%lp#2, %lp#1 : tensor<128x64xf32>, tensor<128x1xf32>) outs(%v58 : tensor<128x64xf32>) broadcast = [1] -> tensor<128x64xf32>
      %v60 = tensor.empty() : tensor<128x64xf16>
      %v61 = hivm.hir.vcast ins(%v59 : tensor<128x64xf32>) outs(%v60 : tensor<128x64xf16>) -> tensor<128x64xf16>
      %v62 = memref.subview %o[%qrow, 0] [128, 64] [1, 1] : memref<12288x64xf16> to memref<128x64xf16, strided<[64, 1], offset: ?>>
      hivm.hir.store ins(%v61 : tensor<128x64xf16>) outs(%v62 : memref<128x64xf16, strided<[64, 1], offset: ?>>)
    }
    return
}
func.func @attn197(%ff: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}, %ws: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %q: memref<12x197x64xf16>, %kk: memref<12x197x64xf16>, %vv: memref<12x197x64xf16>, %o: memref<12x197x64xf16>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %scale = arith.constant 0.125 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %qt = arith.constant 64 : index
  %d = arith.constant 64 : index
  %S = arith.constant 197 : index
  %bh = arith.constant 12 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index
  scf.for %b = %bi to %bh step %nb {
    %sk = memref.subview %kk[%b, 0, 0] [1, 197, 64] [1, 1, 1] : memref<12x197x64xf16> to memref<197x64xf16, strided<[64, 1], offset: ?>>
    %sv = memref.subview %vv[%b, 0, 0] [1, 197, 64] [1, 1, 1] : memref<12x197x64xf16> to memref<197x64xf16, strided<[64, 1], offset: ?>>
    %lk = memref.alloc() : memref<197x64xf16>
    %lv = memref.alloc() : memref<197x64xf16>
    hivm.hir.load ins(%sk : memref<197x64xf16, strided<[64, 1], offset: ?>>) outs(%lk : memref<197x64xf16>)
    hivm.hir.load ins(%sv : memref<197x64xf16, strided<[64, 1], offset: ?>>) outs(%lv : memref<197x64xf16>)
    %tk = bufferization.to_tensor %lk restrict writable : memref<197x64xf16>
    %tv = bufferization.to_tensor %lv restrict writable : memref<197x64xf16>
    scf.for %i = %c0 to %S step %qt {
      %ms = affine.min affine_map<(d0) -> (197 - d0, 64)>(%i)
      %sq = memref.subview %q[%b, %i, 0] [1, %ms, 64] [1, 1, 1] : memref<12x197x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
      %so = memref.subview %o[%b, %i, 0] [1, %ms, 64] [1, 1, 1] : memref<12x197x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
      %lq = memref.alloc() : memref<64x64xf16>
      %lq1 = memref.subview %lq[0, 0] [%ms, 64] [1, 1] : memref<64x64xf16> to memref<?x64xf16, strided<[64, 1]>>
      hivm.hir.load ins(%sq : memref<?x64xf16, strided<[64, 1], offset: ?>>) outs(%lq1 : memref<?x64xf16, strided<[64, 1]>>)
      %tq = bufferization.to_tensor %lq restrict writable : memref<64x64xf16>
      %e0 = tensor.empty() : tensor<64x197xf32>
      %s0 = hivm.hir.mmadL1 {b_transpose} ins(%tq, %tk, %true, %ms, %d, %S : tensor<64x64xf16>, tensor<197x64xf16>, i1, index, index, index) outs(%e0 : tensor<64x197xf32>) -> tensor<64x197xf32>
      %e1 = tensor.empty() : tensor<64x197xf32>
      %s1 = hivm.hir.vmul ins(%s0, %scale : tensor<64x197xf32>, f32) outs(%e1 : tensor<64x197xf32>) -> tensor<64x197xf32>
      %em = tensor.empty() : tensor<64x1xf32>
      %im = hivm.hir.vbrc ins(%ninf : f32) outs(%em : tensor<64x1xf32>) -> tensor<64x1xf32>
      %m = hivm.hir.vreduce <max> ins(%s1 : tensor<64x197xf32>) outs(%im : tensor<64x1xf32>) reduce_dims = [1] -> tensor<64x1xf32>
      %e2 = tensor.empty() : tensor<64x197xf32>
      %s2 = hivm.hir.vsub ins(%s1, %m : tensor<64x197xf32>, tensor<64x1xf32>) outs(%e2 : tensor<64x197xf32>) broadcast = [1] -> tensor<64x197xf32>
      %e3 = tensor.empty() : tensor<64x197xf32>
      %p = hivm.hir.vexp ins(%s2 : tensor<64x197xf32>) outs(%e3 : tensor<64x197xf32>) -> tensor<64x197xf32>
      %es = tensor.empty() : tensor<64x1xf32>
      %is = hivm.hir.vbrc ins(%zero : f32) outs(%es : tensor<64x1xf32>) -> tensor<64x1xf32>
      %l = hivm.hir.vreduce <sum> ins(%p : tensor<64x197xf32>) outs(%is : tensor<64x1xf32>) reduce_dims = [1] -> tensor<64x1xf32>
      %e4 = tensor.empty() : tensor<64x197xf32>
      %pn = hivm.hir.vdiv ins(%p, %l : tensor<64x197xf32>, tensor<64x1xf32>) outs(%e4 : tensor<64x197xf32>) broadcast = [1] -> tensor<64x197xf32>
      %e5 = tensor.empty() : tensor<64x197xf16>
      %p16 = hivm.hir.vcast ins(%pn : tensor<64x197xf32>) outs(%e5 : tensor<64x197xf16>) -> tensor<64x197xf16>
      %e6 = tensor.empty() : tensor<64x64xf32>
      %o32 = hivm.hir.mmadL1 ins(%p16, %tv, %true, %ms, %S, %d : tensor<64x197xf16>, tensor<197x64xf16>, i1, index, index, index) outs(%e6 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %e7 = tensor.empty() : tensor<64x64xf16>
      %o16 = hivm.hir.vcast ins(%o32 : tensor<64x64xf32>) outs(%e7 : tensor<64x64xf16>) -> tensor<64x64xf16>
      %ex = tensor.extract_slice %o16[0, 0] [%ms, 64] [1, 1] : tensor<64x64xf16> to tensor<?x64xf16>
      hivm.hir.store ins(%ex : tensor<?x64xf16>) outs(%so : memref<?x64xf16, strided<[64, 1], offset: ?>>)
    }
  }
  return
}
}
