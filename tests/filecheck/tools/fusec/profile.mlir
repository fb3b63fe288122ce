// The JSON of `fusec profile`: two operators in one kernel, and unfused in two.
// The boundary of the group: 4 x 40 numbers of 4 bytes in, as many out.
//
// RUN: fusec profile %s -q --json | filecheck %s
// RUN: fusec profile %s -q | filecheck %s --check-prefix=TEXT
// RUN: fusec profile %s -q --json --no-fusion | filecheck %s --check-prefix=UNFUSED

// CHECK:      "model": "{{.*}}profile.mlir"
// CHECK-NEXT: "target": "ascend910b3"
// CHECK-NEXT: "operators": 2
// CHECK-NEXT: "kernels": 1
// CHECK-NEXT: "groups": 1
// CHECK-NEXT: "gm_boundary_bytes": 1280
// CHECK-NEXT: "workspace_bytes": 0
// CHECK-NEXT: "gm_bytes": 1280
// CHECK-NEXT: "hbm_bytes": 1280
// CHECK-NEXT: "cycles":
// CHECK-NEXT: "modelled_us":
// CHECK-NEXT: "pipe_busy": {
// CHECK:        "vector.mte2": 0.
// CHECK:      "host_calls": 0
// CHECK-NEXT: "host_bytes": 0
// CHECK-NEXT: "compile_seconds": {
// CHECK-NEXT:   "prepare":
// CHECK-NEXT:   "optimise":
// CHECK-NEXT:   "compile":
// CHECK:      "unfused": {
// CHECK:        "operators": 2
// CHECK-NEXT:   "kernels": 2
// CHECK-NEXT:   "groups": 2
// CHECK-NEXT:   "gm_boundary_bytes": 2560
// CHECK:        "host_calls": 0

// TEXT:      on ascend910b3: 2 operators
// TEXT-NEXT: unfused fused ratio
// TEXT-NEXT: groups 2 1 2.00
// TEXT-NEXT: kernels 2 1 2.00
// TEXT:      time, us (modelled)

// UNFUSED:   "kernels": 2
// UNFUSED:   "unfused": {
// UNFUSED:   "kernels": 2

func.func @main(%x: tensor<4x40xf32>) -> tensor<4x40xf32> {
  %0 = graph.neg %x : tensor<4x40xf32> -> tensor<4x40xf32>
  %1 = graph.relu %0 : tensor<4x40xf32> -> tensor<4x40xf32>
  func.return %1 : tensor<4x40xf32>
}
