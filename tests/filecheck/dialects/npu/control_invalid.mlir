// RUN: fuse-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s

// CHECK: npu.set_flag: one pipe orders itself with npu.barrier
func.func @one_pipe() {
  npu.set_flag <v> to <v> id 0
  func.return
}

// -----

// CHECK: npu.wait_flag: fix and v are on different cores; use npu.sync_block_set and npu.sync_block_wait
func.func @two_cores() {
  npu.wait_flag <fix> to <v> id 0
  func.return
}

// -----

// CHECK: npu.set_flag: either `copies` or `slot`, not both
func.func @copies_and_slot(%u: memref<8xf32, #npu.space<ub>>) {
  npu.set_flag <mte2> to <v> id 0 copies 2 slot(%u : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.set_flag: a pair of pipes has events 0 to 7
func.func @event_range() {
  npu.set_flag <mte2> to <v> id 8
  func.return
}

// -----

// CHECK: npu.set_flag: a pair of pipes has events 0 to 7
func.func @event_negative() {
  npu.set_flag <mte2> to <v> id -1
  func.return
}

// -----

// CHECK: npu.wait_flag: a pair of pipes has events 0 to 7
func.func @last_copy() {
  npu.wait_flag <mte2> to <v> id 7 copies 2
  func.return
}

// -----

// CHECK: npu.wait_flag: a pair of pipes has events 0 to 7
func.func @no_copies() {
  npu.wait_flag <mte2> to <v> id 0 copies 0
  func.return
}

// -----

// CHECK: npu.sync_block_set: pipes of one core are ordered with npu.set_flag
func.func @same_core() {
  npu.sync_block_set <cube> <fix> to <cube> <mte2> flag 0
  func.return
}

// -----

// CHECK: npu.sync_block_set: the cube core has no pipe mte3
func.func @no_pipe() {
  npu.sync_block_set <cube> <mte3> to <vector> <mte2> flag 0
  func.return
}

// -----

// CHECK: npu.sync_block_wait: the vector core has no pipe fix
func.func @no_pipe_to() {
  npu.sync_block_wait <cube> <fix> to <vector> <fix> flag 0
  func.return
}

// -----

// CHECK: npu.sync_block_wait: flags are 0 to 15
func.func @flag_range() {
  npu.sync_block_wait <cube> <fix> to <vector> <mte2> flag 16
  func.return
}

// -----

// CHECK: npu.launch: a launch has at least one block
func.func @no_block(%x: memref<8xf32, #npu.space<gm>>) {
  npu.launch @no_block blocks(0) (%x : memref<8xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.launch: no kernel @absent
func.func @no_kernel(%x: memref<8xf32, #npu.space<gm>>) {
  npu.launch @absent blocks(1) (%x : memref<8xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.launch @argument_type: argument 1 is memref<8xf32, #npu.space<gm>>, expected memref<8xf16, #npu.space<gm>>
func.func @argument_type(%x: memref<8xf32, #npu.space<gm>>, %y: memref<8xf16, #npu.space<gm>>) {
  npu.launch @argument_type blocks(1) (%x, %x : memref<8xf32, #npu.space<gm>>, memref<8xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.launch @argument_count: 1 arguments, expected 2
func.func @argument_count(%x: memref<8xf32, #npu.space<gm>>, %y: memref<8xf16, #npu.space<gm>>) {
  npu.launch @argument_count blocks(1) (%x : memref<8xf32, #npu.space<gm>>)
  func.return
}
