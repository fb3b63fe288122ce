// What no store depends on is left out, and so are views of whole cube buffers.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s

// CHECK:      func.func @dead
// CHECK-NEXT:   %u = memref.alloc()
// CHECK-NEXT:   hivm.hir.load
// CHECK-NEXT:   hivm.hir.store
// CHECK-NEXT:   return
!g = memref<8x64xf32, #npu.space<gm>>
!u = memref<8x64xf32, #npu.space<ub>>
func.func @dead(%a: !g, %out: !g) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.000000e+00 : f32
  %u = npu.alloc : !u
  npu.load ins(%a : !g) outs(%u : !u)
  %v = npu.alloc : !u
  npu.vadd ins(%u, %one : !u, f32) outs(%v : !u)
  scf.for %i = %c0 to %c8 step %c8 {
    npu.vexp ins(%v : !u) outs(%v : !u)
  }
  npu.store ins(%u : !u) outs(%out : !g)
  func.return
}
