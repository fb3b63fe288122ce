// RUN: rm -rf %t && fuse-opt %s -p cse,dce --dump-dir %t/deep > %t.out
// RUN: ls %t/deep | filecheck %s --check-prefix=FILES
// RUN: filecheck %s --check-prefix=INPUT < %t/deep/00-input.mlir
// RUN: filecheck %s --check-prefix=CSE < %t/deep/01-cse.mlir
// RUN: rm -rf %t && fuse-opt %s -p cse --split-input-file --dump-dir %t > %t.out
// RUN: ls %t %t/chunk1 | filecheck %s --check-prefix=SPLIT
// RUN: %not 5 fuse-opt %s -p cse --dump-dir %t.out/below 2>&1 | filecheck %s --check-prefix=NOFOLDER

func.func @twice(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b : i32
  %2 = arith.muli %0, %1 : i32
  func.return %2 : i32
}

// FILES:      00-input.mlir
// FILES-NEXT: 01-cse.mlir
// FILES-NEXT: 02-dce.mlir

// INPUT: arith.muli %0, %1
// CSE:   arith.muli %0, %0

// SPLIT:      chunk0
// SPLIT-NEXT: chunk1
// SPLIT:      00-input.mlir
// SPLIT-NEXT: 01-cse.mlir

// NOFOLDER: fuse-opt: error: cannot make the folder {{.*}}: not a directory

// -----

func.func @empty() {
  func.return
}
