// Buffers that are not alive at once share addresses; the peak is the most that is alive.
//
// RUN: fuse-opt %s -p npu-place | filecheck %s
// RUN: fuse-opt %s -p npu-place,npu-place | filecheck %s
// RUN: fuse-opt %s -p npu-place,npu-verify

!gm = memref<16x64xf32, #npu.space<gm>>
!ub = memref<16x64xf32, #npu.space<ub>>
!half = memref<8x64xf32, #npu.space<ub>>

// Live: a 4096 bytes until c is made, then b (4096) and c (4096).
// CHECK-LABEL: func.func @chain
// CHECK:         %a = npu.alloc at 0 : memref
// CHECK:         %b = npu.alloc at 4096 : memref
// CHECK:         %c = npu.alloc at 0 : memref
func.func @chain(%x: !gm, %y: !gm) attributes {npu.core = "vector"} {
  %a = npu.alloc : !ub
  npu.load ins(%x : !gm) outs(%a : !ub)
  %b = npu.alloc : !ub
  npu.vexp ins(%a : !ub) outs(%b : !ub)
  %c = npu.alloc : !ub
  npu.vln ins(%b : !ub) outs(%c : !ub)
  npu.vadd ins(%b, %c : !ub, !ub) outs(%c : !ub)
  npu.store ins(%c : !ub) outs(%y : !gm)
  func.return
}

// Source and result of one operator are alive at once.
// CHECK-LABEL: func.func @same_operator
// CHECK:         %a = npu.alloc at 0 : memref
// CHECK:         %b = npu.alloc at 4096 : memref
func.func @same_operator(%x: !gm) attributes {npu.core = "vector"} {
  %a = npu.alloc : !ub
  npu.load ins(%x : !gm) outs(%a : !ub)
  %b = npu.alloc : !ub
  npu.vexp ins(%a : !ub) outs(%b : !ub)
  func.return
}

// A use of a sub-view keeps the buffer alive.
// CHECK-LABEL: func.func @view
// CHECK:         %a = npu.alloc at 0 : memref
// CHECK:         %b = npu.alloc at 4096 : memref
func.func @view(%x: !gm) attributes {npu.core = "vector"} {
  %a = npu.alloc : !ub
  %v = memref.subview %a[0, 0] [8, 64] [1, 1] : !ub to memref<8x64xf32, strided<[64, 1]>, #npu.space<ub>>
  npu.load ins(%x : !gm) outs(%a : !ub)
  %b = npu.alloc : !half
  npu.vexp ins(%v : memref<8x64xf32, strided<[64, 1]>, #npu.space<ub>>) outs(%b : !half)
  npu.vadd ins(%v, %b : memref<8x64xf32, strided<[64, 1]>, #npu.space<ub>>, !half) outs(%b : !half)
  func.return
}

// A buffer that nothing uses takes room where it stands only.
// CHECK-LABEL: func.func @unused
// CHECK:         npu.alloc at 0 : memref<16x64xf32
// CHECK:         npu.alloc at 0 : memref<8x64xf32
func.func @unused() attributes {npu.core = "vector"} {
  %a = npu.alloc : !ub
  %b = npu.alloc : !half
  func.return
}

// Scratch is written: it overlaps neither source nor result.
// CHECK-LABEL: func.func @scratch
// CHECK-DAG:     %a = npu.alloc at 0 : memref
// CHECK-DAG:     %t = npu.alloc at 4096 : memref
// CHECK-DAG:     %s = npu.alloc at 6144 : memref
func.func @scratch(%x: !gm) attributes {npu.core = "vector"} {
  %a = npu.alloc : !ub
  npu.load ins(%x : !gm) outs(%a : !ub)
  %s = npu.alloc : memref<16x1xf32, #npu.space<ub>>
  %t = npu.alloc : !half
  npu.vreduce "sum" ins(%a : !ub) outs(%s : memref<16x1xf32, #npu.space<ub>>) dims [1] temp(%t : !half)
  func.return
}
