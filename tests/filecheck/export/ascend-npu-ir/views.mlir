// RUN: fuse-opt %s -t ascend-npu-ir --split-input-file | filecheck %s

// HIVM takes no stride of 0: an axis that stands still gets size 1, where one position is used.
// CHECK:      %v = memref.reinterpret_cast %x to offset: [0], sizes: [8, 1, 64], strides: [64, 1, 1] : memref<8x64xf32, #hivm.address_space<gm>> to memref<8x1x64xf32, strided<[64, 1, 1]>, #hivm.address_space<gm>>
// CHECK:      %from = memref.subview %v[%c3, 0, 0] [1, 1, 64] [1, 1, 1] : memref<8x1x64xf32, strided<[64, 1, 1]>, #hivm.address_space<gm>> to memref<1x64xf32, strided<[1, 1], offset: ?>, #hivm.address_space<gm>>
!x = memref<8x64xf32, #npu.space<gm>>
!v = memref<8x5x64xf32, strided<[64, 0, 1]>, #npu.space<gm>>
!f = memref<1x64xf32, strided<[0, 1], offset: ?>, #npu.space<gm>>
!u = memref<1x64xf32, #npu.space<ub>>
func.func @still(%x: !x, %out: memref<1x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [8, 5, 64], strides: [64, 0, 1] : !x to !v
  %from = memref.subview %v[%c3, %c4, 0] [1, 1, 64] [1, 1, 1] : !v to !f
  %u = npu.alloc : !u
  npu.load ins(%from : !f) outs(%u : !u)
  npu.store ins(%u : !u) outs(%out : memref<1x64xf32, #npu.space<gm>>)
  func.return
}

// -----

// A column of which later lines are viewed keeps its padding: a packed one has them inside of blocks.
// CHECK:      %c = memref.alloc() : memref<16x8xf32, #hivm.address_space<ub>>
// CHECK-NEXT: %all = memref.subview %c[0, 0] [16, 1] [1, 1] : memref<16x8xf32, #hivm.address_space<ub>> to memref<16x1xf32, strided<[8, 1]>, #hivm.address_space<ub>>
// CHECK:      %later = memref.subview %all[%c5, 0] [11, 1] [1, 1] : memref<16x1xf32, strided<[8, 1]>, #hivm.address_space<ub>> to memref<11x1xf32, strided<[8, 1], offset: ?>, #hivm.address_space<ub>>
!x = memref<16x1xf32, #npu.space<gm>>
!c = memref<16x8xf32, #npu.space<ub>>
!a = memref<16x1xf32, strided<[8, 1]>, #npu.space<ub>>
!l = memref<11x1xf32, strided<[8, 1], offset: ?>, #npu.space<ub>>
func.func @later(%x: !x, %out: !x) attributes {npu.core = "vector"} {
  %c5 = arith.constant 5 : index
  %c = npu.alloc : !c
  %all = memref.subview %c[0, 0] [16, 1] [1, 1] : !c to !a
  npu.load ins(%x : !x) outs(%all : !a)
  %later = memref.subview %all[%c5, 0] [11, 1] [1, 1] : !a to !l
  npu.vexp ins(%later : !l) outs(%later : !l)
  npu.store ins(%all : !a) outs(%out : !x)
  func.return
}
