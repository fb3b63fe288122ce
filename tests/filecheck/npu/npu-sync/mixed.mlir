// RUN: fuse-opt %s -p npu-sync | filecheck %s

// A product goes through the workspace to the vector core. Forward: fixpipe before load. Back: the next
// fixpipe waits until the workspace was read; raised by the vector core before the loop, taken down after
// it. The two MTE2 are different pipes.

// CHECK-LABEL: func.func @product_relu(
// CHECK:         npu.sync_block_set <vector> <mte2> to <cube> <fix> flag [[BACK:[0-9]+]]
// CHECK:         scf.for
// CHECK:           npu.load ins(%va
// CHECK-NEXT:      npu.set_flag <mte2> to <mte1> id 0
// CHECK:           npu.mmad
// CHECK:           npu.wait_flag <m> to <fix> id 0
// CHECK-NEXT:      npu.sync_block_wait <vector> <mte2> to <cube> <fix> flag [[BACK]]
// CHECK-NEXT:      npu.fixpipe
// CHECK-NEXT:      npu.sync_block_set <cube> <fix> to <vector> <mte2> flag [[FORTH:[0-9]+]]
// CHECK:           npu.sync_block_wait <cube> <fix> to <vector> <mte2> flag [[FORTH]]
// CHECK:           npu.load ins(%w {{.*}} outs(%u
// CHECK-NEXT:      npu.set_flag <mte2> to <v>
// CHECK-NEXT:      npu.sync_block_set <vector> <mte2> to <cube> <fix> flag [[BACK]]
// CHECK-NEXT:      npu.wait_flag <mte2> to <v>
// CHECK-NEXT:      npu.vrelu
// CHECK:           npu.store
// CHECK:         }
// CHECK:         npu.sync_block_wait <vector> <mte2> to <cube> <fix> flag [[BACK]]
// CHECK:         func.return
func.func @product_relu(%a: memref<64x16xf16, #npu.space<gm>>, %out: memref<64x16xf32, #npu.space<gm>>, %ws: memref<2x16x16xf32, #npu.space<gm>> {npu.workspace}) attributes {npu.core = "mixed", npu.blocks = 2 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %true = arith.constant true
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %b0 = npu.alloc at 0 : memref<16x16xf16, #npu.space<l0b>>
  %w = memref.subview %ws[%block, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf32, #npu.space<gm>> to memref<16x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>
  scf.for %t = %block to %c4 step %blocks {
    %o = arith.muli %t, %c16 : index
    %la = npu.alloc at 0 : memref<16x16xf16, #npu.space<l1>>
    %a0 = npu.alloc at 0 : memref<16x16xf16, #npu.space<l0a>>
    %acc = npu.alloc at 0 : memref<16x16xf32, #npu.space<l0c>>
    %u = npu.alloc at 0 : memref<16x16xf32, #npu.space<ub>>
    %va = memref.subview %a[%o, 0] [16, 16] [1, 1] : memref<64x16xf16, #npu.space<gm>> to memref<16x16xf16, strided<[16, 1], offset: ?>, #npu.space<gm>>
    npu.load ins(%va : memref<16x16xf16, strided<[16, 1], offset: ?>, #npu.space<gm>>) outs(%la : memref<16x16xf16, #npu.space<l1>>)
    npu.copy ins(%la : memref<16x16xf16, #npu.space<l1>>) outs(%a0 : memref<16x16xf16, #npu.space<l0a>>)
    npu.mmad ins(%a0, %b0 : memref<16x16xf16, #npu.space<l0a>>, memref<16x16xf16, #npu.space<l0b>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
    npu.fixpipe ins(%acc : memref<16x16xf32, #npu.space<l0c>>) outs(%w : memref<16x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>)
    npu.load ins(%w : memref<16x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>) outs(%u : memref<16x16xf32, #npu.space<ub>>)
    npu.vrelu ins(%u : memref<16x16xf32, #npu.space<ub>>) outs(%u : memref<16x16xf32, #npu.space<ub>>)
    %vo = memref.subview %out[%o, 0] [16, 16] [1, 1] : memref<64x16xf32, #npu.space<gm>> to memref<16x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>
    npu.store ins(%u : memref<16x16xf32, #npu.space<ub>>) outs(%vo : memref<16x16xf32, strided<[16, 1], offset: ?>, #npu.space<gm>>)
  }
  func.return
}
