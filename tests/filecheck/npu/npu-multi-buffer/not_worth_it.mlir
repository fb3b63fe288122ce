// Nothing rotates where it is switched off, decided already, or where the loop runs once.
//
// RUN: fuse-opt %s -p npu-multi-buffer | filecheck %s

!gm = memref<16x64xf32, #npu.space<gm>>
!ub = memref<16x64xf32, #npu.space<ub>>

// CHECK-LABEL: func.func @off
func.func @off(%x: !gm) attributes {npu.core = "vector", npu.schedule = #npu.schedule<"vector", {copies = 1 : i64}>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    // CHECK: %u = npu.alloc : memref
    %u = npu.alloc : !ub
    npu.load ins(%x : !gm) outs(%u : !ub)
  }
  func.return
}

// CHECK-LABEL: func.func @schedule_says_four
func.func @schedule_says_four(%x: !gm) attributes {npu.core = "vector", npu.schedule = #npu.schedule<"vector", {copies = 4 : i64}>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  scf.for %t = %c0 to %c9 step %c1 {
    // CHECK: %u = npu.alloc copies 4 : memref
    %u = npu.alloc : !ub
    npu.load ins(%x : !gm) outs(%u : !ub)
  }
  scf.for %t = %c0 to %c3 step %c1 {
    // No more copies than iterations.
    // CHECK: %v = npu.alloc copies 3 : memref
    // CHECK: %kept = npu.alloc copies 2 : memref
    // CHECK: %single = npu.alloc copies 1 : memref
    %v = npu.alloc : !ub
    npu.load ins(%x : !gm) outs(%v : !ub)
    %kept = npu.alloc copies 2 : !ub
    npu.load ins(%x : !gm) outs(%kept : !ub)
    %single = npu.alloc copies 1 : !ub
    npu.load ins(%x : !gm) outs(%single : !ub)
  }
  func.return
}

// Twenty tiles on twenty blocks: every block runs the loop at most once.
// CHECK-LABEL: func.func @one_trip
func.func @one_trip(%x: !gm) attributes {npu.core = "vector", npu.blocks = 20 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c20 = arith.constant 20 : index
  %c21 = arith.constant 21 : index
  scf.for %t = %block to %c20 step %blocks {
    // CHECK: %u = npu.alloc : memref
    %u = npu.alloc : !ub
    npu.load ins(%x : !gm) outs(%u : !ub)
  }
  // One tile more, and block 0 runs it twice.
  scf.for %t = %block to %c21 step %blocks {
    // CHECK: %v = npu.alloc copies 2 : memref
    %v = npu.alloc : !ub
    npu.load ins(%x : !gm) outs(%v : !ub)
  }
  func.return
}

// The bound is a value that is not known.
// CHECK-LABEL: func.func @unknown_trips
func.func @unknown_trips(%x: !gm, %n: memref<1xi64, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n0 = memref.load %n[%c0] : memref<1xi64, #npu.space<gm>>
  %n1 = arith.index_cast %n0 : i64 to index
  scf.for %t = %c0 to %n1 step %c1 {
    // CHECK: %u = npu.alloc copies 2 : memref
    %u = npu.alloc : !ub
    npu.load ins(%x : !gm) outs(%u : !ub)
  }
  func.return
}

// Not a kernel: left alone.
// CHECK-LABEL: func.func @helper
func.func @helper(%x: !gm) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    // CHECK: %u = npu.alloc : memref
    %u = npu.alloc : !ub
    npu.load ins(%x : !gm) outs(%u : !ub)
  }
  func.return
}
