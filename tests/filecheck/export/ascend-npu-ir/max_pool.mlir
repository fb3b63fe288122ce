// Infinity is written by its bits; views with steps, and inside a buffer by rows.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s

// CHECK: %low = arith.constant 0xFF800000 : f32
// CHECK: hivm.hir.vbrc ins(%low : f32) outs(%acc : memref<8x24xf32, #hivm.address_space<ub>>)
// CHECK: %inside = arith.cmpi ult, %ih, %c15 : index
// CHECK: scf.for %one = %c0 to %once step %c1 {
// CHECK: %from = memref.subview %in[%line, %src, 0] [1, %n, 20] [1, 2, 1] : memref<15x15x20xf32, #hivm.address_space<gm>> to memref<?x20xf32, strided<[40, 1], offset: ?>, #hivm.address_space<gm>>
// CHECK: hivm.hir.vmax ins(%av, %uv : memref<?x20xf32, strided<[24, 1], offset: ?>, #hivm.address_space<ub>>, memref<?x20xf32, strided<[24, 1]>, #hivm.address_space<ub>>)

!x = memref<15x15x20xf32, #npu.space<gm>>
!y = memref<8x8x20xf32, #npu.space<gm>>
!u = memref<8x24xf32, #npu.space<ub>>
!us = memref<?x20xf32, strided<[24, 1]>, #npu.space<ub>>
!uo = memref<?x20xf32, strided<[24, 1], offset: ?>, #npu.space<ub>>
!xs = memref<?x20xf32, strided<[40, 1], offset: ?>, #npu.space<gm>>
func.func @max_pool(%in: !x, %out: !y) attributes {npu.core = "vector", npu.blocks = 8 : i64} {
  %row = npu.block_idx : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %low = arith.constant 0xff800000 : f32
  %acc = npu.alloc : !u
  npu.vbrc ins(%low : f32) outs(%acc : !u)
  scf.for %kh = %c0 to %c3 step %c1 {
    %r2 = arith.muli %row, %c2 : index
    %rk = arith.addi %r2, %kh : index
    %ih = arith.subi %rk, %c1 : index
    %inside = arith.cmpi ult, %ih, %c15 : index
    %once = arith.select %inside, %c1, %c0 : index
    scf.for %kw = %c0 to %c3 step %c1 {
      scf.for %one = %c0 to %once step %c1 {
        %shift = arith.subi %c1, %kw : index
        %before = arith.maxsi %shift, %c0 : index
        %dst2 = arith.muli %before, %c2 : index
        %src = arith.subi %dst2, %shift : index
        %left = arith.subi %c15, %src : index
        %fit = arith.ceildivsi %left, %c2 : index
        %room = arith.subi %c8, %before : index
        %n = arith.minsi %fit, %room : index
        %u = npu.alloc : !u
        %uv = memref.subview %u[0, 0] [%n, 20] [1, 1] : !u to !us
        %line = arith.addi %ih, %one : index
        %from = memref.subview %in[%line, %src, 0] [1, %n, 20] [1, 2, 1] : !x to !xs
        npu.load ins(%from : !xs) outs(%uv : !us)
        %av = memref.subview %acc[%before, 0] [%n, 20] [1, 1] : !u to !uo
        npu.vmax ins(%av, %uv : !uo, !us) outs(%av : !uo)
      }
    }
  }
  %done = memref.subview %acc[0, 0] [8, 20] [1, 1] : !u to memref<8x20xf32, strided<[24, 1]>, #npu.space<ub>>
  %to = memref.subview %out[%row, 0, 0] [1, 8, 20] [1, 1, 1] : !y to memref<8x20xf32, strided<[20, 1], offset: ?>, #npu.space<gm>>
  npu.store ins(%done : memref<8x20xf32, strided<[24, 1]>, #npu.space<ub>>) outs(%to : memref<8x20xf32, strided<[20, 1], offset: ?>, #npu.space<gm>>)
  func.return
}
