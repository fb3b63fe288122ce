// What `fusec compile` writes is placed npu IR that `fusec run` takes as it is.
//
// RUN: fusec compile %s -o %t.mlir --target tiny 2>&1 | filecheck %s --check-prefix=PROGRESS
// RUN: filecheck %s < %t.mlir
// RUN: fusec run %t.mlir -q --outputs %t.npz | filecheck %s --check-prefix=NUMBERS
// RUN: fusec run %s -q --level graph | filecheck %s --check-prefix=NUMBERS
// RUN: %python -c "import numpy as np; print(np.load('%t.npz').files)" | filecheck %s --check-prefix=NAMES
// RUN: fusec compare %s -q --level npu --tolerance 0 --json | filecheck %s --check-prefix=COMPARE

// PROGRESS:      s] reading
// PROGRESS-NEXT: s] compiling: prepare
// PROGRESS-NEXT: s] compiling: optimise
// PROGRESS-NEXT: s] compiling: compile
// PROGRESS-NEXT: s] writing

// CHECK:       npu.target = "tiny"
// CHECK:       func.func @main(%x: memref<4x40xf32, #npu.space<gm>> {npu.input = "x"}, %y: memref<4x40xf32, #npu.space<gm>> {npu.output = "result"}) attributes {npu.host}
// CHECK:         npu.launch @neg_relu_0
// CHECK:       func.func @neg_relu_0
// CHECK:         npu.alloc at

// NUMBERS:     result: float32[4, 40] min 0 max {{[1-9]}}

// NAMES:       ['result']

// COMPARE:      "level": "npu"
// COMPARE:      "reference": "float64"
// COMPARE:      "output": "result"
// COMPARE-NEXT: "max_abs_error": 0.0
// COMPARE-NEXT: "max_rel_error": 0.0
// COMPARE:      "passed": true

func.func @main(%x: tensor<4x40xf32>) -> (tensor<4x40xf32> {graph.name = "result"}) {
  %0 = graph.neg %x : tensor<4x40xf32> -> tensor<4x40xf32>
  %1 = graph.relu %0 : tensor<4x40xf32> -> tensor<4x40xf32>
  func.return %1 : tensor<4x40xf32>
}
