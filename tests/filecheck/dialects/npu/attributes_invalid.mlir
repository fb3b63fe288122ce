// RUN: fuse-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s

// CHECK: l2
// CHECK: gm
func.func private @unknown_space(memref<8xf32, #npu.space<l2>>)

// -----

// CHECK: unknown layout 'zx', expected one of nd, nz, zz, zn
func.func private @unknown_layout(memref<8xf32, #npu.space<l1, zx>>)

// -----

// CHECK: unknown kernel family 'cubes', expected one of vector, cube, mixed, rows, attention, window, depthwise, movement, own
func.func private @unknown_family() attributes {npu.schedule = #npu.schedule<"cubes", {}>}

// -----

// Any attribute parses as the memory space of a memref; an operator refuses it.
// CHECK: expected a buffer with a memory space, like #npu.space<ub>
func.func @number_as_space() {
  %0 = npu.alloc : memref<8xf32, 3>
  func.return
}

// -----

// CHECK: expected a buffer with a memory space, like #npu.space<ub>
func.func @no_space(%x: memref<8xf32>) {
  npu.vrelu ins(%x : memref<8xf32>) outs(%x : memref<8xf32>)
  func.return
}
