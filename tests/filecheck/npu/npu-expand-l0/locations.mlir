// Everything that stands in for an mmad has its location.
//
// RUN: fuse-opt %s -p npu-expand-l0 --print-debuginfo | filecheck %s

!a = memref<64x64xf16, #npu.space<l1>>
!acc = memref<64x64xf32, #npu.space<l0c>>

// CHECK-LABEL: func.func @locations
// CHECK-NEXT:    {{%.*}} = arith.constant 0 : index loc("gemm")
// CHECK-NEXT:    {{%.*}} = arith.constant 48 : index loc("gemm")
// CHECK-NEXT:    {{%.*}} = arith.constant 64 : index loc("gemm")
// CHECK:         scf.for
// CHECK-NEXT:      arith.subi {{.*}} loc("gemm")
// CHECK-NEXT:      arith.minsi {{.*}} loc("gemm")
// CHECK-NEXT:      arith.cmpi {{.*}} loc("gemm")
// CHECK-NEXT:      npu.alloc {{.*}} loc("gemm")
// CHECK-NEXT:      memref.subview {{.*}} loc("gemm")
// CHECK-NEXT:      memref.subview {{.*}} loc("gemm")
// CHECK-NEXT:      npu.copy {{.*}} loc("gemm")
// CHECK-NEXT:      npu.alloc {{.*}} loc("gemm")
// CHECK-NEXT:      memref.subview {{.*}} loc("gemm")
// CHECK-NEXT:      memref.subview {{.*}} loc("gemm")
// CHECK-NEXT:      npu.copy {{.*}} loc("gemm")
// CHECK-NEXT:      npu.mmad {{.*}} loc("gemm")
// CHECK-NEXT:    } loc("gemm")
func.func @locations(%x: memref<64x64xf16, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : !a
  npu.load ins(%x : memref<64x64xf16, #npu.space<gm>>) outs(%a : !a)
  %acc = npu.alloc : !acc
  npu.mmad ins(%a, %a : !a, !a) init %true outs(%acc : !acc) l0 [48] loc("gemm")
  func.return
}
