// RUN: fuse-opt %s -p npu-sync,npu-verify | filecheck %s

// Three sweeps over the columns for each tile of rows, as softmax has them: flags of a sweep are raised
// once, before the loop over the tiles.

// CHECK-LABEL: func.func @sweeps(
// CHECK:         npu.set_flag <v> to <mte2> id 0 copies 2
// CHECK-NEXT:    npu.set_flag <v> to <mte2> id 2 copies 2
// CHECK-NEXT:    npu.set_flag <mte3> to <v> id 0 copies 2
// CHECK-NEXT:    scf.for %t =
// CHECK:           npu.barrier <v>
// CHECK-NEXT:      npu.vbrc
// CHECK-NEXT:      scf.for %i =
// CHECK:             npu.wait_flag <v> to <mte2> id 0 slot(%u
// CHECK-NEXT:        npu.load
// CHECK-NEXT:        npu.set_flag <mte2> to <v> id 0 slot(%u
// CHECK-NEXT:        npu.wait_flag <mte2> to <v> id 0 slot(%u
// CHECK-NEXT:        npu.barrier <v>
// CHECK-NEXT:        npu.vmax
// CHECK-NEXT:        npu.set_flag <v> to <mte2> id 0 slot(%u
// CHECK-NEXT:      }
// CHECK-NEXT:      npu.barrier <v>
// CHECK-NEXT:      scf.for %j =
// CHECK:             npu.wait_flag <v> to <mte2> id 2 slot(%x
// CHECK-NEXT:        npu.load
// CHECK-NEXT:        npu.set_flag <mte2> to <v> id 2 slot(%x
// CHECK-NEXT:        npu.wait_flag <mte2> to <v> id 2 slot(%x
// CHECK-NEXT:        npu.wait_flag <mte3> to <v> id 0 slot(%x
// CHECK-NEXT:        npu.vsub
// CHECK-NEXT:        npu.set_flag <v> to <mte3> id 0 slot(%x
// CHECK-NEXT:        npu.set_flag <v> to <mte2> id 2 slot(%x
// CHECK-NEXT:        npu.wait_flag <v> to <mte3> id 0 slot(%x
// CHECK-NEXT:        npu.barrier <mte3>
// CHECK-NEXT:        npu.store
// CHECK-NEXT:        npu.set_flag <mte3> to <v> id 0 slot(%x
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    npu.wait_flag <v> to <mte2> id 0 copies 2
// CHECK-NEXT:    npu.wait_flag <v> to <mte2> id 2 copies 2
// CHECK-NEXT:    npu.wait_flag <mte3> to <v> id 0 copies 2
// CHECK-NEXT:    func.return
func.func @sweeps(%in: memref<8x16xf32, #npu.space<gm>>, %out: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = 2 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %least = arith.constant -1.0e30 : f32
  scf.for %t = %block to %c8 step %blocks {
    %max = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
    npu.vbrc ins(%least : f32) outs(%max : memref<8x16xf32, #npu.space<ub>>)
    scf.for %i = %c0 to %c5 step %c1 {
      %u = npu.alloc at 512 copies 2 : memref<8x16xf32, #npu.space<ub>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%u : memref<8x16xf32, #npu.space<ub>>)
      npu.vmax ins(%u, %max : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%max : memref<8x16xf32, #npu.space<ub>>)
    }
    scf.for %j = %c0 to %c5 step %c1 {
      %x = npu.alloc at 1536 copies 2 : memref<8x16xf32, #npu.space<ub>>
      %y = npu.alloc at 2560 copies 2 : memref<8x16xf32, #npu.space<ub>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
      npu.vsub ins(%x, %max : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%y : memref<8x16xf32, #npu.space<ub>>)
      npu.store ins(%y : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
    }
  }
  func.return
}

// A loop that may run not at all. The flag inside it tells <mte3> of the load before it, so that this
// load needs none; but nothing tells <mte3>, when the loop does not run, that <mte2> has passed its
// wait: a token does, before the flag is set again.

// CHECK-LABEL: func.func @maybe_nothing(
// CHECK:         npu.set_flag <mte3> to <mte2> id 0
// CHECK-NEXT:    npu.set_flag <mte3> to <mte2> id 1
// CHECK-NEXT:    scf.for %t =
// CHECK-NEXT:      npu.wait_flag <mte3> to <mte2> id 0
// CHECK-NEXT:      npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:      npu.barrier <mte2>
// CHECK-NEXT:      npu.load {{.*}} outs(%u
// CHECK-NEXT:      scf.for %i =
// CHECK:             npu.wait_flag <mte3> to <mte2> id 1
// CHECK-NEXT:        npu.load {{.*}} outs(%w
// CHECK-NEXT:        npu.set_flag <mte2> to <mte3> id 1
// CHECK-NEXT:        npu.wait_flag <mte2> to <mte3> id 1
// CHECK-NEXT:        npu.store ins(%w
// CHECK-NEXT:        npu.set_flag <mte3> to <mte2> id 1
// CHECK-NEXT:        npu.store ins(%u
// CHECK-NEXT:      }
// CHECK-NEXT:      npu.wait_flag <mte2> to <mte3> id 0
// CHECK-NEXT:      npu.set_flag <mte3> to <mte2> id 0
// CHECK-NEXT:    }
// CHECK-NEXT:    npu.wait_flag <mte3> to <mte2> id 0
// CHECK-NEXT:    npu.wait_flag <mte3> to <mte2> id 1
// CHECK-NEXT:    func.return
func.func @maybe_nothing(%in: memref<8x16xf32, #npu.space<gm>>, %out: memref<240x16xf32, #npu.space<gm>>, %other: memref<240x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %block = npu.block_idx : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %u = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
  scf.for %t = %c0 to %c6 step %c1 {
    npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%u : memref<8x16xf32, #npu.space<ub>>)
    scf.for %i = %c0 to %block step %c1 {
      %i6 = arith.muli %i, %c6 : index
      %at = arith.addi %i6, %t : index
      %row = arith.muli %at, %c8 : index
      %w = npu.alloc at 512 : memref<8x16xf32, #npu.space<ub>>
      %a = memref.subview %out[%row, 0] [8, 16] [1, 1] : memref<240x16xf32, #npu.space<gm>> to memref<8x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>
      %b = memref.subview %other[%row, 0] [8, 16] [1, 1] : memref<240x16xf32, #npu.space<gm>> to memref<8x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%w : memref<8x16xf32, #npu.space<ub>>)
      npu.store ins(%w : memref<8x16xf32, #npu.space<ub>>) outs(%a : memref<8x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>)
      npu.store ins(%u : memref<8x16xf32, #npu.space<ub>>) outs(%b : memref<8x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>)
    }
  }
  func.return
}
