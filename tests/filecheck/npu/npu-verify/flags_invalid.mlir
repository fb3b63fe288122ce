// Flags that cannot work, whatever the values are.
//
// RUN: fuse-opt %s -p npu-verify --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'npu.set_flag' in @left: event 0 from mte2 to v is still raised at the end of the kernel; wait for it after the last use
func.func @left() attributes {npu.core = "vector"} {
  npu.set_flag <mte2> to <v> id 0
  func.return
}

// -----

// CHECK: 'npu.wait_flag' in @deadlock: waits for event 0 from mte2 to v, which nothing has raised
func.func @deadlock() attributes {npu.core = "vector"} {
  npu.wait_flag <mte2> to <v> id 0
  func.return
}

// -----

// CHECK: 'npu.wait_flag' in @other_id: waits for event 1 from mte2 to v
func.func @other_id() attributes {npu.core = "vector"} {
  npu.set_flag <mte2> to <v> id 0
  npu.wait_flag <mte2> to <v> id 1
  func.return
}

// -----

// CHECK: 'npu.wait_flag' in @other_pipe: waits for event 0 from mte3 to v
func.func @other_pipe() attributes {npu.core = "vector"} {
  npu.set_flag <mte2> to <v> id 0
  npu.wait_flag <mte3> to <v> id 0
  func.return
}

// -----

// CHECK: 'npu.set_flag' in @twice: event 0 from mte2 to v is raised already, nothing has waited for it
func.func @twice() attributes {npu.core = "vector"} {
  npu.set_flag <mte2> to <v> id 0
  npu.set_flag <mte2> to <v> id 0
  npu.wait_flag <mte2> to <v> id 0
  func.return
}

// -----

// CHECK: 'npu.wait_flag' in @too_many: waits for event 1 from mte2 to v
func.func @too_many() attributes {npu.core = "vector"} {
  npu.set_flag <mte2> to <v> id 0
  npu.wait_flag <mte2> to <v> id 0 copies 2
  func.return
}

// -----

// CHECK: 'scf.for' in @raises: an iteration leaves event 0 from mte2 to v raised, unlike it found it
func.func @raises() attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    npu.set_flag <mte2> to <v> id 0
  }
  npu.wait_flag <mte2> to <v> id 0
  func.return
}

// -----

// CHECK: 'scf.for' in @lowers: an iteration leaves event 0 from mte2 to v lowered, unlike it found it
func.func @lowers() attributes {npu.core = "vector"} {
  npu.set_flag <mte2> to <v> id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    npu.wait_flag <mte2> to <v> id 0
  }
  func.return
}

// -----

// CHECK: 'npu.wait_flag' in @not_primed: waits for event 0 from mte3 to mte2, which nothing has raised
func.func @not_primed() attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %u = npu.alloc copies 2 : memref<16x64xf32, #npu.space<ub>>
    npu.wait_flag <mte3> to <mte2> id 0 slot(%u : memref<16x64xf32, #npu.space<ub>>)
    npu.set_flag <mte3> to <mte2> id 0 slot(%u : memref<16x64xf32, #npu.space<ub>>)
  }
  func.return
}

// -----

// CHECK: 'npu.wait_flag' in @primed_once: waits for event 1 from mte3 to mte2, which nothing has raised
func.func @primed_once() attributes {npu.core = "vector"} {
  npu.set_flag <mte3> to <mte2> id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %u = npu.alloc copies 2 : memref<16x64xf32, #npu.space<ub>>
    npu.wait_flag <mte3> to <mte2> id 0 slot(%u : memref<16x64xf32, #npu.space<ub>>)
    npu.set_flag <mte3> to <mte2> id 0 slot(%u : memref<16x64xf32, #npu.space<ub>>)
  }
  npu.wait_flag <mte3> to <mte2> id 0
  func.return
}

// -----

// CHECK: 'npu.set_flag' in @not_drained: event 0 from mte3 to mte2 is still raised at the end of the kernel
func.func @not_drained() attributes {npu.core = "vector"} {
  npu.set_flag <mte3> to <mte2> id 0 copies 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %u = npu.alloc copies 2 : memref<16x64xf32, #npu.space<ub>>
    npu.wait_flag <mte3> to <mte2> id 0 slot(%u : memref<16x64xf32, #npu.space<ub>>)
    npu.set_flag <mte3> to <mte2> id 0 slot(%u : memref<16x64xf32, #npu.space<ub>>)
  }
  func.return
}

// -----

// CHECK: 'npu.set_flag' in @id_taken: event 1 from mte2 to v is raised already
func.func @id_taken() attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %u = npu.alloc copies 2 : memref<16x64xf32, #npu.space<ub>>
    npu.set_flag <mte2> to <v> id 1
    npu.set_flag <mte2> to <v> id 0 slot(%u : memref<16x64xf32, #npu.space<ub>>)
    npu.wait_flag <mte2> to <v> id 0 slot(%u : memref<16x64xf32, #npu.space<ub>>)
    npu.wait_flag <mte2> to <v> id 1
  }
  func.return
}

// -----

// CHECK: 'npu.set_flag' in @last_slot: uses event 8; a pair of pipes has events 0 to 7
func.func @last_slot() attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %u = npu.alloc copies 2 : memref<16x64xf32, #npu.space<ub>>
    npu.set_flag <mte2> to <v> id 7 slot(%u : memref<16x64xf32, #npu.space<ub>>)
  }
  func.return
}

// -----

// CHECK: 'npu.set_flag' in @no_slot: slot() names a buffer from npu.alloc
func.func @no_slot(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  npu.set_flag <mte2> to <v> id 7 slot(%x : memref<16x64xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'npu.set_flag' in @cube_pipe: the kernel runs on the vector core, which has no pipe m
func.func @cube_pipe() attributes {npu.core = "vector"} {
  npu.set_flag <m> to <fix> id 0
  func.return
}

// -----

// CHECK: 'npu.barrier' in @barrier: the kernel runs on the cube core, which has no pipe v
func.func @barrier() attributes {npu.core = "cube"} {
  npu.barrier <v>
  func.return
}

// -----

// CHECK: 'npu.sync_block_set' in @one_core: only a mixed kernel has flags between cores
func.func @one_core() attributes {npu.core = "vector"} {
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  func.return
}

// -----

// CHECK: 'npu.sync_block_wait' in @cross_deadlock: waits for flag 0 from cube fix to vector mte2, which nothing has raised
func.func @cross_deadlock() attributes {npu.core = "mixed"} {
  npu.sync_block_wait <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  func.return
}

// -----

// CHECK: 'npu.sync_block_set' in @cross_left: flag 0 from cube fix to vector mte2 is still raised at the end of the kernel
func.func @cross_left() attributes {npu.core = "mixed"} {
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_wait <cube> <fix> to <vector> <mte2> flag 0
  func.return
}

// -----

// CHECK: 'scf.for' in @cross_counts: an iteration leaves flag 0 from cube fix to vector mte2 raised
func.func @cross_counts() attributes {npu.core = "mixed"} {
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  }
  func.return
}

// -----

// CHECK: 'npu.sync_block_set' in @cross_overflow: flag 0 from cube fix to vector mte2 is raised already
func.func @cross_overflow() attributes {npu.core = "mixed"} {
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  func.return
}
