// The options of xDSL's driver still work.
//
// RUN: fuse-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: fuse-opt %s -p cse,dce --print-between-passes --time-passes | filecheck %s --check-prefix=BETWEEN
// RUN: fuse-opt %s --disable-verify -p dce | filecheck %s --check-prefix=UNVERIFIED
// RUN: fuse-opt --version | filecheck %s --check-prefix=VERSION
// RUN: xdsl-opt %s -p cse | filecheck %s --check-prefix=PLAIN
// RUN: env COLUMNS=100000 xdsl-opt --help | filecheck %s --check-prefix=REGISTERED

func.func @f(%a: i32) -> i32 {
  func.return %a : i32
}

// GENERIC: "func.func"() <{{.*}}sym_name = "f"
// BETWEEN: Pass cse took {{.*}} seconds
// BETWEEN: IR after cse:
// BETWEEN: func.func @f
// BETWEEN: Pass dce took {{.*}} seconds
// BETWEEN: func.func @f
// UNVERIFIED: func.func @f
// VERSION: fuse-opt {{[0-9.]+}} on xDSL 0.75
// PLAIN: func.func @f
// REGISTERED: graph-infer-shapes
