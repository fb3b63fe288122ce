// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s

// CHECK:      %true = arith.constant true
// CHECK:      %c128 = arith.constant 128 : index
// CHECK:      %ag = memref.subview %a[%block, 0, 0] [1, 128, 64] [1, 1, 1] : memref<12x128x64xf32, #hivm.address_space<gm>> to memref<128x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
// CHECK:      hivm.hir.mmadL1 {b_transpose} ins(%a1, %b1, %true, %c128, %c64, %c128 : memref<128x64xf32, #hivm.address_space<cbuf>>, memref<128x64xf32, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%acc : memref<128x128xf32, #hivm.address_space<cc>>)
// CHECK:      hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>} ins(%acc

!a = memref<12x128x64xf32, #npu.space<gm>>
!y = memref<12x128x128xf32, #npu.space<gm>>
!a1 = memref<128x64xf32, #npu.space<l1>>
!acc = memref<128x128xf32, #npu.space<l0c>>
func.func @batch_matmul(%a: !a, %b: !a, %out: !y) attributes {npu.core = "cube", npu.blocks = 12 : i64} {
  %block = npu.block_idx : index
  %true = arith.constant true
  %acc = npu.alloc : !acc
  %a1 = npu.alloc : !a1
  %ag = memref.subview %a[%block, 0, 0] [1, 128, 64] [1, 1, 1] : !a to memref<128x64xf32, strided<[64, 1], offset: ?>, #npu.space<gm>>
  npu.load ins(%ag : memref<128x64xf32, strided<[64, 1], offset: ?>, #npu.space<gm>>) outs(%a1 : !a1)
  %b1 = npu.alloc : !a1
  %bg = memref.subview %b[%block, 0, 0] [1, 128, 64] [1, 1, 1] : !a to memref<128x64xf32, strided<[64, 1], offset: ?>, #npu.space<gm>>
  npu.load ins(%bg : memref<128x64xf32, strided<[64, 1], offset: ?>, #npu.space<gm>>) outs(%b1 : !a1)
  npu.mmad b_transpose ins(%a1, %b1 : !a1, !a1) init %true outs(%acc : !acc) l0 [32]
  %og = memref.subview %out[%block, 0, 0] [1, 128, 128] [1, 1, 1] : !y to memref<128x128xf32, strided<[128, 1], offset: ?>, #npu.space<gm>>
  npu.fixpipe ins(%acc : !acc) outs(%og : memref<128x128xf32, strided<[128, 1], offset: ?>, #npu.space<gm>>)
  func.return
}
