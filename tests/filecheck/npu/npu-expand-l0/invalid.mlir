// RUN: fuse-opt %s -p npu-expand-l0 --split-input-file --verify-diagnostics | filecheck %s
// RUN: %not 3 fuse-opt %s -p 'npu-expand-l0{copies=0}' 2>&1 | filecheck %s --check-prefix=ZERO

// ZERO: npu-expand-l0: copies is at least 1, found 0

// CHECK: invalid.mlir:{{[0-9]+}}:3: 'npu.mmad' in @cut: a step of 24 in K cuts a fractal; `l0 [k]` is a multiple of 16 for f16
func.func @cut(%acc: memref<16x16xf32, #npu.space<l0c>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : memref<16x64xf16, #npu.space<l1>>
  %b = npu.alloc : memref<64x16xf16, #npu.space<l1>>
  npu.mmad ins(%a, %b : memref<16x64xf16, #npu.space<l1>>, memref<64x16xf16, #npu.space<l1>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>) l0 [24]
  func.return
}

// -----

// CHECK: 'npu.mmad' in @cut_i8: a step of 48 in K cuts a fractal; `l0 [k]` is a multiple of 32 for i8
func.func @cut_i8(%acc: memref<16x16xi32, #npu.space<l0c>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : memref<16x64xi8, #npu.space<l1>>
  %b = npu.alloc : memref<64x16xi8, #npu.space<l1>>
  npu.mmad ins(%a, %b : memref<16x64xi8, #npu.space<l1>>, memref<64x16xi8, #npu.space<l1>>) init %true outs(%acc : memref<16x16xi32, #npu.space<l0c>>) l0 [48]
  func.return
}

// -----

// CHECK: 'npu.mmad' in @no_capacity: the capacity of an l1 operand is not known; multiply a sub-view of a buffer from npu.alloc
func.func @no_capacity(%a: memref<?x64xf16, #npu.space<l1>>, %acc: memref<16x16xf32, #npu.space<l0c>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %b = npu.alloc : memref<64x16xf16, #npu.space<l1>>
  npu.mmad ins(%a, %b : memref<?x64xf16, #npu.space<l1>>, memref<64x16xf16, #npu.space<l1>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>) l0 [16]
  func.return
}
