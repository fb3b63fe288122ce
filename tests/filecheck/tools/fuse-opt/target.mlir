// RUN: fuse-opt %s --target tiny | filecheck %s --check-prefix=TINY
// RUN: fuse-opt %s -t Ascend910B3 -t mlir | filecheck %s --check-prefix=B3
// RUN: fuse-opt %s | filecheck %s --check-prefix=KEEP
// RUN: fuse-opt %s --split-input-file -t ascend910b1 | filecheck %s --check-prefix=EACH
// RUN: %not 2 fuse-opt %s --target ascend910c9 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: %not 2 fuse-opt %s --target no-such-file.toml 2>&1 | filecheck %s --check-prefix=NOFILE

builtin.module attributes {npu.target = "mine"} {
}

// TINY: builtin.module attributes {npu.target = "tiny"} {
// B3:   builtin.module attributes {npu.target = "ascend910b3"} {
// KEEP: builtin.module attributes {npu.target = "mine"} {

// EACH-COUNT-1: builtin.module attributes {npu.target = "ascend910b1"} {

// UNKNOWN: fuse-opt: error: unknown target 'ascend910c9'; chips: {{.*}}ascend910b3{{.*}}tiny{{.*}}; formats: {{.*}}mlir
// NOFILE:  fuse-opt: error: no such target file: no-such-file.toml
