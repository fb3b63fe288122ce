// Everything that is not the result goes to stderr.
//
// RUN: fuse-opt %s -p cse,dce --statistics --timing 2> %t.err | filecheck %s --check-prefix=OUT
// RUN: filecheck %s --check-prefix=BOTH < %t.err
// RUN: fuse-opt %s -p cse --statistics 2>&1 > %t.out | filecheck %s --check-prefix=COUNTS
// RUN: fuse-opt %s -p cse --timing 2>&1 > %t.out | filecheck %s --check-prefix=TIMES

func.func @twice(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b : i32
  %2 = arith.muli %0, %1 : i32
  func.return %2 : i32
}

// OUT:     builtin.module {
// OUT-NOT: operators

// BOTH:      cse {{ *[0-9]+\.[0-9]+}} s {{ *}}5 -> 4 operators
// BOTH-NEXT: dce {{ *[0-9]+\.[0-9]+}} s {{ *}}4 -> 4 operators
// BOTH-NEXT: total {{ *[0-9]+\.[0-9]+}} s {{ *}}5 -> 4 operators

// COUNTS:      cse {{ *}}5 -> 4 operators
// COUNTS-NEXT: total {{ *}}5 -> 4 operators

// TIMES:      cse {{ *[0-9]+\.[0-9]+}} s
// TIMES-NOT:  operators
