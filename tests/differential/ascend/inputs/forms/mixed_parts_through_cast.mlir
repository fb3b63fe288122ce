// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true --enable-auto-bind-sub-block=false -o OUT.mlir
module {
func.func @k(%x: memref<16x14x64xf32>, %w: memref<64x128xf32>, %o: memref<224x128xf32>, %ws: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %ff: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %c2 = arith.constant 2 : index
 %c14 = arith.constant 14 : index
 %c16 = arith.constant 16 : index
 %c28 = arith.constant 28 : index
 %c64 = arith.constant 64 : index
 %c128 = arith.constant 128 : index
 %true = arith.constant true
 %z = arith.constant 0.0 : f32
 scf.for %i = %c0 to %c16 step %c2 {
  %la = memref.alloc() : memref<28x64xf32, #hivm.address_space<cbuf>>
  hivm.hir.vbrc ins(%z : f32) outs(%la : memref<28x64xf32, #hivm.address_space<cbuf>>)
  %lc = memref.cast %la : memref<28x64xf32, #hivm.address_space<cbuf>> to memref<28x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>>
  scf.for %q = %c0 to %c2 step %c1 {
   %row = arith.addi %i, %q : index
   %s = memref.subview %x[%row, 0, 0] [1, 14, 64] [1, 1, 1] : memref<16x14x64xf32> to memref<14x64xf32, strided<[64, 1], offset: ?>>
   %d0 = arith.muli %q, %c14 : index
   %d = memref.subview %lc[%d0, 0] [14, 64] [1, 1] : memref<28x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>> to memref<14x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>>
   hivm.hir.load ins(%s : memref<14x64xf32, strided<[64, 1], offset: ?>>) outs(%d : memref<14x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>>)
  }
  %ta = bufferization.to_tensor %la restrict writable : memref<28x64xf32, #hivm.address_space<cbuf>>
  %lb = memref.alloc() : memref<64x128xf32>
  hivm.hir.load ins(%w : memref<64x128xf32>) outs(%lb : memref<64x128xf32>)
  %tb = bufferization.to_tensor %lb restrict writable : memref<64x128xf32>
  %e = tensor.empty() : tensor<28x128xf32>
  %acc = hivm.hir.mmadL1 ins(%ta, %tb, %true, %c28, %c64, %c128 : tensor<28x64xf32>, tensor<64x128xf32>, i1, index, index, index) outs(%e : tensor<28x128xf32>) -> tensor<28x128xf32>
  %si64 = hivm.hir.get_sub_block_idx -> i64
  %si = arith.index_cast %si64 : i64 to index
  %q0 = arith.muli %si, %c14 : index
  scf.for %q = %q0 to %c28 step %c28 {
   %sl = tensor.extract_slice %acc[%q, 0] [14, 128] [1, 1] : tensor<28x128xf32> to tensor<14x128xf32>
   %e2 = tensor.empty() : tensor<14x128xf32>
   %v = hivm.hir.vexp ins(%sl : tensor<14x128xf32>) outs(%e2 : tensor<14x128xf32>) -> tensor<14x128xf32>
   %r0 = arith.muli %i, %c14 : index
   %r = arith.addi %r0, %q : index
   %so = memref.subview %o[%r, 0] [14, 128] [1, 1] : memref<224x128xf32> to memref<14x128xf32, strided<[128, 1], offset: ?>>
   hivm.hir.store ins(%v : tensor<14x128xf32>) outs(%so : memref<14x128xf32, strided<[128, 1], offset: ?>>)
  }
 }
 return
}
}
