// An address that is there stays; the others go around it.
//
// RUN: fuse-opt %s -p npu-place | filecheck %s

!gm = memref<16x64xf32, #npu.space<gm>>
!ub = memref<16x64xf32, #npu.space<ub>>

// CHECK-LABEL: func.func @around
// CHECK:         %a = npu.alloc at 2048 : memref
// CHECK:         %b = npu.alloc at 6144 : memref
// CHECK:         %c = npu.alloc at 0 : memref<8x64xf32
func.func @around(%x: !gm) attributes {npu.core = "vector"} {
  %a = npu.alloc at 2048 : !ub
  %b = npu.alloc : !ub
  %c = npu.alloc : memref<8x64xf32, #npu.space<ub>>
  npu.load ins(%x : !gm) outs(%a : !ub)
  npu.vexp ins(%a : !ub) outs(%b : !ub)
  %v = memref.subview %b[0, 0] [8, 64] [1, 1] : !ub to memref<8x64xf32, strided<[64, 1]>, #npu.space<ub>>
  npu.vexp ins(%v : memref<8x64xf32, strided<[64, 1]>, #npu.space<ub>>) outs(%c : memref<8x64xf32, #npu.space<ub>>)
  npu.store ins(%a : !ub) outs(%x : !gm)
  func.return
}

// All placed: nothing to do, right or wrong (npu-verify says which).
// CHECK-LABEL: func.func @all
// CHECK:         npu.alloc at 7 : memref
func.func @all(%x: !gm) attributes {npu.core = "vector"} {
  %a = npu.alloc at 7 : !ub
  npu.load ins(%x : !gm) outs(%a : !ub)
  func.return
}
