// Operators know where they are written; a location in the text is kept.
//
// RUN: fuse-opt %s --print-debuginfo --split-input-file | filecheck %s

func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %0, %a : i32 loc("conv1")
  func.return %1 : i32
}

// CHECK:      %0 = arith.addi %a, %a : i32 loc("{{.*}}locations.mlir":6:3)
// CHECK-NEXT: %1 = arith.addi %0, %a : i32 loc("conv1")
// CHECK-NEXT: func.return %1 : i32 loc("{{.*}}locations.mlir":8:3)
// CHECK-NEXT: } loc("{{.*}}locations.mlir":5:1)

// -----

func.func @g() {
  func.return
}

// CHECK-LABEL: func.func @g()
// CHECK-NEXT:  func.return loc("{{.*}}locations.mlir":19:3)
