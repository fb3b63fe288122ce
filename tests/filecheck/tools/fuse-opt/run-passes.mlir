// RUN: fuse-opt %s -p cse,dce | filecheck %s
// RUN: fuse-opt < %s -p cse,dce | filecheck %s
// RUN: fuse-opt - < %s -p "cse , dce" | filecheck %s
// RUN: fuse-opt %s | filecheck %s --check-prefix=NOPASS

func.func @twice(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b : i32
  %2 = arith.muli %0, %1 : i32
  func.return %2 : i32
}

// CHECK-LABEL: func.func @twice(
// CHECK-NEXT:    %0 = arith.addi %a, %b : i32
// CHECK-NEXT:    %1 = arith.muli %0, %0 : i32
// CHECK-NEXT:    func.return %1 : i32

// NOPASS-LABEL: func.func @twice(
// NOPASS-NEXT:    %0 = arith.addi %a, %b : i32
// NOPASS-NEXT:    %1 = arith.addi %a, %b : i32
