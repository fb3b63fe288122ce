// RUN: fuse-opt %s -p npu-sync,npu-verify | filecheck %s

// A double buffer: one event for each copy, raised before the loop and lowered after it. The scalars
// and the addresses of the iterations tell that the stores to gm do not overlap.

// CHECK-LABEL: func.func @double_buffer(
// CHECK:         npu.set_flag <mte3> to <mte2> id 0 copies 2
// CHECK-NEXT:    scf.for
// CHECK:           npu.wait_flag <mte3> to <mte2> id 0 slot(%u
// CHECK-NEXT:      npu.load
// CHECK-NEXT:      npu.set_flag <mte2> to <v> id 0 slot(%u
// CHECK-NEXT:      npu.wait_flag <mte2> to <v> id 0 slot(%u
// CHECK-NEXT:      npu.vrelu
// CHECK-NEXT:      npu.set_flag <v> to <mte3> id 0 slot(%u
// CHECK-NEXT:      npu.wait_flag <v> to <mte3> id 0 slot(%u
// CHECK-NEXT:      npu.store
// CHECK-NEXT:      npu.set_flag <mte3> to <mte2> id 0 slot(%u
// CHECK-NEXT:    }
// CHECK-NEXT:    npu.wait_flag <mte3> to <mte2> id 0 copies 2
// CHECK-NEXT:    func.return
func.func @double_buffer(%in: memref<250x300xf32, #npu.space<gm>>, %out: memref<250x300xf32, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = 4 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c16 = arith.constant 16 : index
  %c250 = arith.constant 250 : index
  scf.for %t = %block to %c16 step %blocks {
    %o0 = arith.muli %t, %c16 : index
    %r = arith.subi %c250, %o0 : index
    %n0 = arith.minsi %r, %c16 : index
    %u = npu.alloc at 0 copies 2 : memref<16x304xf32, #npu.space<ub>>
    %1 = memref.subview %u[0, 0] [%n0, 300] [1, 1] : memref<16x304xf32, #npu.space<ub>> to memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>
    %2 = memref.subview %in[%o0, 0] [%n0, 300] [1, 1] : memref<250x300xf32, #npu.space<gm>> to memref<?x300xf32, strided<[300, 1], offset: ?>, #npu.space<gm>>
    %3 = memref.subview %out[%o0, 0] [%n0, 300] [1, 1] : memref<250x300xf32, #npu.space<gm>> to memref<?x300xf32, strided<[300, 1], offset: ?>, #npu.space<gm>>
    npu.load ins(%2 : memref<?x300xf32, strided<[300, 1], offset: ?>, #npu.space<gm>>) outs(%1 : memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>)
    npu.vrelu ins(%1 : memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>) outs(%1 : memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>)
    npu.store ins(%1 : memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>) outs(%3 : memref<?x300xf32, strided<[300, 1], offset: ?>, #npu.space<gm>>)
  }
  func.return
}

// One copy: one event. The sum needs no barrier: each iteration waits for the load, which waited for
// the sum before. %blocks is not known, so the loop may run not at all: the flags around it are
// balanced, and what was loaded before the loop has a flag of its own for the operator behind it.

// CHECK-LABEL: func.func @single_buffer(
// CHECK:         npu.load ins(%x {{.*}} outs(%w
// CHECK-NEXT:    npu.set_flag <mte2> to <v> id 0
// CHECK-NEXT:    npu.set_flag <v> to <mte2> id 0
// CHECK-NEXT:    scf.for
// CHECK:           npu.wait_flag <v> to <mte2> id 0
// CHECK-NEXT:      npu.load ins(%x {{.*}} outs(%u
// CHECK-NEXT:      npu.set_flag <mte2> to <v> id 1
// CHECK-NEXT:      npu.wait_flag <mte2> to <v> id 1
// CHECK-NEXT:      npu.vadd ins(%u, %acc {{.*}} outs(%acc
// CHECK-NEXT:      npu.set_flag <v> to <mte2> id 0
// CHECK-NEXT:    }
// CHECK-NEXT:    npu.wait_flag <v> to <mte2> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <v> id 0
// CHECK-NEXT:    npu.barrier <v>
// CHECK-NEXT:    npu.vadd ins(%acc, %w
func.func @single_buffer(%x: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %w = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
  %acc = npu.alloc at 512 : memref<8x16xf32, #npu.space<ub>>
  npu.vbrc ins(%zero : f32) outs(%acc : memref<8x16xf32, #npu.space<ub>>)
  npu.load ins(%x : memref<8x16xf32, #npu.space<gm>>) outs(%w : memref<8x16xf32, #npu.space<ub>>)
  scf.for %t = %block to %c4 step %blocks {
    %u = npu.alloc at 1024 : memref<8x16xf32, #npu.space<ub>>
    npu.load ins(%x : memref<8x16xf32, #npu.space<gm>>) outs(%u : memref<8x16xf32, #npu.space<ub>>)
    npu.vadd ins(%u, %acc : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%acc : memref<8x16xf32, #npu.space<ub>>)
  }
  npu.vadd ins(%acc, %w : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%acc : memref<8x16xf32, #npu.space<ub>>)
  func.return
}

// With two blocks every block has two iterations: the flag in the loop covers what was loaded before.

// CHECK-LABEL: func.func @runs_surely(
// CHECK:         npu.load ins(%x {{.*}} outs(%w
// CHECK-NEXT:    npu.set_flag <v> to <mte2> id 0
// CHECK-NEXT:    scf.for
// CHECK:           npu.wait_flag <mte2> to <v> id 0
// CHECK-NEXT:      npu.vadd ins(%u, %acc
// CHECK-NEXT:      npu.set_flag <v> to <mte2> id 0
// CHECK-NEXT:    }
// CHECK-NEXT:    npu.wait_flag <v> to <mte2> id 0
// CHECK-NEXT:    npu.barrier <v>
// CHECK-NEXT:    npu.vadd ins(%acc, %w
func.func @runs_surely(%x: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = 2 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %w = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
  %acc = npu.alloc at 512 : memref<8x16xf32, #npu.space<ub>>
  npu.vbrc ins(%zero : f32) outs(%acc : memref<8x16xf32, #npu.space<ub>>)
  npu.load ins(%x : memref<8x16xf32, #npu.space<gm>>) outs(%w : memref<8x16xf32, #npu.space<ub>>)
  scf.for %t = %block to %c4 step %blocks {
    %u = npu.alloc at 1024 : memref<8x16xf32, #npu.space<ub>>
    npu.load ins(%x : memref<8x16xf32, #npu.space<gm>>) outs(%u : memref<8x16xf32, #npu.space<ub>>)
    npu.vadd ins(%u, %acc : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%acc : memref<8x16xf32, #npu.space<ub>>)
  }
  npu.vadd ins(%acc, %w : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%acc : memref<8x16xf32, #npu.space<ub>>)
  func.return
}

// With as many blocks as tiles no block has a second iteration, so nothing goes from one to the next.

// CHECK-LABEL: func.func @one_iteration(
// CHECK:         %c4 = arith.constant 4 : index
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      %u = npu.alloc
// CHECK-NEXT:      npu.load
// CHECK-NEXT:      npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:      npu.wait_flag <mte2> to <mte3> id 0
// CHECK-NEXT:      npu.store
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @one_iteration(%x: memref<8x16xf32, #npu.space<gm>>, %y: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = 4 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c4 = arith.constant 4 : index
  scf.for %t = %block to %c4 step %blocks {
    %u = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
    npu.load ins(%x : memref<8x16xf32, #npu.space<gm>>) outs(%u : memref<8x16xf32, #npu.space<ub>>)
    npu.store ins(%u : memref<8x16xf32, #npu.space<ub>>) outs(%y : memref<8x16xf32, #npu.space<gm>>)
  }
  func.return
}
