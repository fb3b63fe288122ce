// RUN: fuse-opt %s -p npu-sync --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'npu.alloc' in @not_placed: the buffer has no address; run npu-place before npu-sync
func.func @not_placed() attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<8x16xf32, #npu.space<ub>>
  func.return
}

// -----

// CHECK: 'npu.barrier' in @twice: the kernel has synchronisation already; run npu-sync once
func.func @twice() attributes {npu.core = "vector"} {
  npu.barrier <v>
  func.return
}

// -----

// CHECK: 'scf.if' in @branch: npu-sync knows no control flow in a kernel but scf.for
func.func @branch(%x: memref<1xi1, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %b = memref.load %x[%c0] : memref<1xi1, #npu.space<gm>>
  scf.if %b {
  }
  func.return
}

// -----

// CHECK: module attribute npu.target: unknown target 'ascend910'
builtin.module attributes {npu.target = "ascend910"} {
  func.func @target() attributes {npu.core = "vector"} {
    func.return
  }
}
