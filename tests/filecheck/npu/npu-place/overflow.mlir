// What does not fit: the table of what is alive at the peak, the capacity, the largest tile.
//
// RUN: fuse-opt %s -p npu-place --split-input-file --verify-diagnostics | filecheck %s

// 3 x 64 x 300 x 4 bytes; r rows take 3 x r x 1200 bytes, so 54 fit; c columns take 3 x 64 x 4 x c.
// CHECK:      overflow.mlir:{{[0-9]+}}:1: @rows: buffers do not fit ub: 230400 bytes are alive at once, ub of ascend910b3 has 196608; alive at the peak:
// CHECK-NEXT:   buffer  tile        copies  bytes   alive
// CHECK-NEXT:   %u      64x300xf32  2       153600  3..10
// CHECK-NEXT:   %a      64x300xf32  1       76800   7..8
// CHECK-NEXT: the largest tile that fits has 54 in place of 64, or 256 in place of 300
!gm = memref<64x300xf32, #npu.space<gm>>
!ub = memref<64x300xf32, #npu.space<ub>>
func.func @rows(%x: !gm) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %u = npu.alloc copies 2 : !ub
    npu.load ins(%x : !gm) outs(%u : !ub)
    %a = npu.alloc : !ub
    npu.vexp ins(%u : !ub) outs(%a : !ub)
    npu.store ins(%a : !ub) outs(%x : !gm)
  }
  func.return
}

// -----

// The limit is the target's.
// CHECK: @one: buffers do not fit l0c: 262144 bytes are alive at once, l0c of ascend910b1 has 131072
// CHECK: the largest tile that fits has 176 in place of 256
module attributes {npu.target = "ascend910b1"} {
  func.func @one(%y: memref<256x256xf32, #npu.space<gm>>) attributes {npu.core = "cube"} {
    %acc = npu.alloc : memref<256x256xf32, #npu.space<l0c>>
    npu.fixpipe ins(%acc : memref<256x256xf32, #npu.space<l0c>>) outs(%y : memref<256x256xf32, #npu.space<gm>>)
    func.return
  }
}

// -----

// One axis of size 1 and one of a size that cannot shrink enough.
// CHECK: @copies: buffers do not fit ub
// CHECK: no single tile size can shrink enough; use fewer copies or smaller tiles
func.func @copies(%x: memref<1x1xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %u = npu.alloc copies 10000 : memref<1x1xf32, #npu.space<ub>>
    npu.load ins(%x : memref<1x1xf32, #npu.space<gm>>) outs(%u : memref<1x1xf32, #npu.space<ub>>)
  }
  func.return
}

// -----

// An address that was given leaves no room for the other buffer.
// CHECK: @given: buffers do not fit ub: no placement below {{[0-9]+}} bytes was found, ub of ascend910b3 has 196608
// CHECK: make one of the tiles smaller, or give them equal sizes
!g = memref<320x64xf32, #npu.space<gm>>
!u = memref<320x64xf32, #npu.space<ub>>
func.func @given(%x: !g) attributes {npu.core = "vector"} {
  %a = npu.alloc at 65536 : !u
  npu.load ins(%x : !g) outs(%a : !u)
  %b = npu.alloc : !u
  npu.vexp ins(%a : !u) outs(%b : !u)
  func.return
}

// -----

// CHECK: @main: buffers do not fit gm: 80000000000 bytes are alive at once, gm of ascend910b3 has 68719476736
func.func @main() attributes {npu.host} {
  %a = npu.alloc : memref<200000x100000xf32, #npu.space<gm>>
  func.return
}
