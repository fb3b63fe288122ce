// Memory spaces, their layouts, and schedules: text to text.
//
// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

// CHECK-LABEL: func.func private @spaces(
// CHECK-SAME:    memref<8x16xf32, #npu.space<gm>>
// CHECK-SAME:    memref<8x16xf32, #npu.space<l1>>
// CHECK-SAME:    memref<8x16xf32, #npu.space<l1, nd>>
// CHECK-SAME:    memref<8x16xf32, #npu.space<l0a>>
// CHECK-SAME:    memref<8x16xf32, #npu.space<l0b>>
// CHECK-SAME:    memref<8x16xf32, #npu.space<l0c>>
// CHECK-SAME:    memref<8x16xf32, #npu.space<ub>>
func.func private @spaces(
  memref<8x16xf32, #npu.space<gm>>, memref<8x16xf32, #npu.space<l1, nz>>, memref<8x16xf32, #npu.space<l1, nd>>,
  memref<8x16xf32, #npu.space<l0a>>, memref<8x16xf32, #npu.space<l0b>>, memref<8x16xf32, #npu.space<l0c>>,
  memref<8x16xf32, #npu.space<ub, nd>>)

// The layout slot of the memref stays free for strides.
// CHECK: memref<8x16xf32, strided<[24, 1], offset: ?>, #npu.space<ub>>
func.func private @strided(memref<8x16xf32, strided<[24, 1], offset: ?>, #npu.space<ub>>)

// CHECK: npu.schedule = #npu.schedule<"cube", {m = 128 : i64, copies = 2 : i64}>
// CHECK: npu.schedule = #npu.schedule<"attention", {}>
func.func private @cube() attributes {npu.schedule = #npu.schedule<"cube", {m = 128 : i64, copies = 2 : i64}>}
func.func private @attention() attributes {npu.schedule = #npu.schedule<"attention", {}>}

// CHECK: pipes = [#npu.pipe<mte1>, #npu.pipe<fix>, #npu.pipe<s>], cores = [#npu.core<cube>, #npu.core<vector>]
func.func private @loose() attributes {pipes = [#npu.pipe<mte1>, #npu.pipe<fix>, #npu.pipe<s>], cores = [#npu.core<cube>, #npu.core<vector>]}
