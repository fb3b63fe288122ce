// RUN: fuse-opt %s -p npu-multi-buffer --split-input-file --verify-diagnostics | filecheck %s
// RUN: %not 3 fuse-opt %s -p 'npu-multi-buffer{copies=0}' 2>&1 | filecheck %s --check-prefix=ZERO

// ZERO: npu-multi-buffer: copies is at least 1, found 0

// CHECK: module attribute npu.target: unknown target 'ascend910b33'; did you mean 'ascend910b3'?
module attributes {npu.target = "ascend910b33"} {}

// -----

// CHECK: module attribute npu.target is a string, found 910
module attributes {npu.target = 910 : i64} {}
