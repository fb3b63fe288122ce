// RUN: %not 3 fuse-opt %s --split-input-file 2>&1 | filecheck %s
// RUN: fuse-opt %s --parsing-diagnostics --split-input-file | filecheck %s --check-prefix=DIAGNOSTICS

// CHECK:      fuse-opt: error: {{.*}}malformed.mlir:12:8: operator 'arith.addii' is not registered; did you mean 'arith.addi'?
// CHECK-NEXT:   %0 = arith.addii %a, %a : i32
// CHECK-NEXT:        ^^^^^^^^^^^
// CHECK-NOT:  {{.}}

// DIAGNOSTICS: malformed.mlir:12

func.func @f(%a: i32) -> i32 {
  %0 = arith.addii %a, %a : i32
  func.return %0 : i32
}

// -----

// DIAGNOSTICS: malformed.mlir:22:23
// DIAGNOSTICS: %b is used but not defined

func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  func.return %0 : i32
}

// -----

// DIAGNOSTICS: malformed.mlir:31:1
// DIAGNOSTICS: expected an operator here

)
