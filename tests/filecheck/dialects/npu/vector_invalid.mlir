// RUN: fuse-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s

// CHECK: npu.vexp: operand must be in ub, found l1
func.func @unary_space(%x0: memref<8x16xf32, #npu.space<l1>>, %d: memref<8x16xf32, #npu.space<ub>>) {
  npu.vexp ins(%x0 : memref<8x16xf32, #npu.space<l1>>) outs(%d : memref<8x16xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vexp: shapes [8, 16] and [8, 8] differ
func.func @unary_shape(%x0: memref<8x16xf32, #npu.space<ub>>, %d: memref<8x8xf32, #npu.space<ub>>) {
  npu.vexp ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<8x8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vexp: element types differ: f16, f32
func.func @unary_types(%x0: memref<8xf16, #npu.space<ub>>, %d: memref<8xf32, #npu.space<ub>>) {
  npu.vexp ins(%x0 : memref<8xf16, #npu.space<ub>>) outs(%d : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vexp: no instruction for i32, only for f16, f32; cast around it
func.func @exp_int(%x0: memref<8xi32, #npu.space<ub>>, %d: memref<8xi32, #npu.space<ub>>) {
  npu.vexp ins(%x0 : memref<8xi32, #npu.space<ub>>) outs(%d : memref<8xi32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vrelu: no instruction for bf16, only for f16, f32, i32; cast around it (bf16 has no vector arithmetic)
func.func @relu_bf16(%x0: memref<8xbf16, #npu.space<ub>>, %d: memref<8xbf16, #npu.space<ub>>) {
  npu.vrelu ins(%x0 : memref<8xbf16, #npu.space<ub>>) outs(%d : memref<8xbf16, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vnot: no instruction for f32
func.func @not_float(%x0: memref<8xf32, #npu.space<ub>>, %d: memref<8xf32, #npu.space<ub>>) {
  npu.vnot ins(%x0 : memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vadd: operand must be in ub, found gm
func.func @binary_space(%x0: memref<8xf32, #npu.space<gm>>, %x1: memref<8xf32, #npu.space<ub>>, %d: memref<8xf32, #npu.space<ub>>) {
  npu.vadd ins(%x0, %x1 : memref<8xf32, #npu.space<gm>>, memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vadd: operand must be in ub, found l0c
func.func @result_space(%x0: memref<8xf32, #npu.space<ub>>, %x1: memref<8xf32, #npu.space<ub>>, %d: memref<8xf32, #npu.space<l0c>>) {
  npu.vadd ins(%x0, %x1 : memref<8xf32, #npu.space<ub>>, memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: npu.vadd: operands of one instruction have equal ranks, found [16] and [8, 16]
func.func @rank(%x0: memref<16xf32, #npu.space<ub>>, %x1: memref<8x16xf32, #npu.space<ub>>, %d: memref<8x16xf32, #npu.space<ub>>) {
  npu.vadd ins(%x0, %x1 : memref<16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<8x16xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vadd: [8, 2] does not broadcast to [8, 16]
func.func @broadcast(%x0: memref<8x16xf32, #npu.space<ub>>, %x1: memref<8x2xf32, #npu.space<ub>>, %d: memref<8x16xf32, #npu.space<ub>>) {
  npu.vadd ins(%x0, %x1 : memref<8x16xf32, #npu.space<ub>>, memref<8x2xf32, #npu.space<ub>>) outs(%d : memref<8x16xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vadd: [8, 16] does not broadcast to [1, 16]
func.func @broadcast_result(%x0: memref<8x16xf32, #npu.space<ub>>, %x1: memref<1x16xf32, #npu.space<ub>>, %d: memref<1x16xf32, #npu.space<ub>>) {
  npu.vadd ins(%x0, %x1 : memref<8x16xf32, #npu.space<ub>>, memref<1x16xf32, #npu.space<ub>>) outs(%d : memref<1x16xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vadd: element types differ: f16, f32
func.func @scalar_type(%x0: memref<8xf32, #npu.space<ub>>, %x1: f16, %d: memref<8xf32, #npu.space<ub>>) {
  npu.vadd ins(%x0, %x1 : memref<8xf32, #npu.space<ub>>, f16) outs(%d : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vdiv: no instruction for i32
func.func @div_int(%x0: memref<8xi32, #npu.space<ub>>, %x1: memref<8xi32, #npu.space<ub>>, %d: memref<8xi32, #npu.space<ub>>) {
  npu.vdiv ins(%x0, %x1 : memref<8xi32, #npu.space<ub>>, memref<8xi32, #npu.space<ub>>) outs(%d : memref<8xi32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vand: no instruction for f32
func.func @and_float(%x0: memref<8xf32, #npu.space<ub>>, %x1: memref<8xf32, #npu.space<ub>>, %d: memref<8xf32, #npu.space<ub>>) {
  npu.vand ins(%x0, %x1 : memref<8xf32, #npu.space<ub>>, memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vadd: scratch must be in ub, found l1
func.func @scratch(%x0: memref<8xf32, #npu.space<ub>>, %x1: memref<8xf32, #npu.space<ub>>, %d: memref<8xf32, #npu.space<ub>>, %t: memref<8xf32, #npu.space<l1>>) {
  npu.vadd ins(%x0, %x1 : memref<8xf32, #npu.space<ub>>, memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xf32, #npu.space<ub>>) temp(%t : memref<8xf32, #npu.space<l1>>)
  func.return
}

// -----

// CHECK: npu.vcast: shapes [8] and [16] differ
func.func @cast_shape(%x0: memref<8xf32, #npu.space<ub>>, %d: memref<16xf16, #npu.space<ub>>) {
  npu.vcast ins(%x0 : memref<8xf32, #npu.space<ub>>) outs(%d : memref<16xf16, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vcast: no instruction converts bf16 to f16 in one step; go through f32 or f16
func.func @cast_pair(%x0: memref<8xbf16, #npu.space<ub>>, %d: memref<8xf16, #npu.space<ub>>) {
  npu.vcast ins(%x0 : memref<8xbf16, #npu.space<ub>>) outs(%d : memref<8xf16, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vcast: unknown rounding 'up', expected rint, floor, ceil, trunc, round
func.func @cast_round(%x0: memref<8xf32, #npu.space<ub>>, %d: memref<8xf16, #npu.space<ub>>) {
  npu.vcast round "up" ins(%x0 : memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xf16, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vcast: scratch must be in ub, found gm
func.func @cast_scratch(%x0: memref<8xf32, #npu.space<ub>>, %d: memref<8xf16, #npu.space<ub>>, %t: memref<8xf32, #npu.space<gm>>) {
  npu.vcast ins(%x0 : memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xf16, #npu.space<ub>>) temp(%t : memref<8xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.vcmp: unknown mode 'less', expected eq, ne, lt, gt, le, ge
func.func @cmp_mode(%x0: memref<8xf32, #npu.space<ub>>, %x1: memref<8xf32, #npu.space<ub>>, %d: memref<8xi1, #npu.space<ub>>) {
  npu.vcmp "less" ins(%x0, %x1 : memref<8xf32, #npu.space<ub>>, memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xi1, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vcmp: the result is i1
func.func @cmp_result(%x0: memref<8xf32, #npu.space<ub>>, %x1: memref<8xf32, #npu.space<ub>>, %d: memref<8xf32, #npu.space<ub>>) {
  npu.vcmp "lt" ins(%x0, %x1 : memref<8xf32, #npu.space<ub>>, memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vcmp: no instruction for i32
func.func @cmp_int(%x0: memref<8xi32, #npu.space<ub>>, %x1: memref<8xi32, #npu.space<ub>>, %d: memref<8xi1, #npu.space<ub>>) {
  npu.vcmp "lt" ins(%x0, %x1 : memref<8xi32, #npu.space<ub>>, memref<8xi32, #npu.space<ub>>) outs(%d : memref<8xi1, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vcmp: [8, 2] does not broadcast to [8, 16]
func.func @cmp_broadcast(%x0: memref<8x16xf32, #npu.space<ub>>, %x1: memref<8x2xf32, #npu.space<ub>>, %d: memref<8x16xi1, #npu.space<ub>>) {
  npu.vcmp "lt" ins(%x0, %x1 : memref<8x16xf32, #npu.space<ub>>, memref<8x2xf32, #npu.space<ub>>) outs(%d : memref<8x16xi1, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vsel: the condition is i1
func.func @sel_condition(%x0: memref<8xf32, #npu.space<ub>>, %x1: memref<8xf32, #npu.space<ub>>, %x2: memref<8xf32, #npu.space<ub>>, %d: memref<8xf32, #npu.space<ub>>) {
  npu.vsel ins(%x0, %x1, %x2 : memref<8xf32, #npu.space<ub>>, memref<8xf32, #npu.space<ub>>, memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vsel: element types differ: f16, f32
func.func @sel_types(%x0: memref<8xi1, #npu.space<ub>>, %x1: memref<8xf16, #npu.space<ub>>, %x2: memref<8xf32, #npu.space<ub>>, %d: memref<8xf32, #npu.space<ub>>) {
  npu.vsel ins(%x0, %x1, %x2 : memref<8xi1, #npu.space<ub>>, memref<8xf16, #npu.space<ub>>, memref<8xf32, #npu.space<ub>>) outs(%d : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vsel: [2, 8] does not broadcast to [4, 8]
func.func @sel_broadcast(%x0: memref<2x8xi1, #npu.space<ub>>, %x1: memref<4x8xf32, #npu.space<ub>>, %x2: memref<4x8xf32, #npu.space<ub>>, %d: memref<4x8xf32, #npu.space<ub>>) {
  npu.vsel ins(%x0, %x1, %x2 : memref<2x8xi1, #npu.space<ub>>, memref<4x8xf32, #npu.space<ub>>, memref<4x8xf32, #npu.space<ub>>) outs(%d : memref<4x8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vreduce: unknown kind 'mean', expected sum, max, min, prod
func.func @reduce_kind(%x0: memref<8x16xf32, #npu.space<ub>>, %d: memref<8x1xf32, #npu.space<ub>>) {
  npu.vreduce "mean" ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<8x1xf32, #npu.space<ub>>) dims [1]
  func.return
}

// -----

// CHECK: npu.vreduce: source and destination have equal ranks
func.func @reduce_rank(%x0: memref<8x16xf32, #npu.space<ub>>, %d: memref<8xf32, #npu.space<ub>>) {
  npu.vreduce "sum" ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<8xf32, #npu.space<ub>>) dims [1]
  func.return
}

// -----

// CHECK: npu.vreduce: dims [2] are not axes of [8, 16]
func.func @reduce_axis(%x0: memref<8x16xf32, #npu.space<ub>>, %d: memref<8x1xf32, #npu.space<ub>>) {
  npu.vreduce "sum" ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<8x1xf32, #npu.space<ub>>) dims [2]
  func.return
}

// -----

// CHECK: npu.vreduce: dims [1, 1] are not axes of [8, 16]
func.func @reduce_twice(%x0: memref<8x16xf32, #npu.space<ub>>, %d: memref<8x1xf32, #npu.space<ub>>) {
  npu.vreduce "sum" ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<8x1xf32, #npu.space<ub>>) dims [1, 1]
  func.return
}

// -----

// CHECK: npu.vreduce: dims [] are not axes of [8, 16]
func.func @reduce_none(%x0: memref<8x16xf32, #npu.space<ub>>, %d: memref<8x16xf32, #npu.space<ub>>) {
  npu.vreduce "sum" ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<8x16xf32, #npu.space<ub>>) dims []
  func.return
}

// -----

// CHECK: npu.vreduce: [8, 16] reduced over [1] is not [8, 16]
func.func @reduce_shape(%x0: memref<8x16xf32, #npu.space<ub>>, %d: memref<8x16xf32, #npu.space<ub>>) {
  npu.vreduce "sum" ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<8x16xf32, #npu.space<ub>>) dims [1]
  func.return
}

// -----

// CHECK: npu.vbrc: destination must be in ub or l1, found l0a
func.func @brc_space(%x0: f32, %d: memref<8x8xf32, #npu.space<l0a>>) {
  npu.vbrc ins(%x0 : f32) outs(%d : memref<8x8xf32, #npu.space<l0a>>)
  func.return
}

// -----

// CHECK: npu.vbrc: only a scalar fills a tile in l1
func.func @brc_l1(%x0: memref<8x1xf32, #npu.space<ub>>, %d: memref<8x16xf32, #npu.space<l1>>) {
  npu.vbrc ins(%x0 : memref<8x1xf32, #npu.space<ub>>) outs(%d : memref<8x16xf32, #npu.space<l1>>)
  func.return
}

// -----

// CHECK: npu.vbrc: element types differ: f16, f32
func.func @brc_type(%x0: f16, %d: memref<8xf32, #npu.space<ub>>) {
  npu.vbrc ins(%x0 : f16) outs(%d : memref<8xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vbrc: [8, 2] does not broadcast to [8, 16]
func.func @brc_shape(%x0: memref<8x2xf32, #npu.space<ub>>, %d: memref<8x16xf32, #npu.space<ub>>) {
  npu.vbrc ins(%x0 : memref<8x2xf32, #npu.space<ub>>) outs(%d : memref<8x16xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: npu.vtranspose: [0, 0] is not a permutation of the source's axes
func.func @transpose_axes(%x0: memref<8x16xf32, #npu.space<ub>>, %d: memref<16x8xf32, #npu.space<ub>>) {
  npu.vtranspose ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<16x8xf32, #npu.space<ub>>) permutation [0, 0]
  func.return
}

// -----

// CHECK: npu.vtranspose: [8, 16] by [1, 0] is not [8, 16]
func.func @transpose_shape(%x0: memref<8x16xf32, #npu.space<ub>>, %d: memref<8x16xf32, #npu.space<ub>>) {
  npu.vtranspose ins(%x0 : memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<8x16xf32, #npu.space<ub>>) permutation [1, 0]
  func.return
}

// -----

// CHECK: npu.vtranspose: no instruction for f64
func.func @transpose_type(%x0: memref<8x16xf64, #npu.space<ub>>, %d: memref<16x8xf64, #npu.space<ub>>) {
  npu.vtranspose ins(%x0 : memref<8x16xf64, #npu.space<ub>>) outs(%d : memref<16x8xf64, #npu.space<ub>>) permutation [1, 0]
  func.return
}
