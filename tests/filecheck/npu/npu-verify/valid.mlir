// Correct kernels pass, placed and not, and come out unchanged.
//
// RUN: fuse-opt %s -p npu-verify | filecheck %s
// RUN: fuse-opt %s -p npu-multi-buffer,npu-expand-l0,npu-place,npu-verify | filecheck %s --check-prefix=PLACED

!x = memref<250x300xf32, #npu.space<gm>>
!xt = memref<?x300xf32, strided<[300, 1], offset: ?>, #npu.space<gm>>
!ub = memref<16x304xf32, #npu.space<ub>>
!ut = memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>

// Tails, in place, a scalar load, a rank-reducing view, overlapping rows of an argument.
// CHECK-LABEL:  func.func @vector
// CHECK:          npu.alloc : memref
// PLACED-LABEL: func.func @vector
// PLACED:         npu.alloc at 0 copies 2 : memref
func.func @vector(%x: !x, %i: memref<1xi64, #npu.space<gm>>, %y: !x) attributes {npu.core = "vector", npu.blocks = 4 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c250 = arith.constant 250 : index
  scf.for %t = %block to %c16 step %blocks {
    %o = arith.muli %t, %c16 : index
    %rest = arith.subi %c250, %o : index
    %n = arith.minsi %rest, %c16 : index
    %u = npu.alloc : !ub
    %ut = memref.subview %u[0, 0] [%n, 300] [1, 1] : !ub to !ut
    %xt = memref.subview %x[%o, 0] [%n, 300] [1, 1] : !x to !xt
    npu.load ins(%xt : !xt) outs(%ut : !ut)
    npu.vrelu ins(%ut : !ut) outs(%ut : !ut)
    %again = memref.subview %u[0, 0] [%n, 300] [1, 1] : !ub to !ut
    npu.vadd ins(%ut, %again : !ut, !ut) outs(%ut : !ut)
    %yt = memref.subview %y[%o, 0] [%n, 300] [1, 1] : !x to !xt
    npu.store ins(%ut : !ut) outs(%yt : !xt)
  }
  %row = memref.load %i[%c0] : memref<1xi64, #npu.space<gm>>
  %r = arith.index_cast %row : i64 to index
  %xr = memref.subview %x[%r, 0] [1, 300] [1, 1] : !x to memref<300xf32, strided<[1], offset: ?>, #npu.space<gm>>
  %v = npu.alloc : memref<304xf32, #npu.space<ub>>
  %vt = memref.subview %v[0] [300] [1] : memref<304xf32, #npu.space<ub>> to memref<300xf32, strided<[1]>, #npu.space<ub>>
  npu.load ins(%xr : memref<300xf32, strided<[1], offset: ?>, #npu.space<gm>>) outs(%vt : memref<300xf32, strided<[1]>, #npu.space<ub>>)
  %rows = memref.reinterpret_cast %x to offset: [0], sizes: [8, 16], strides: [1, 1] : !x to memref<8x16xf32, strided<[1, 1]>, #npu.space<gm>>
  %w = npu.alloc : memref<8x16xf32, #npu.space<ub>>
  npu.load ins(%rows : memref<8x16xf32, strided<[1, 1]>, #npu.space<gm>>) outs(%w : memref<8x16xf32, #npu.space<ub>>)
  // Two parts of one buffer that share nothing.
  %w0 = memref.subview %w[0, 0] [8, 8] [1, 1] : memref<8x16xf32, #npu.space<ub>> to memref<8x8xf32, strided<[16, 1]>, #npu.space<ub>>
  %w1 = memref.subview %w[0, 8] [8, 8] [1, 1] : memref<8x16xf32, #npu.space<ub>> to memref<8x8xf32, strided<[16, 1], offset: 8>, #npu.space<ub>>
  npu.copy ins(%w0 : memref<8x8xf32, strided<[16, 1]>, #npu.space<ub>>) outs(%w1 : memref<8x8xf32, strided<[16, 1], offset: 8>, #npu.space<ub>>)
  // One element in each row: the step of the last axis does not matter.
  %w2 = memref.subview %w[0, 0] [8, 1] [1, 2] : memref<8x16xf32, #npu.space<ub>> to memref<8x1xf32, strided<[16, 2]>, #npu.space<ub>>
  npu.vexp ins(%w2 : memref<8x1xf32, strided<[16, 2]>, #npu.space<ub>>) outs(%w2 : memref<8x1xf32, strided<[16, 2]>, #npu.space<ub>>)
  func.return
}

// A mixed kernel with its workspace.
// CHECK-LABEL:  func.func @mixed
// PLACED-LABEL: func.func @mixed
// PLACED-NOT:   #npu.space<l1>>) {{.*}} l0
func.func @mixed(%x: memref<16x16xf16, #npu.space<gm>>, %y: memref<16x16xf32, #npu.space<gm>>, %ws: memref<2x16x16xf32, #npu.space<gm>> {npu.workspace}) attributes {npu.core = "mixed", npu.blocks = 2 : i64} {
  %true = arith.constant true
  %block = npu.block_idx : index
  %a = npu.alloc : memref<16x16xf16, #npu.space<l1>>
  npu.load ins(%x : memref<16x16xf16, #npu.space<gm>>) outs(%a : memref<16x16xf16, #npu.space<l1>>)
  %acc = npu.alloc : memref<16x16xf32, #npu.space<l0c>>
  npu.mmad ins(%a, %a : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  %w = memref.subview %ws[%block, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf32, #npu.space<gm>> to memref<16x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>
  npu.fixpipe ins(%acc : memref<16x16xf32, #npu.space<l0c>>) outs(%w : memref<16x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>)
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_wait <cube> <fix> to <vector> <mte2> flag 0
  %u = npu.alloc : memref<16x16xf32, #npu.space<ub>>
  npu.load ins(%w : memref<16x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>) outs(%u : memref<16x16xf32, #npu.space<ub>>)
  npu.vexp ins(%u : memref<16x16xf32, #npu.space<ub>>) outs(%u : memref<16x16xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<16x16xf32, #npu.space<ub>>) outs(%y : memref<16x16xf32, #npu.space<gm>>)
  func.return
}

// CHECK-LABEL:  func.func @main
// PLACED-LABEL: func.func @main
func.func @main(%x: !x {npu.input = "x"}, %i: memref<1xi64, #npu.space<gm>> {npu.input = "i"}, %a: memref<16x16xf16, #npu.space<gm>> {npu.weight = "a"}, %y: memref<16x16xf32, #npu.space<gm>> {npu.output = "y"}) attributes {npu.host} {
  %h = npu.alloc : !x
  npu.launch @vector blocks(4) (%x, %i, %h : !x, memref<1xi64, #npu.space<gm>>, !x)
  %ws = npu.alloc : memref<2x16x16xf32, #npu.space<gm>>
  npu.launch @mixed blocks(2) (%a, %y, %ws : memref<16x16xf16, #npu.space<gm>>, memref<16x16xf32, #npu.space<gm>>, memref<2x16x16xf32, #npu.space<gm>>)
  %flat = memref.reinterpret_cast %h to offset: [0], sizes: [75000], strides: [1] : !x to memref<75000xf32, #npu.space<gm>>
  func.return
}
