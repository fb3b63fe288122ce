// The form of kernels and of the host function.
//
// RUN: fuse-opt %s -p npu-verify --split-input-file --verify-diagnostics | filecheck %s

// CHECK: invalid.mlir:6:1: 'func.func': @core: npu.core is "vector", "cube" or "mixed", found "gpu"
func.func @core() attributes {npu.core = "gpu"} {
  func.return
}

// -----

// CHECK: @results: returns results; they are arguments on the npu level
func.func @results(%x: i1) -> i1 attributes {npu.core = "vector"} {
  func.return %x : i1
}

// -----

// CHECK: @blocks: has 2 blocks, expected one
func.func @blocks() attributes {npu.core = "vector"} {
  "test.termop"() [^bb1] : () -> ()
^bb1:
  func.return
}

// -----

// CHECK: @scalar: argument 1 is f32, not a gm buffer
func.func @scalar(%x: memref<16x64xf32, #npu.space<gm>>, %s: f32) attributes {npu.core = "vector"} {
  func.return
}

// -----

// CHECK: @on_chip: argument 0 is memref<16x64xf32, #npu.space<ub>>, not a gm buffer
func.func @on_chip(%x: memref<16x64xf32, #npu.space<ub>>) attributes {npu.core = "vector"} {
  func.return
}

// -----

// CHECK: @no_space: argument 0 is memref<8xf32>, not a gm buffer
func.func @no_space(%x: memref<8xf32>) attributes {npu.core = "vector"} {
  func.return
}

// -----

// CHECK: @f64: argument 0 has elements of type f64, expected f32, f16, bf16, i32, i64, i8, ui8, i1
func.func @f64(%x: memref<8xf64, #npu.space<gm>>) attributes {npu.core = "vector"} {
  func.return
}

// -----

// CHECK: @i4: argument 0 has elements of type i4, expected f32, f16, bf16, i32, i64, i8, ui8, i1, i16, f64, ui16, ui32, ui64
func.func @i4(%x: memref<8xi4, #npu.space<gm>>) attributes {npu.host} {
  func.return
}

// -----

// CHECK: @workspace: workspaces are the last arguments, not 0
func.func @workspace(%w: memref<16x64xf32, #npu.space<gm>> {npu.workspace}, %x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  func.return
}

// -----

// CHECK: 'scf.if' in @branch: 'scf.if' is not part of a kernel
func.func @branch() attributes {npu.core = "vector"} {
  %true = arith.constant true
  scf.if %true {
  }
  func.return
}

// -----

// CHECK: 'npu.launch' in @launches: 'npu.launch' is not part of a kernel
func.func @launches(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  npu.launch @launches blocks(1) (%x : memref<16x64xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'scf.for' in @carried: a loop of a kernel carries no values (iter_args)
func.func @carried() attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %c0) -> (index) {
    scf.yield %a : index
  }
  func.return
}

// -----

// CHECK: 'scf.for' in @standing: the step of a loop is positive
func.func @standing() attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c0 {
  }
  func.return
}

// -----

// CHECK: 'memref.load' in @scalar_of_ub: the scalar unit loads from gm only
func.func @scalar_of_ub() attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  %s = memref.load %u[%c0, %c0] : memref<16x64xf32, #npu.space<ub>>
  func.return
}

// -----

// CHECK: 'npu.load' in @wrong_core: runs on the cube core, but the kernel has npu.core = "vector"
func.func @wrong_core(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc : memref<16x64xf32, #npu.space<l1>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<l1>>)
  func.return
}

// -----

// CHECK: 'npu.vrelu' in @cube: runs on the vector core, but the kernel has npu.core = "cube"
func.func @cube() attributes {npu.core = "cube"} {
  %a = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.vrelu ins(%a : memref<16x64xf32, #npu.space<ub>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.block_idx' in @main: 'npu.block_idx' is not part of the host function
func.func @main() attributes {npu.host} {
  %0 = npu.block_idx : index
  func.return
}

// -----

// CHECK: 'npu.alloc' in @main: the host has buffers in gm only
func.func @main() attributes {npu.host} {
  %a = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  func.return
}
