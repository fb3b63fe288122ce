// Where not all copies fit (192 KB of ub), the smallest buffers rotate and the largest stay single.
//
// RUN: fuse-opt %s -p npu-multi-buffer | filecheck %s

!k96 = memref<384x64xf32, #npu.space<ub>>
!k32 = memref<128x64xf32, #npu.space<ub>>
!k16 = memref<64x64xf32, #npu.space<ub>>
!g96 = memref<384x64xf32, #npu.space<gm>>
!g32 = memref<128x64xf32, #npu.space<gm>>
!g16 = memref<64x64xf32, #npu.space<gm>>

// 96 + 2 x 32 + 2 x 16 KB are exactly 192 KB.
// CHECK-LABEL: func.func @exactly
func.func @exactly(%x: !g96, %y: !g32, %z: !g16) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    // CHECK: %a = npu.alloc : memref
    // CHECK: %b = npu.alloc copies 2 : memref
    // CHECK: %c = npu.alloc copies 2 : memref
    %a = npu.alloc : !k96
    %b = npu.alloc : !k32
    %c = npu.alloc : !k16
    npu.load ins(%x : !g96) outs(%a : !k96)
    npu.load ins(%y : !g32) outs(%b : !k32)
    npu.load ins(%z : !g16) outs(%c : !k16)
    npu.store ins(%c : !k16) outs(%z : !g16)
    npu.store ins(%b : !k32) outs(%y : !g32)
    npu.store ins(%a : !k96) outs(%x : !g96)
  }
  func.return
}

// A buffer inside that lives beside them takes room too: 96 + 32 + 32 + 16 + 16 KB.
// CHECK-LABEL: func.func @beside
func.func @beside(%x: !g96, %y: !g32, %z: !g16) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    // CHECK: %a = npu.alloc : memref
    // CHECK: %b = npu.alloc : memref
    // CHECK: %c = npu.alloc copies 2 : memref
    // CHECK: %d = npu.alloc : memref
    %a = npu.alloc : !k96
    %b = npu.alloc : !k32
    %c = npu.alloc : !k16
    %d = npu.alloc : !k32
    npu.load ins(%x : !g96) outs(%a : !k96)
    npu.load ins(%y : !g32) outs(%b : !k32)
    npu.load ins(%z : !g16) outs(%c : !k16)
    npu.vexp ins(%b : !k32) outs(%d : !k32)
    npu.vadd ins(%b, %d : !k32, !k32) outs(%b : !k32)
    npu.store ins(%c : !k16) outs(%z : !g16)
    npu.store ins(%b : !k32) outs(%y : !g32)
    npu.store ins(%a : !k96) outs(%x : !g96)
  }
  func.return
}

// One copy more of 48 KB would leave room for only one of the two of 32 KB.
!k48 = memref<192x64xf32, #npu.space<ub>>
!g48 = memref<192x64xf32, #npu.space<gm>>
// CHECK-LABEL: func.func @smallest_first
func.func @smallest_first(%x: !g48, %y: !g32) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    // CHECK: %a = npu.alloc : memref
    // CHECK: %b = npu.alloc copies 2 : memref
    // CHECK: %c = npu.alloc copies 2 : memref
    %a = npu.alloc : !k48
    %b = npu.alloc : !k32
    %c = npu.alloc : !k32
    npu.load ins(%x : !g48) outs(%a : !k48)
    npu.load ins(%y : !g32) outs(%b : !k32)
    npu.load ins(%y : !g32) outs(%c : !k32)
    npu.store ins(%c : !k32) outs(%y : !g32)
    npu.store ins(%b : !k32) outs(%y : !g32)
    npu.store ins(%a : !k48) outs(%x : !g48)
  }
  func.return
}

// Does not fit even without copies: nothing changes, npu-place says what is wrong.
// CHECK-LABEL: func.func @hopeless
func.func @hopeless(%x: !g96, %z: !g16) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    // CHECK: %a = npu.alloc : memref
    // CHECK: %b = npu.alloc : memref
    // CHECK: %c = npu.alloc : memref
    %a = npu.alloc : !k96
    %b = npu.alloc : !k96
    %c = npu.alloc : !k16
    npu.load ins(%z : !g16) outs(%c : !k16)
    npu.load ins(%x : !g96) outs(%a : !k96)
    npu.load ins(%x : !g96) outs(%b : !k96)
    npu.store ins(%a : !k96) outs(%x : !g96)
    npu.store ins(%c : !k16) outs(%z : !g16)
  }
  func.return
}
