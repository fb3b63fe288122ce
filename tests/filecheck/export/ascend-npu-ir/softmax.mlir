// Columns lose the padding of their rows, scratch is left to the compiler.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s

// CHECK:      %mb = memref.alloc() : memref<16x1xf32, #hivm.address_space<ub>>
// CHECK-NEXT: %m = memref.subview %mb[0, 0] [%n, 1] [1, 1] : memref<16x1xf32, #hivm.address_space<ub>> to memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>
// CHECK-NEXT: hivm.hir.vreduce <max> ins(%x : {{.*}}) outs(%m : memref<?x1xf32, strided<[1, 1]>, #hivm.address_space<ub>>) reduce_dims = [1]
// CHECK-NEXT: hivm.hir.vsub ins(%x, %m : {{.*}}) outs(%x : {{.*}}) broadcast = [1]
// CHECK-NEXT: hivm.hir.vexp
// CHECK:      hivm.hir.vreduce <sum>
// CHECK-NEXT: hivm.hir.vdiv {{.*}} broadcast = [1]
// CHECK-NOT:  temp
// CHECK-NOT:  scratch

!g = memref<197x300xf32, #npu.space<gm>>
!u = memref<16x304xf32, #npu.space<ub>>
!us = memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>
!gs = memref<?x300xf32, strided<[300, 1], offset: ?>, #npu.space<gm>>
!c = memref<16x8xf32, #npu.space<ub>>
!cs = memref<?x1xf32, strided<[8, 1]>, #npu.space<ub>>
!t = memref<4096xf32, #npu.space<ub>>
func.func @softmax(%in: !g, %out: !g) attributes {npu.core = "vector", npu.blocks = 13 : i64} {
  %block = npu.block_idx : index
  %c16 = arith.constant 16 : index
  %c197 = arith.constant 197 : index
  %o = arith.muli %block, %c16 : index
  %r = arith.subi %c197, %o : index
  %n = arith.minsi %r, %c16 : index
  %u = npu.alloc : !u
  %x = memref.subview %u[0, 0] [%n, 300] [1, 1] : !u to !us
  %gin = memref.subview %in[%o, 0] [%n, 300] [1, 1] : !g to !gs
  npu.load ins(%gin : !gs) outs(%x : !us)
  %mb = npu.alloc : !c
  %m = memref.subview %mb[0, 0] [%n, 1] [1, 1] : !c to !cs
  %scratch = npu.alloc : !t
  npu.vreduce "max" ins(%x : !us) outs(%m : !cs) dims [1] temp(%scratch : !t)
  npu.vsub ins(%x, %m : !us, !cs) outs(%x : !us)
  npu.vexp ins(%x : !us) outs(%x : !us)
  %sb = npu.alloc : !c
  %s = memref.subview %sb[0, 0] [%n, 1] [1, 1] : !c to !cs
  npu.vreduce "sum" ins(%x : !us) outs(%s : !cs) dims [1] temp(%scratch : !t)
  npu.vdiv ins(%x, %s : !us, !cs) outs(%x : !us)
  %gout = memref.subview %out[%o, 0] [%n, 300] [1, 1] : !g to !gs
  npu.store ins(%x : !us) outs(%gout : !gs)
  func.return
}
