// A chain with a tail: memref form, no addresses; the compiler places and synchronises.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s
// RUN: fuse-opt %s -p npu-multi-buffer -t ascend-npu-ir | filecheck %s --check-prefix=DOUBLE

// CHECK:      module {
// CHECK-NEXT: // chain: route compile
// CHECK-NEXT: func.func @chain(%in: memref<250x300xf32, #hivm.address_space<gm>>, %out: memref<250x300xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 5 : i64} {
// CHECK-NEXT:   %c16 = arith.constant 16 : index
// CHECK-NEXT:   %c250 = arith.constant 250 : index
// CHECK-NEXT:   %half = arith.constant 0.5 : f32
// CHECK-NEXT:   %block_i64 = hivm.hir.get_block_idx -> i64
// CHECK-NEXT:   %block = arith.index_cast %block_i64 : i64 to index
// CHECK-NEXT:   %blocks_i64 = hivm.hir.get_block_num -> i64
// CHECK-NEXT:   %blocks = arith.index_cast %blocks_i64 : i64 to index
// CHECK-NEXT:   scf.for %t = %block to %c16 step %blocks {
// CHECK-NEXT:     %o = arith.muli %t, %c16 : index
// CHECK-NEXT:     %r = arith.subi %c250, %o : index
// CHECK-NEXT:     %n = arith.minsi %r, %c16 : index
// CHECK-NEXT:     %u = memref.alloc() : memref<16x304xf32, #hivm.address_space<ub>>
// CHECK-NEXT:     %x = memref.subview %u[0, 0] [%n, 300] [1, 1] : memref<16x304xf32, #hivm.address_space<ub>> to memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>
// CHECK-NEXT:     %gin = memref.subview %in[%o, 0] [%n, 300] [1, 1] : memref<250x300xf32, #hivm.address_space<gm>> to memref<?x300xf32, strided<[300, 1], offset: ?>, #hivm.address_space<gm>>
// CHECK-NEXT:     %gout = memref.subview %out
// CHECK-NEXT:     hivm.hir.load ins(%gin : memref<?x300xf32, strided<[300, 1], offset: ?>, #hivm.address_space<gm>>) outs(%x : memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>)
// CHECK-NEXT:     hivm.hir.vmul ins(%x, %half : memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>, f32) outs(%x : memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>)
// CHECK-NEXT:     hivm.hir.vexp ins(%x
// CHECK-NEXT:     hivm.hir.vrelu ins(%x
// CHECK-NEXT:     hivm.hir.store ins(%x : {{.*}}) outs(%gout : {{.*}})
// CHECK-NEXT:   }
// CHECK-NEXT:   return
// CHECK-NEXT: }
// CHECK-NEXT: }

// A rotating buffer is marked.
// DOUBLE:     %u = memref.alloc() : memref
// DOUBLE-NEXT: annotation.mark %u {hivm.multi_buffer = 2 : i32} : memref<16x304xf32, #hivm.address_space<ub>>

!g = memref<250x300xf32, #npu.space<gm>>
!u = memref<16x304xf32, #npu.space<ub>>
!us = memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>
!gs = memref<?x300xf32, strided<[300, 1], offset: ?>, #npu.space<gm>>
func.func @chain(%in: !g, %out: !g) attributes {npu.core = "vector", npu.blocks = 5 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c16 = arith.constant 16 : index
  %c250 = arith.constant 250 : index
  %half = arith.constant 5.000000e-01 : f32
  scf.for %t = %block to %c16 step %blocks {
    %o = arith.muli %t, %c16 : index
    %r = arith.subi %c250, %o : index
    %n = arith.minsi %r, %c16 : index
    %u = npu.alloc : !u
    %x = memref.subview %u[0, 0] [%n, 300] [1, 1] : !u to !us
    %gin = memref.subview %in[%o, 0] [%n, 300] [1, 1] : !g to !gs
    %gout = memref.subview %out[%o, 0] [%n, 300] [1, 1] : !g to !gs
    npu.load ins(%gin : !gs) outs(%x : !us)
    npu.vmul ins(%x, %half : !us, f32) outs(%x : !us)
    npu.vexp ins(%x : !us) outs(%x : !us)
    npu.vrelu ins(%x : !us) outs(%x : !us)
    npu.store ins(%x : !us) outs(%gout : !gs)
  }
  func.return
}
