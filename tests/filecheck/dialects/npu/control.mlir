// Blocks, flags, barriers and launches: text to text, also through the generic form.
//
// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

// CHECK-LABEL: func.func @kernel
func.func @kernel(%x: memref<8x16xf32, #npu.space<gm>>, %u: memref<8x16xf32, #npu.space<ub>>) attributes {npu.core = "mixed"} {
  // CHECK:      %0 = npu.block_idx : index
  // CHECK-NEXT: %1 = npu.block_num : index
  %0 = npu.block_idx : index
  %1 = npu.block_num : index

  // CHECK-NEXT: npu.set_flag <mte2> to <v> id 0
  // CHECK-NEXT: npu.wait_flag <mte2> to <v> id 0
  // CHECK-NEXT: npu.set_flag <mte3> to <mte2> id 6 copies 2
  // CHECK-NEXT: npu.wait_flag <mte3> to <mte2> id 6 copies 2
  // CHECK-NEXT: npu.set_flag <m> to <fix> id 7 slot(%u : memref<8x16xf32, #npu.space<ub>>)
  // CHECK-NEXT: npu.wait_flag <mte1> to <m> id 3 slot(%u : memref<8x16xf32, #npu.space<ub>>) {npu.note}
  // CHECK-NEXT: npu.set_flag <mte3> to <s> id 1
  npu.set_flag <mte2> to <v> id 0
  npu.wait_flag <mte2> to <v> id 0
  npu.set_flag <mte3> to <mte2> id 6 copies 2
  npu.wait_flag <mte3> to <mte2> id 6 copies 2
  npu.set_flag <m> to <fix> id 7 slot(%u : memref<8x16xf32, #npu.space<ub>>)
  npu.wait_flag <mte1> to <m> id 3 slot(%u : memref<8x16xf32, #npu.space<ub>>) {npu.note}
  npu.set_flag <mte3> to <s> id 1

  // CHECK-NEXT: npu.barrier <v>
  // CHECK-NEXT: npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  // CHECK-NEXT: npu.sync_block_wait <vector> <mte3> to <cube> <mte2> flag 15
  npu.barrier <v>
  npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
  npu.sync_block_wait <vector> <mte3> to <cube> <mte2> flag 15
  func.return
}

// CHECK-LABEL: func.func @main
func.func @main(%x: memref<8x16xf32, #npu.space<gm>> {npu.input = "x"}) attributes {npu.host} {
  // CHECK:      npu.launch @one blocks(20) (%x : memref<8x16xf32, #npu.space<gm>>)
  // CHECK-NEXT: npu.launch @two blocks(1) (%x, %x : memref<8x16xf32, #npu.space<gm>>, memref<8x16xf32, #npu.space<gm>>) {npu.note}
  npu.launch @one blocks(20) (%x : memref<8x16xf32, #npu.space<gm>>)
  npu.launch @two blocks(1) (%x, %x : memref<8x16xf32, #npu.space<gm>>, memref<8x16xf32, #npu.space<gm>>) {npu.note}
  func.return
}
func.func private @one(memref<8x16xf32, #npu.space<gm>>)
func.func private @two(memref<8x16xf32, #npu.space<gm>>, memref<8x16xf32, #npu.space<gm>>)
