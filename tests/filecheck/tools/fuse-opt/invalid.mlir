// Input that parses but is wrong: the place, the cause, no module printed back.
//
// RUN: fuse-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: %not 3 fuse-opt %s 2>&1 | filecheck %s --check-prefix=STOP

// STOP:     fuse-opt: error: {{.*}}invalid.mlir:15:3: 'func.return' in @wrong_return: {{.*}}
// STOP-NOT: module

// -----

// CHECK: invalid.mlir:15:3: 'func.return' in @wrong_return:

func.func @wrong_return() -> i32 {
  %0 = arith.constant 1 : i64
  func.return %0 : i64
}

// -----

// CHECK: invalid.mlir:23:3: 'test.op' in @early: operand 0 is used where its definition by 'test.op' at {{.*}}invalid.mlir:24:3 does not reach; define it earlier

func.func @early() {
  "test.op"(%0) : (i32) -> ()
  %0 = "test.op"() : () -> i32
  func.return
}
