// RUN: fuse-opt %s -p npu-sync | filecheck %s

// A gather: the row number is a scalar load of an argument that nothing writes. No flag.

// CHECK-LABEL: func.func @gather(
// CHECK:           memref.load %indices
// CHECK-NEXT:      arith.index_cast
// CHECK-NEXT:      memref.subview
// CHECK-NEXT:      memref.subview
// CHECK-NEXT:      npu.wait_flag <mte3> to <mte2> id 0 slot(%u
// CHECK-NEXT:      npu.load ins({{.*}} outs(%u
// CHECK-NEXT:      npu.set_flag <mte2> to <mte3> id 0 slot(%u
// CHECK-NEXT:      npu.wait_flag <mte2> to <mte3> id 0 slot(%u
// CHECK-NEXT:      npu.store
func.func @gather(%table: memref<100x16xf32, #npu.space<gm>>, %indices: memref<8xi64, #npu.space<gm>>, %out: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %u = npu.alloc at 0 copies 2 : memref<1x16xf32, #npu.space<ub>>
    %n = memref.load %indices[%i] : memref<8xi64, #npu.space<gm>>
    %row = arith.index_cast %n : i64 to index
    %from = memref.subview %table[%row, 0] [1, 16] [1, 1] : memref<100x16xf32, #npu.space<gm>> to memref<1x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>
    %to = memref.subview %out[%i, 0] [1, 16] [1, 1] : memref<8x16xf32, #npu.space<gm>> to memref<1x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>
    npu.load ins(%from : memref<1x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>) outs(%u : memref<1x16xf32, #npu.space<ub>>)
    npu.store ins(%u : memref<1x16xf32, #npu.space<ub>>) outs(%to : memref<1x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>)
  }
  func.return
}

// The kernel computes the index itself: the scalar load waits for the store. What is issued after a
// scalar load needs no flag from it: the scalar pipe issues everything.

// CHECK-LABEL: func.func @index_of_its_own(
// CHECK:         npu.store ins(%u {{.*}} outs(%indices
// CHECK-NEXT:    npu.set_flag <mte3> to <s> id 0
// CHECK-NEXT:    npu.wait_flag <mte3> to <s> id 0
// CHECK-NEXT:    %n = memref.load %indices
// CHECK-NEXT:    npu.wait_flag <v> to <mte3> id 1
// CHECK-NEXT:    npu.store ins(%v {{.*}} outs(%indices
// CHECK-NEXT:    func.return
func.func @index_of_its_own(%indices: memref<8xi32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %u = npu.alloc at 0 : memref<8xi32, #npu.space<ub>>
  %v = npu.alloc at 32 : memref<8xi32, #npu.space<ub>>
  npu.vbrc ins(%zero : i32) outs(%u : memref<8xi32, #npu.space<ub>>)
  npu.vbrc ins(%zero : i32) outs(%v : memref<8xi32, #npu.space<ub>>)
  npu.store ins(%u : memref<8xi32, #npu.space<ub>>) outs(%indices : memref<8xi32, #npu.space<gm>>)
  %n = memref.load %indices[%c0] : memref<8xi32, #npu.space<gm>>
  npu.store ins(%v : memref<8xi32, #npu.space<ub>>) outs(%indices : memref<8xi32, #npu.space<gm>>)
  func.return
}

// Stored, then read back from gm: by MTE2 after MTE3. Another part of the argument is free.

// CHECK-LABEL: func.func @through_gm(
// CHECK:         npu.store ins(%u
// CHECK-NEXT:    npu.set_flag <mte3> to <mte2> id 0
// CHECK-NEXT:    npu.load ins(%below {{.*}} outs(%v
// CHECK-NEXT:    npu.wait_flag <mte3> to <mte2> id 0
// CHECK-NEXT:    npu.load ins(%top {{.*}} outs(%w
// CHECK-NEXT:    func.return
func.func @through_gm(%x: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc at 0 : memref<4x16xf32, #npu.space<ub>>
  %v = npu.alloc at 256 : memref<4x16xf32, #npu.space<ub>>
  %w = npu.alloc at 512 : memref<4x16xf32, #npu.space<ub>>
  %top = memref.subview %x[0, 0] [4, 16] [1, 1] : memref<8x16xf32, #npu.space<gm>> to memref<4x16xf32, strided<[16, 1]>, #npu.space<gm>>
  %below = memref.reinterpret_cast %x to offset: [64], sizes: [4, 16], strides: [16, 1] : memref<8x16xf32, #npu.space<gm>> to memref<4x16xf32, strided<[16, 1], offset: 64>, #npu.space<gm>>
  npu.store ins(%u : memref<4x16xf32, #npu.space<ub>>) outs(%top : memref<4x16xf32, strided<[16, 1]>, #npu.space<gm>>)
  npu.load ins(%below : memref<4x16xf32, strided<[16, 1], offset: 64>, #npu.space<gm>>) outs(%v : memref<4x16xf32, #npu.space<ub>>)
  npu.load ins(%top : memref<4x16xf32, strided<[16, 1]>, #npu.space<gm>>) outs(%w : memref<4x16xf32, #npu.space<ub>>)
  func.return
}

// Tiles numbered by quotient and remainder are different in different iterations: no barrier. Rows that
// a scalar load chooses may be the same: a barrier.

// CHECK-LABEL: func.func @tiles(
// CHECK:         scf.for
// CHECK-NOT:     npu.barrier
// CHECK:         }
// CHECK-LABEL: func.func @scatter(
// CHECK:         npu.barrier <mte3>
// CHECK-NEXT:    npu.store
func.func @tiles(%out: memref<20x40xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  %c40 = arith.constant 40 : index
  %u = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
  scf.for %t = %c0 to %c9 step %c1 {
    %tm = arith.divui %t, %c3 : index
    %tn = arith.remui %t, %c3 : index
    %m = arith.muli %tm, %c8 : index
    %n = arith.muli %tn, %c16 : index
    %rm = arith.subi %c20, %m : index
    %rn = arith.subi %c40, %n : index
    %sm = arith.minsi %rm, %c8 : index
    %sn = arith.minsi %rn, %c16 : index
    %from = memref.subview %u[0, 0] [%sm, %sn] [1, 1] : memref<8x16xf32, #npu.space<ub>> to memref<?x?xf32, strided<[16, 1]>, #npu.space<ub>>
    %to = memref.subview %out[%m, %n] [%sm, %sn] [1, 1] : memref<20x40xf32, #npu.space<gm>> to memref<?x?xf32, strided<[40, 1], offset: ?>, #npu.space<gm>>
    npu.store ins(%from : memref<?x?xf32, strided<[16, 1]>, #npu.space<ub>>) outs(%to : memref<?x?xf32, strided<[40, 1], offset: ?>, #npu.space<gm>>)
  }
  func.return
}
func.func @scatter(%out: memref<100x16xf32, #npu.space<gm>>, %indices: memref<8xi64, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %u = npu.alloc at 0 : memref<1x16xf32, #npu.space<ub>>
  scf.for %i = %c0 to %c8 step %c1 {
    %n = memref.load %indices[%i] : memref<8xi64, #npu.space<gm>>
    %row = arith.index_cast %n : i64 to index
    %to = memref.subview %out[%row, 0] [1, 16] [1, 1] : memref<100x16xf32, #npu.space<gm>> to memref<1x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>
    npu.store ins(%u : memref<1x16xf32, #npu.space<ub>>) outs(%to : memref<1x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>)
  }
  func.return
}
