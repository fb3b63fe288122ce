// Balanced flags pass: primed and drained, rotating, nested, reused ids, cross-core counters.
//
// RUN: fuse-opt %s -p npu-verify | filecheck %s

!ub = memref<16x64xf32, #npu.space<ub>>

// CHECK-LABEL: func.func @rotating
func.func @rotating() attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  npu.set_flag <mte3> to <mte2> id 0 copies 2
  npu.set_flag <v> to <mte2> id 2 copies 3
  scf.for %t = %c0 to %c5 step %c1 {
    %u = npu.alloc copies 2 : !ub
    %v = npu.alloc copies 3 : !ub
    npu.wait_flag <mte3> to <mte2> id 0 slot(%u : !ub)
    npu.wait_flag <v> to <mte2> id 2 slot(%v : !ub)
    npu.set_flag <mte2> to <v> id 0 slot(%u : !ub)
    npu.wait_flag <mte2> to <v> id 0 slot(%u : !ub)
    npu.set_flag <v> to <mte2> id 2 slot(%v : !ub)
    npu.set_flag <mte3> to <mte2> id 0 slot(%u : !ub)
    npu.barrier <v>
  }
  npu.wait_flag <mte3> to <mte2> id 0 copies 2
  npu.wait_flag <v> to <mte2> id 2 copies 3
  func.return
}

// A loop inside a loop primes and drains its own flags in every iteration; ids come again after
// they are drained; a slot of the outer loop's buffer is used inside the inner one.
// CHECK-LABEL: func.func @nested
func.func @nested() attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  npu.set_flag <mte3> to <mte2> id 4 copies 2
  scf.for %t = %c0 to %c5 step %c1 {
    %u = npu.alloc copies 2 : !ub
    npu.set_flag <v> to <mte2> id 0 copies 2
    scf.for %k = %c0 to %c5 step %c1 {
      %v = npu.alloc copies 2 : !ub
      npu.wait_flag <v> to <mte2> id 0 slot(%v : !ub)
      npu.wait_flag <mte3> to <mte2> id 4 slot(%u : !ub)
      npu.set_flag <mte3> to <mte2> id 4 slot(%u : !ub)
      npu.set_flag <v> to <mte2> id 0 slot(%v : !ub)
    }
    npu.wait_flag <v> to <mte2> id 0 copies 2
    scf.for %k = %c0 to %c5 step %c1 {
      npu.set_flag <v> to <mte2> id 0
      npu.wait_flag <v> to <mte2> id 0
    }
  }
  npu.wait_flag <mte3> to <mte2> id 4 copies 2
  func.return
}

// Two parts of the workspace: counted to 2.
// CHECK-LABEL: func.func @cores
func.func @cores() attributes {npu.core = "mixed"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  npu.sync_block_set <vector> <mte2> to <cube> <fix> flag 1
  npu.sync_block_set <vector> <mte2> to <cube> <fix> flag 1
  scf.for %t = %c0 to %c5 step %c1 {
    npu.sync_block_wait <vector> <mte2> to <cube> <fix> flag 1
    npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
    npu.sync_block_wait <cube> <fix> to <vector> <mte2> flag 0
    npu.sync_block_set <vector> <mte2> to <cube> <fix> flag 1
    npu.set_flag <mte2> to <v> id 0
    npu.wait_flag <mte2> to <v> id 0
    npu.set_flag <mte2> to <mte1> id 0
    npu.wait_flag <mte2> to <mte1> id 0
  }
  npu.sync_block_wait <vector> <mte2> to <cube> <fix> flag 1
  npu.sync_block_wait <vector> <mte2> to <cube> <fix> flag 1
  func.return
}
