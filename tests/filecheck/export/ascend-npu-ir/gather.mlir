// The scalar unit reads the index from gm.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s

// CHECK:      %i64 = memref.load %index[%t] : memref<128xi64, #hivm.address_space<gm>>
// CHECK-NEXT: %i = arith.index_cast %i64 : i64 to index
// CHECK-NEXT: %negative = arith.cmpi slt, %i, %c0 : index
// CHECK-NEXT: %wrapped = arith.addi %i, %rows : index
// CHECK-NEXT: %row = arith.select %negative, %wrapped, %i : index
// CHECK-NEXT: %from = memref.subview %table[%row, 0] [1, 768] [1, 1]

!t = memref<1000x768xf32, #npu.space<gm>>
!i = memref<128xi64, #npu.space<gm>>
!o = memref<128x768xf32, #npu.space<gm>>
!u = memref<1x768xf32, #npu.space<ub>>
!ts = memref<1x768xf32, strided<[768, 1], offset: ?>, #npu.space<gm>>
func.func @gather(%table: !t, %index: !i, %out: !o) attributes {npu.core = "vector", npu.blocks = 40 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c0 = arith.constant 0 : index
  %rows = arith.constant 1000 : index
  %c128 = arith.constant 128 : index
  scf.for %t = %block to %c128 step %blocks {
    %i64 = memref.load %index[%t] : !i
    %i = arith.index_cast %i64 : i64 to index
    %negative = arith.cmpi slt, %i, %c0 : index
    %wrapped = arith.addi %i, %rows : index
    %row = arith.select %negative, %wrapped, %i : index
    %from = memref.subview %table[%row, 0] [1, 768] [1, 1] : !t to !ts
    %to = memref.subview %out[%t, 0] [1, 768] [1, 1] : !o to !ts
    %u = npu.alloc : !u
    npu.load ins(%from : !ts) outs(%u : !u)
    npu.store ins(%u : !u) outs(%to : !ts)
  }
  func.return
}
