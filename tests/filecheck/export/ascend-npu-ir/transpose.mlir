// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s

// CHECK: %ti = arith.divui %block, %c2 : index
// CHECK: hivm.hir.vtranspose ins(%a : memref<64x64xf32, #hivm.address_space<ub>>) outs(%b : memref<64x64xf32, #hivm.address_space<ub>>) permutation = [1, 0]
// CHECK: %to = memref.subview %out[%j, %i] [%n, %m] [1, 1] : memref<100x197xf32, #hivm.address_space<gm>> to memref<?x?xf32, strided<[197, 1], offset: ?>, #hivm.address_space<gm>>

!x = memref<197x100xf32, #npu.space<gm>>
!y = memref<100x197xf32, #npu.space<gm>>
!u = memref<64x64xf32, #npu.space<ub>>
!us = memref<?x?xf32, strided<[64, 1]>, #npu.space<ub>>
func.func @transpose(%in: !x, %out: !y) attributes {npu.core = "vector", npu.blocks = 8 : i64} {
  %block = npu.block_idx : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %c197 = arith.constant 197 : index
  %ti = arith.divui %block, %c2 : index
  %tj = arith.remui %block, %c2 : index
  %i = arith.muli %ti, %c64 : index
  %j = arith.muli %tj, %c64 : index
  %ri = arith.subi %c197, %i : index
  %m = arith.minsi %ri, %c64 : index
  %rj = arith.subi %c100, %j : index
  %n = arith.minsi %rj, %c64 : index
  %a = npu.alloc : !u
  %av = memref.subview %a[0, 0] [%m, %n] [1, 1] : !u to !us
  %from = memref.subview %in[%i, %j] [%m, %n] [1, 1] : !x to memref<?x?xf32, strided<[100, 1], offset: ?>, #npu.space<gm>>
  npu.load ins(%from : memref<?x?xf32, strided<[100, 1], offset: ?>, #npu.space<gm>>) outs(%av : !us)
  %b = npu.alloc : !u
  %bv = memref.subview %b[0, 0] [%n, %m] [1, 1] : !u to !us
  npu.vtranspose ins(%a : !u) outs(%b : !u) permutation [1, 0]
  %to = memref.subview %out[%j, %i] [%n, %m] [1, 1] : !y to memref<?x?xf32, strided<[197, 1], offset: ?>, #npu.space<gm>>
  npu.store ins(%bv : !us) outs(%to : memref<?x?xf32, strided<[197, 1], offset: ?>, #npu.space<gm>>)
  func.return
}
