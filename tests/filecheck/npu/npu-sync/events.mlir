// RUN: fuse-opt %s -p npu-sync,npu-verify | filecheck %s

// Six double buffers need twelve events of <mte2> to <v>, and of <v> to <mte2>, of which there are eight:
// neighbouring flags are merged, the later set and the earlier wait staying.

// CHECK-LABEL: func.func @many_inputs(
// CHECK:         npu.set_flag <v> to <mte2> id 0 copies 2
// CHECK-NEXT:    npu.set_flag <v> to <mte2> id 2 copies 2
// CHECK-NEXT:    npu.set_flag <v> to <mte2> id 4 copies 2
// CHECK-NEXT:    npu.set_flag <v> to <mte2> id 6 copies 2
// CHECK-NEXT:    npu.set_flag <mte3> to <v> id 0
// CHECK:           npu.wait_flag <v> to <mte2> id 0
// CHECK-NEXT:      npu.load {{.*}} outs(%x0
// CHECK-NEXT:      npu.load {{.*}} outs(%x1
// CHECK-NEXT:      npu.set_flag <mte2> to <v> id 0 slot(%x0
// CHECK-NEXT:      npu.wait_flag <v> to <mte2> id 2
// CHECK-NEXT:      npu.load {{.*}} outs(%x2
// CHECK-NEXT:      npu.load {{.*}} outs(%x3
// CHECK-NEXT:      npu.set_flag <mte2> to <v> id 2 slot(%x0
// CHECK-NEXT:      npu.wait_flag <v> to <mte2> id 4
// CHECK-NEXT:      npu.load {{.*}} outs(%x4
// CHECK-NEXT:      npu.set_flag <mte2> to <v> id 4
// CHECK-NEXT:      npu.wait_flag <v> to <mte2> id 6
// CHECK-NEXT:      npu.load {{.*}} outs(%x5
// CHECK-NEXT:      npu.set_flag <mte2> to <v> id 6
// CHECK:           npu.wait_flag <mte2> to <v> id 0
// CHECK-NEXT:      npu.vabs
// CHECK-NEXT:      npu.barrier <v>
// CHECK-NEXT:      npu.vadd ins(%sum, %x1
// CHECK-NEXT:      npu.set_flag <v> to <mte2> id 0
func.func @many_inputs(%in: memref<8x16xf32, #npu.space<gm>>, %out: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %t = %c0 to %c8 step %c1 {
    %x0 = npu.alloc at 0 copies 2 : memref<8x16xf32, #npu.space<ub>>
    %x1 = npu.alloc at 1024 copies 2 : memref<8x16xf32, #npu.space<ub>>
    %x2 = npu.alloc at 2048 copies 2 : memref<8x16xf32, #npu.space<ub>>
    %x3 = npu.alloc at 3072 copies 2 : memref<8x16xf32, #npu.space<ub>>
    %x4 = npu.alloc at 4096 copies 2 : memref<8x16xf32, #npu.space<ub>>
    %x5 = npu.alloc at 5120 copies 2 : memref<8x16xf32, #npu.space<ub>>
    %sum = npu.alloc at 6144 : memref<8x16xf32, #npu.space<ub>>
    npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x0 : memref<8x16xf32, #npu.space<ub>>)
    npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x1 : memref<8x16xf32, #npu.space<ub>>)
    npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x2 : memref<8x16xf32, #npu.space<ub>>)
    npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x3 : memref<8x16xf32, #npu.space<ub>>)
    npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x4 : memref<8x16xf32, #npu.space<ub>>)
    npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x5 : memref<8x16xf32, #npu.space<ub>>)
    npu.vabs ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%sum : memref<8x16xf32, #npu.space<ub>>)
    npu.vadd ins(%sum, %x1 : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%sum : memref<8x16xf32, #npu.space<ub>>)
    npu.vadd ins(%sum, %x2 : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%sum : memref<8x16xf32, #npu.space<ub>>)
    npu.vadd ins(%sum, %x3 : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%sum : memref<8x16xf32, #npu.space<ub>>)
    npu.vadd ins(%sum, %x4 : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%sum : memref<8x16xf32, #npu.space<ub>>)
    npu.vadd ins(%sum, %x5 : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%sum : memref<8x16xf32, #npu.space<ub>>)
    npu.store ins(%sum : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
  }
  func.return
}

// Nine loads one after the other into one buffer: a number is used again once the pipe that sets it knows
// that it was awaited.

// CHECK-LABEL: func.func @numbers_again(
// CHECK:         npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <mte3> id 0
// CHECK:         npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <mte3> id 0
// CHECK:         npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <mte3> id 0
// CHECK:         npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <mte3> id 0
// CHECK:         npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <mte3> id 0
// CHECK:         npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <mte3> id 0
// CHECK:         npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <mte3> id 0
// CHECK:         npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <mte3> id 0
// CHECK:         npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.store
// CHECK-NEXT:    func.return
func.func @numbers_again(%in: memref<8x16xf32, #npu.space<gm>>, %out: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %x = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
  npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
  npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
  npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
  npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
  npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
  npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
  npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
  npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
  npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%x : memref<8x16xf32, #npu.space<ub>>) outs(%out : memref<8x16xf32, #npu.space<gm>>)
  func.return
}

// Five loops with a double buffer each, in a loop: two of them have the same events, raised once.

// CHECK-LABEL: func.func @many_loops(
// CHECK:         npu.set_flag <v> to <mte2> id 0 copies 2
// CHECK-NEXT:    npu.set_flag <v> to <mte2> id 2 copies 2
// CHECK-NEXT:    npu.set_flag <v> to <mte2> id 4 copies 2
// CHECK-NEXT:    npu.set_flag <v> to <mte2> id 6 copies 2
// CHECK-NEXT:    scf.for %t =
// CHECK:             npu.wait_flag <v> to <mte2> id 0 slot(%x0
// CHECK:             npu.set_flag <mte2> to <v> id 0 slot(%x0
// CHECK:             npu.wait_flag <v> to <mte2> id 0 slot(%x1
// CHECK:             npu.set_flag <mte2> to <v> id 0 slot(%x1
// CHECK:             npu.wait_flag <v> to <mte2> id 2 slot(%x2
// CHECK:             npu.set_flag <mte2> to <v> id 2 slot(%x2
// CHECK:             npu.wait_flag <v> to <mte2> id 4 slot(%x3
// CHECK:             npu.set_flag <mte2> to <v> id 4 slot(%x3
// CHECK:             npu.wait_flag <v> to <mte2> id 6 slot(%x4
// CHECK:             npu.set_flag <mte2> to <v> id 6 slot(%x4
// CHECK:         npu.wait_flag <v> to <mte2> id 0 copies 2
// CHECK-NEXT:    npu.wait_flag <v> to <mte2> id 2 copies 2
// CHECK-NEXT:    npu.wait_flag <v> to <mte2> id 4 copies 2
// CHECK-NEXT:    npu.wait_flag <v> to <mte2> id 6 copies 2
// CHECK-NEXT:    func.return
func.func @many_loops(%in: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %t = %c0 to %c8 step %c1 {
    scf.for %i0 = %c0 to %c8 step %c1 {
      %x0 = npu.alloc at 0 copies 2 : memref<8x16xf32, #npu.space<ub>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x0 : memref<8x16xf32, #npu.space<ub>>)
      npu.vabs ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%x0 : memref<8x16xf32, #npu.space<ub>>)
    }
    scf.for %i1 = %c0 to %c8 step %c1 {
      %x1 = npu.alloc at 4096 copies 2 : memref<8x16xf32, #npu.space<ub>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x1 : memref<8x16xf32, #npu.space<ub>>)
      npu.vabs ins(%x1 : memref<8x16xf32, #npu.space<ub>>) outs(%x1 : memref<8x16xf32, #npu.space<ub>>)
    }
    scf.for %i2 = %c0 to %c8 step %c1 {
      %x2 = npu.alloc at 8192 copies 2 : memref<8x16xf32, #npu.space<ub>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x2 : memref<8x16xf32, #npu.space<ub>>)
      npu.vabs ins(%x2 : memref<8x16xf32, #npu.space<ub>>) outs(%x2 : memref<8x16xf32, #npu.space<ub>>)
    }
    scf.for %i3 = %c0 to %c8 step %c1 {
      %x3 = npu.alloc at 12288 copies 2 : memref<8x16xf32, #npu.space<ub>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x3 : memref<8x16xf32, #npu.space<ub>>)
      npu.vabs ins(%x3 : memref<8x16xf32, #npu.space<ub>>) outs(%x3 : memref<8x16xf32, #npu.space<ub>>)
    }
    scf.for %i4 = %c0 to %c8 step %c1 {
      %x4 = npu.alloc at 16384 copies 2 : memref<8x16xf32, #npu.space<ub>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x4 : memref<8x16xf32, #npu.space<ub>>)
      npu.vabs ins(%x4 : memref<8x16xf32, #npu.space<ub>>) outs(%x4 : memref<8x16xf32, #npu.space<ub>>)
    }
  }
  func.return
}

// Loops of which none has as many copies as another share nothing: in the loop that is left without
// events the scalar pipe waits, and issues nothing meanwhile.

// CHECK-LABEL: func.func @scalar_waits(
// CHECK:           scf.for %i2 =
// CHECK:             npu.set_flag <v> to <s> id 7
// CHECK-NEXT:        npu.wait_flag <v> to <s> id 7
// CHECK-NEXT:        npu.load
// CHECK-NEXT:        npu.set_flag <mte2> to <s> id 7
// CHECK-NEXT:        npu.wait_flag <mte2> to <s> id 7
// CHECK-NEXT:        npu.vabs
// CHECK-NEXT:      }
func.func @scalar_waits(%in: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %t = %c0 to %c8 step %c1 {
    scf.for %i0 = %c0 to %c8 step %c1 {
      %x0 = npu.alloc at 0 copies 3 : memref<8x16xf32, #npu.space<ub>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x0 : memref<8x16xf32, #npu.space<ub>>)
      npu.vabs ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%x0 : memref<8x16xf32, #npu.space<ub>>)
    }
    scf.for %i1 = %c0 to %c8 step %c1 {
      %x1 = npu.alloc at 4096 copies 2 : memref<8x16xf32, #npu.space<ub>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x1 : memref<8x16xf32, #npu.space<ub>>)
      npu.vabs ins(%x1 : memref<8x16xf32, #npu.space<ub>>) outs(%x1 : memref<8x16xf32, #npu.space<ub>>)
    }
    scf.for %i2 = %c0 to %c8 step %c1 {
      %x2 = npu.alloc at 8192 copies 4 : memref<8x16xf32, #npu.space<ub>>
      npu.load ins(%in : memref<8x16xf32, #npu.space<gm>>) outs(%x2 : memref<8x16xf32, #npu.space<ub>>)
      npu.vabs ins(%x2 : memref<8x16xf32, #npu.space<ub>>) outs(%x2 : memref<8x16xf32, #npu.space<ub>>)
    }
  }
  func.return
}
