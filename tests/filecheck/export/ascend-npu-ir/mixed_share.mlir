// A tile that is not cut into chunks: each vector core takes what exists of its half of the lines;
// what has no lines (the bias) is the same on both.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s

// CHECK:      %acc = hivm.hir.mmadL1
// CHECK:      %lower = arith.muli %sub_block, %c16 : index
// CHECK-NEXT: scf.for %line = %lower to %m step %c32 {
// CHECK-NEXT:   %rest = arith.subi %m, %line : index
// CHECK-NEXT:   %count = arith.minsi %rest, %c16 : index
// CHECK-NEXT:   %lines = tensor.extract_slice %acc[%line, 0] [16, 48] [1, 1] : tensor<32x48xf32> to tensor<16x48xf32>
// CHECK-NEXT:   %bu = memref.alloc() : memref<1x48xf32>
// CHECK-NEXT:   hivm.hir.load ins(%bias : memref<1x48xf32>) outs(%bu : memref<1x48xf32>)
// CHECK:        %tile = hivm.hir.vadd ins(%lines, %t_2 : tensor<16x48xf32>, tensor<1x48xf32>) outs(%empty_1 : tensor<16x48xf32>) broadcast = [0] -> tensor<16x48xf32>
// CHECK:        %tile_1 = hivm.hir.vexp ins(%tile : tensor<16x48xf32>)
// CHECK-NEXT:   %moved = arith.addi %i, %line : index
// CHECK-NEXT:   %rg = memref.subview %residual[%moved, 0] [%count, 48] [1, 1] : memref<100x48xf32> to memref<?x48xf32, strided<[48, 1], offset: ?>>
// CHECK:        hivm.hir.load ins(%rg : {{.*}}) outs(%part_1 : memref<?x48xf32, strided<[48, 1]>>)
// CHECK:        %tile_2 = hivm.hir.vadd ins(%tile_1, %t_3
// CHECK:        %moved_1 = arith.addi %i, %line : index
// CHECK-NEXT:   %og = memref.subview %out[%moved_1, 0] [%count, 48] [1, 1]
// CHECK-NEXT:   %part_2 = tensor.extract_slice %tile_2[0, 0] [%count, 48] [1, 1] : tensor<16x48xf32> to tensor<?x48xf32>
// CHECK-NEXT:   hivm.hir.store ins(%part_2 : tensor<?x48xf32>) outs(%og

!x = memref<100x64xf16, #npu.space<gm>>
!w = memref<64x48xf16, #npu.space<gm>>
!v = memref<1x48xf32, #npu.space<gm>>
!y = memref<100x48xf32, #npu.space<gm>>
!ws = memref<4x32x48xf32, #npu.space<gm>>
!a = memref<32x64xf16, #npu.space<l1>>
!as = memref<?x64xf16, strided<[64, 1]>, #npu.space<l1>>
!b = memref<64x48xf16, #npu.space<l1>>
!acc = memref<32x48xf32, #npu.space<l0c>>
!accs = memref<?x48xf32, strided<[48, 1]>, #npu.space<l0c>>
!xg = memref<?x64xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>
!yg = memref<?x48xf32, strided<[48, 1], offset: ?>, #npu.space<gm>>
!u = memref<32x48xf32, #npu.space<ub>>
!us = memref<?x48xf32, strided<[48, 1]>, #npu.space<ub>>
!r = memref<1x48xf32, #npu.space<ub>>
func.func @share(%x: !x, %w: !w, %bias: !v, %residual: !y, %out: !y, %ws: !ws {npu.workspace})
    attributes {npu.core = "mixed", npu.blocks = 4 : i64} {
  %block = npu.block_idx : index
  %true = arith.constant true
  %c32 = arith.constant 32 : index
  %c100 = arith.constant 100 : index
  %i = arith.muli %block, %c32 : index
  %ri = arith.subi %c100, %i : index
  %m = arith.minsi %ri, %c32 : index
  %xg = memref.subview %x[%i, 0] [%m, 64] [1, 1] : !x to !xg
  %a = npu.alloc : !a
  %as = memref.subview %a[0, 0] [%m, 64] [1, 1] : !a to !as
  npu.load ins(%xg : !xg) outs(%as : !as)
  %b = npu.alloc : !b
  npu.load ins(%w : !w) outs(%b : !b)
  %acc = npu.alloc : !acc
  %accs = memref.subview %acc[0, 0] [%m, 48] [1, 1] : !acc to !accs
  npu.mmad ins(%as, %b : !as, !b) init %true outs(%accs : !accs) l0 [64]
  %wsg = memref.subview %ws[%block, 0, 0] [1, %m, 48] [1, 1, 1] : !ws to !yg
  npu.fixpipe ins(%accs : !accs) outs(%wsg : !yg)
  %tile = npu.alloc : !u
  %t = memref.subview %tile[0, 0] [%m, 48] [1, 1] : !u to !us
  npu.load ins(%wsg : !yg) outs(%t : !us)
  %bu = npu.alloc : !r
  npu.load ins(%bias : !v) outs(%bu : !r)
  npu.vadd ins(%t, %bu : !us, !r) outs(%t : !us)
  npu.vexp ins(%t : !us) outs(%t : !us)
  %rg = memref.subview %residual[%i, 0] [%m, 48] [1, 1] : !y to !yg
  %ru = npu.alloc : !u
  %rs = memref.subview %ru[0, 0] [%m, 48] [1, 1] : !u to !us
  npu.load ins(%rg : !yg) outs(%rs : !us)
  npu.vadd ins(%t, %rs : !us, !us) outs(%t : !us)
  %og = memref.subview %out[%i, 0] [%m, 48] [1, 1] : !y to !yg
  npu.store ins(%t : !us) outs(%og : !yg)
  func.return
}
