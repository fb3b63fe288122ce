// Tensor form: loops carry the accumulator, the workspace is a slice of it, and each vector core
// takes every other chunk of lines.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s
// RUN: fuse-opt %s -p npu-multi-buffer -t ascend-npu-ir | filecheck %s --check-prefix=DOUBLE

// CHECK:      // matmul_bias_gelu: route compile enable-auto-bind-sub-block=false
// CHECK-NEXT: func.func @matmul_bias_gelu(%x: memref<128x256xf32>, %w: memref<256x3000xf32>, %bias: memref<3000xf32>, %out: memref<128x3000xf32>, %workspace: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %ffts: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {
// CHECK:        %empty = tensor.empty() : tensor<64x320xf32>
// CHECK-NEXT:   %accb = scf.for %k = %c0 to %c256 step %c128 iter_args(%carried = %empty) -> (tensor<64x320xf32>) {
// CHECK:          %l1a = memref.alloc() : memref<64x128xf32>
// CHECK-NEXT:     hivm.hir.load ins(%xg : {{.*}}) outs(%l1a : memref<64x128xf32>)
// CHECK-NEXT:     %t = bufferization.to_tensor %l1a restrict writable : memref<64x128xf32>
// CHECK:          %l1b = memref.alloc() : memref<128x320xf32>
// CHECK-NEXT:     %part = memref.subview %l1b[0, 0] [128, %n] [1, 1] : memref<128x320xf32> to memref<128x?xf32, strided<[320, 1]>>
// CHECK-NEXT:     hivm.hir.load ins(%wg : {{.*}}) outs(%part : memref<128x?xf32, strided<[320, 1]>>)
// CHECK-NEXT:     %t_1 = bufferization.to_tensor %l1b restrict writable : memref<128x320xf32>
// CHECK-NEXT:     %accb_1 = hivm.hir.mmadL1 ins(%t, %t_1, %first, %c64, %c128, %n : tensor<64x128xf32>, tensor<128x320xf32>, i1, index, index, index) outs(%carried : tensor<64x320xf32>) -> tensor<64x320xf32>
// CHECK-NEXT:     scf.yield %accb_1 : tensor<64x320xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %sub_block_i64 = hivm.hir.get_sub_block_idx -> i64
// CHECK-NEXT:   %sub_block = arith.index_cast %sub_block_i64 : i64 to index
// CHECK-NEXT:   %offset = arith.muli %sub_block, %c32 : index
// CHECK-NEXT:   %lower = arith.addi %c0, %offset : index
// CHECK-NEXT:   %twice = arith.muli %c32, %c2 : index
// CHECK-NEXT:   scf.for %c = %lower to %c64 step %twice {
// CHECK:          %lines = tensor.extract_slice %accb[%c, 0] [32, 320] [1, 1] : tensor<64x320xf32> to tensor<32x320xf32>
// CHECK:          hivm.hir.load ins(%vg : {{.*}}) outs(%part_1 : memref<1x?xf32, strided<[320, 1]>>)
// CHECK:          %tile = hivm.hir.vadd ins(%lines, %t_2 : tensor<32x320xf32>, tensor<1x320xf32>) outs(%empty_1 : tensor<32x320xf32>) broadcast = [0] -> tensor<32x320xf32>
// CHECK:          %tile_1 = hivm.hir.vdiv ins(%tile, %otherb_6
// CHECK:          %part_2 = tensor.extract_slice %tile_1[0, 0] [32, %n] [1, 1] : tensor<32x320xf32> to tensor<32x?xf32>
// CHECK-NEXT:     hivm.hir.store ins(%part_2 : tensor<32x?xf32>) outs(%yg : memref<32x?xf32, strided<[3000, 1], offset: ?>>)
// CHECK-NOT:  npu.
// CHECK-NOT:  %ws

// DOUBLE: // matmul_bias_gelu: route compile enable-auto-bind-sub-block=false enable-auto-multi-buffer=true limit-auto-multi-buffer-buffer=only-cube tile-mix-vector-loop=1

!x = memref<128x256xf32, #npu.space<gm>>
!w = memref<256x3000xf32, #npu.space<gm>>
!v = memref<3000xf32, #npu.space<gm>>
!y = memref<128x3000xf32, #npu.space<gm>>
!ws = memref<20x64x320xf32, #npu.space<gm>>
!a1 = memref<64x128xf32, #npu.space<l1>>
!b1 = memref<128x320xf32, #npu.space<l1>>
!b1s = memref<128x?xf32, strided<[320, 1]>, #npu.space<l1>>
!acc = memref<64x320xf32, #npu.space<l0c>>
!accs = memref<64x?xf32, strided<[320, 1]>, #npu.space<l0c>>
!xg = memref<64x128xf32, strided<[256, 1], offset: ?>, #npu.space<gm>>
!wg = memref<128x?xf32, strided<[3000, 1], offset: ?>, #npu.space<gm>>
!wsg = memref<?x?xf32, strided<[320, 1], offset: ?>, #npu.space<gm>>
!v2 = memref<1x3000xf32, strided<[1, 1]>, #npu.space<gm>>
!vg = memref<1x?xf32, strided<[1, 1], offset: ?>, #npu.space<gm>>
!yg = memref<?x?xf32, strided<[3000, 1], offset: ?>, #npu.space<gm>>
!u = memref<32x320xf32, #npu.space<ub>>
!us = memref<32x?xf32, strided<[320, 1]>, #npu.space<ub>>
!r = memref<1x320xf32, #npu.space<ub>>
!rs = memref<1x?xf32, strided<[320, 1]>, #npu.space<ub>>
func.func @matmul_bias_gelu(%x: !x, %w: !w, %bias: !v, %out: !y, %ws: !ws {npu.workspace})
    attributes {npu.core = "mixed", npu.blocks = 20 : i64} {
  %block = npu.block_idx : index
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c320 = arith.constant 320 : index
  %c256 = arith.constant 256 : index
  %c3000 = arith.constant 3000 : index
  %a0 = arith.constant 0.044715 : f32
  %a1 = arith.constant 1.000000e+00 : f32
  %a2 = arith.constant -1.5957691 : f32
  %ti = arith.divui %block, %c10 : index
  %tj = arith.remui %block, %c10 : index
  %i = arith.muli %ti, %c64 : index
  %j = arith.muli %tj, %c320 : index
  %rj = arith.subi %c3000, %j : index
  %n = arith.minsi %rj, %c320 : index
  %accb = npu.alloc : !acc
  %acc = memref.subview %accb[0, 0] [64, %n] [1, 1] : !acc to !accs
  scf.for %k = %c0 to %c256 step %c128 {
    %first = arith.cmpi eq, %k, %c0 : index
    %xg = memref.subview %x[%i, %k] [64, 128] [1, 1] : !x to !xg
    %l1a = npu.alloc : !a1
    npu.load ins(%xg : !xg) outs(%l1a : !a1)
    %wg = memref.subview %w[%k, %j] [128, %n] [1, 1] : !w to !wg
    %l1b = npu.alloc : !b1
    %bs = memref.subview %l1b[0, 0] [128, %n] [1, 1] : !b1 to !b1s
    npu.load ins(%wg : !wg) outs(%bs : !b1s)
    npu.mmad ins(%l1a, %bs : !a1, !b1s) init %first outs(%acc : !accs) l0 [16]
  }
  %to = memref.subview %ws[%block, 0, 0] [1, 64, %n] [1, 1, 1] : !ws to memref<64x?xf32, strided<[320, 1], offset: ?>, #npu.space<gm>>
  npu.fixpipe ins(%acc : !accs) outs(%to : memref<64x?xf32, strided<[320, 1], offset: ?>, #npu.space<gm>>)
  scf.for %c = %c0 to %c64 step %c32 {
    %row = arith.addi %i, %c : index
    %from = memref.subview %ws[%block, %c, 0] [1, 32, %n] [1, 1, 1] : !ws to memref<32x?xf32, strided<[320, 1], offset: ?>, #npu.space<gm>>
    %tile = npu.alloc : !u
    %v = memref.subview %tile[0, 0] [32, %n] [1, 1] : !u to !us
    npu.load ins(%from : memref<32x?xf32, strided<[320, 1], offset: ?>, #npu.space<gm>>) outs(%v : !us)
    %v2 = memref.reinterpret_cast %bias to offset: [0], sizes: [1, 3000], strides: [1, 1] : !v to !v2
    %vg = memref.subview %v2[0, %j] [1, %n] [1, 1] : !v2 to !vg
    %biasb = npu.alloc : !r
    %bu = memref.subview %biasb[0, 0] [1, %n] [1, 1] : !r to !rs
    npu.load ins(%vg : !vg) outs(%bu : !rs)
    npu.vadd ins(%v, %bu : !us, !rs) outs(%v : !us)
    %otherb = npu.alloc : !u
    %other = memref.subview %otherb[0, 0] [32, %n] [1, 1] : !u to !us
    npu.vmul ins(%v, %v : !us, !us) outs(%other : !us)
    npu.vmul ins(%other, %a0 : !us, f32) outs(%other : !us)
    npu.vadd ins(%other, %a1 : !us, f32) outs(%other : !us)
    npu.vmul ins(%other, %v : !us, !us) outs(%other : !us)
    npu.vmul ins(%other, %a2 : !us, f32) outs(%other : !us)
    npu.vexp ins(%other : !us) outs(%other : !us)
    npu.vadd ins(%other, %a1 : !us, f32) outs(%other : !us)
    npu.vdiv ins(%v, %other : !us, !us) outs(%v : !us)
    %yg = memref.subview %out[%row, %j] [32, %n] [1, 1] : !y to memref<32x?xf32, strided<[3000, 1], offset: ?>, #npu.space<gm>>
    npu.store ins(%v : !us) outs(%yg : memref<32x?xf32, strided<[3000, 1], offset: ?>, #npu.space<gm>>)
  }
  func.return
}
