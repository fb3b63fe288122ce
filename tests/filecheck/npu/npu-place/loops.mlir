// Liveness through loops, and rotating buffers.
//
// RUN: fuse-opt %s -p npu-place | filecheck %s
// RUN: fuse-opt %s -p npu-place,npu-verify

!gm = memref<16x64xf32, #npu.space<gm>>
!ub = memref<16x64xf32, #npu.space<ub>>

// A rotating buffer is alive over its whole loop with all its copies; buffers inside an iteration
// share what is left; a buffer from outside that is used inside is alive over the loop too.
// CHECK-LABEL: func.func @rotating
// CHECK:         %outside = npu.alloc at 8192 : memref
// CHECK:           %u = npu.alloc at 0 copies 2 : memref
// CHECK:           %a = npu.alloc at 12288 : memref
// CHECK:           %b = npu.alloc at 16384 : memref
// CHECK:           %c = npu.alloc at 12288 : memref
// After the loop all of it is free again.
// CHECK:         %after = npu.alloc at 0 : memref
func.func @rotating(%x: !gm) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %outside = npu.alloc : !ub
  npu.load ins(%x : !gm) outs(%outside : !ub)
  scf.for %t = %c0 to %c4 step %c1 {
    %u = npu.alloc copies 2 : !ub
    npu.load ins(%x : !gm) outs(%u : !ub)
    %a = npu.alloc : !ub
    npu.vadd ins(%u, %outside : !ub, !ub) outs(%a : !ub)
    %b = npu.alloc : !ub
    npu.vexp ins(%a : !ub) outs(%b : !ub)
    %c = npu.alloc : !ub
    npu.vln ins(%b : !ub) outs(%c : !ub)
    npu.store ins(%c : !ub) outs(%x : !gm)
  }
  %after = npu.alloc : !ub
  npu.load ins(%x : !gm) outs(%after : !ub)
  npu.store ins(%after : !ub) outs(%x : !gm)
  func.return
}

// The state is used in the inner loop only, but in every iteration: it is alive over all of it.
// CHECK-LABEL: func.func @state
// CHECK:           %state = npu.alloc at 0 : memref
// CHECK:             %a = npu.alloc at 4096 : memref
// CHECK:             %b = npu.alloc at 8192 : memref
// CHECK:           %d = npu.alloc at 4096 : memref
func.func @state(%x: !gm) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %t = %c0 to %c4 step %c1 {
    %state = npu.alloc : !ub
    npu.vbrc ins(%f0 : f32) outs(%state : !ub)
    scf.for %k = %c0 to %c4 step %c1 {
      %a = npu.alloc : !ub
      npu.load ins(%x : !gm) outs(%a : !ub)
      npu.vadd ins(%state, %a : !ub, !ub) outs(%state : !ub)
      %b = npu.alloc : !ub
      npu.vexp ins(%a : !ub) outs(%b : !ub)
      npu.store ins(%b : !ub) outs(%x : !gm)
    }
    %d = npu.alloc : !ub
    npu.vexp ins(%state : !ub) outs(%d : !ub)
    npu.store ins(%d : !ub) outs(%x : !gm)
  }
  func.return
}
