// RUN: %not 3 fuse-opt %s -t ascend-npu-ir -o %t 2>&1 | filecheck %s
// RUN: %not 3 fuse-opt %s -t ascend-npu-ir 2>&1 | wc -l | filecheck %s --check-prefix=LINES

// A module with a kernel that has addresses is not exported, in part either: the message says which
// form is.
// CHECK: placed.mlir:17:1: 'func.func': ascend-npu-ir: kernels with addresses, or on L0 (@placed): Huawei's compiler places buffers itself
// CHECK-SAME: export what the passes up to graph-to-npu or npu-multi-buffer give, like -p prepare,optimise,graph-schedule,graph-to-npu
// LINES: 1
!g = memref<8x64xf32, #npu.space<gm>>
!u = memref<8x64xf32, #npu.space<ub>>
func.func @fine(%a: !g, %out: !g) attributes {npu.core = "vector"} {
  %u = npu.alloc : !u
  npu.load ins(%a : !g) outs(%u : !u)
  npu.store ins(%u : !u) outs(%out : !g)
  func.return
}
func.func @placed(%a: !g, %out: !g) attributes {npu.core = "vector"} {
  %u = npu.alloc at 0 : !u
  npu.load ins(%a : !g) outs(%u : !u)
  npu.store ins(%u : !u) outs(%out : !g)
  func.return
}
