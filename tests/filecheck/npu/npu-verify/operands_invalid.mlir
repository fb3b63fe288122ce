// What the hardware and Huawei's library ask of operands.
//
// RUN: fuse-opt %s -p npu-verify --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'npu.vrelu' in @step: an operand in ub has step 2 in its last axis; the elements of a row are contiguous in ub
func.func @step(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  %v = memref.subview %u[0, 0] [16, 32] [1, 2] : memref<16x64xf32, #npu.space<ub>> to memref<16x32xf32, strided<[64, 2]>, #npu.space<ub>>
  npu.vrelu ins(%v : memref<16x32xf32, strided<[64, 2]>, #npu.space<ub>>) outs(%v : memref<16x32xf32, strided<[64, 2]>, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.store' in @step_store: an operand in ub has step 64 in its last axis
func.func @step_store(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  %v = memref.subview %u[0, 0] [16, 1] [1, 1] : memref<16x64xf32, #npu.space<ub>> to memref<16xf32, strided<[64]>, #npu.space<ub>>
  %y = memref.subview %x[0, 0] [16, 1] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<16xf32, strided<[64]>, #npu.space<gm>>
  npu.store ins(%v : memref<16xf32, strided<[64]>, #npu.space<ub>>) outs(%y : memref<16xf32, strided<[64]>, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'npu.mmad' in @part: an l1 operand is a whole buffer or its leading part [0, 0]: Huawei's library takes the step
func.func @part(%x: memref<32x64xf16, #npu.space<gm>>, %y: memref<64x16xf16, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %acc = npu.alloc : memref<16x16xf32, #npu.space<l0c>>
  %b = npu.alloc : memref<64x16xf16, #npu.space<l1>>
  %w = npu.alloc : memref<32x64xf16, #npu.space<l1>>
  npu.load ins(%x : memref<32x64xf16, #npu.space<gm>>) outs(%w : memref<32x64xf16, #npu.space<l1>>)
  npu.load ins(%y : memref<64x16xf16, #npu.space<gm>>) outs(%b : memref<64x16xf16, #npu.space<l1>>)
  %a = memref.subview %w[16, 0] [16, 64] [1, 1] : memref<32x64xf16, #npu.space<l1>> to memref<16x64xf16, strided<[64, 1], offset: 1024>, #npu.space<l1>>
  npu.mmad ins(%a, %b : memref<16x64xf16, strided<[64, 1], offset: 1024>, #npu.space<l1>>, memref<64x16xf16, #npu.space<l1>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: 'npu.mmad' in @part_value: an l1 operand is a whole buffer
func.func @part_value(%x: memref<32x64xf16, #npu.space<gm>>, %y: memref<64x16xf16, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %z = arith.constant 0 : index
  %true = arith.constant true
  %acc = npu.alloc : memref<16x16xf32, #npu.space<l0c>>
  %b = npu.alloc : memref<64x16xf16, #npu.space<l1>>
  %w = npu.alloc : memref<32x64xf16, #npu.space<l1>>
  npu.load ins(%x : memref<32x64xf16, #npu.space<gm>>) outs(%w : memref<32x64xf16, #npu.space<l1>>)
  npu.load ins(%y : memref<64x16xf16, #npu.space<gm>>) outs(%b : memref<64x16xf16, #npu.space<l1>>)
  %a = memref.subview %w[%z, 0] [16, 64] [1, 1] : memref<32x64xf16, #npu.space<l1>> to memref<16x64xf16, strided<[64, 1], offset: ?>, #npu.space<l1>>
  npu.mmad ins(%a, %b : memref<16x64xf16, strided<[64, 1], offset: ?>, #npu.space<l1>>, memref<64x16xf16, #npu.space<l1>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: 'npu.mmad' in @part_step: an l1 operand is a whole buffer
func.func @part_step(%x: memref<32x64xf16, #npu.space<gm>>, %y: memref<64x16xf16, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %acc = npu.alloc : memref<16x16xf32, #npu.space<l0c>>
  %b = npu.alloc : memref<64x16xf16, #npu.space<l1>>
  %w = npu.alloc : memref<32x64xf16, #npu.space<l1>>
  npu.load ins(%x : memref<32x64xf16, #npu.space<gm>>) outs(%w : memref<32x64xf16, #npu.space<l1>>)
  npu.load ins(%y : memref<64x16xf16, #npu.space<gm>>) outs(%b : memref<64x16xf16, #npu.space<l1>>)
  %a = memref.subview %w[0, 0] [16, 64] [2, 1] : memref<32x64xf16, #npu.space<l1>> to memref<16x64xf16, strided<[128, 1]>, #npu.space<l1>>
  npu.mmad ins(%a, %b : memref<16x64xf16, strided<[128, 1]>, #npu.space<l1>>, memref<64x16xf16, #npu.space<l1>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: 'npu.mmad' in @bias: a bias of 1088 bytes does not fit the bias table of 1024; make the tile narrower in N
func.func @bias(%x: memref<16x16xf16, #npu.space<gm>>, %y: memref<16x272xf16, #npu.space<gm>>, %z: memref<272xf32, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : memref<16x16xf16, #npu.space<l1>>
  npu.load ins(%x : memref<16x16xf16, #npu.space<gm>>) outs(%a : memref<16x16xf16, #npu.space<l1>>)
  %b = npu.alloc : memref<16x272xf16, #npu.space<l1>>
  npu.load ins(%y : memref<16x272xf16, #npu.space<gm>>) outs(%b : memref<16x272xf16, #npu.space<l1>>)
  %v = npu.alloc : memref<272xf32, #npu.space<l1>>
  npu.load ins(%z : memref<272xf32, #npu.space<gm>>) outs(%v : memref<272xf32, #npu.space<l1>>)
  %acc = npu.alloc : memref<16x272xf32, #npu.space<l0c>>
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l1>>, memref<16x272xf16, #npu.space<l1>>) bias(%v : memref<272xf32, #npu.space<l1>>) init %true outs(%acc : memref<16x272xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: 'npu.vadd' in @shifted: an operand that is written overlaps another one; only elementwise operators work in place, on the identical view
func.func @shifted(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  %a = memref.subview %u[0, 0] [15, 64] [1, 1] : memref<16x64xf32, #npu.space<ub>> to memref<15x64xf32, strided<[64, 1]>, #npu.space<ub>>
  %b = memref.subview %u[1, 0] [15, 64] [1, 1] : memref<16x64xf32, #npu.space<ub>> to memref<15x64xf32, strided<[64, 1], offset: 64>, #npu.space<ub>>
  npu.vadd ins(%a, %a : memref<15x64xf32, strided<[64, 1]>, #npu.space<ub>>, memref<15x64xf32, strided<[64, 1]>, #npu.space<ub>>) outs(%b : memref<15x64xf32, strided<[64, 1], offset: 64>, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.vadd' in @broadcast: an operand that is written overlaps another one
func.func @broadcast(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  %a = memref.subview %u[0, 0] [16, 1] [1, 1] : memref<16x64xf32, #npu.space<ub>> to memref<16x1xf32, strided<[64, 1]>, #npu.space<ub>>
  npu.vadd ins(%u, %a : memref<16x64xf32, #npu.space<ub>>, memref<16x1xf32, strided<[64, 1]>, #npu.space<ub>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.vreduce' in @reduce: an operand that is written overlaps another one
func.func @reduce(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  %a = memref.subview %u[0, 0] [16, 1] [1, 1] : memref<16x64xf32, #npu.space<ub>> to memref<16x1xf32, strided<[64, 1]>, #npu.space<ub>>
  npu.vreduce "sum" ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%a : memref<16x1xf32, strided<[64, 1]>, #npu.space<ub>>) dims [1]
  func.return
}

// -----

// CHECK: 'npu.vtranspose' in @transpose: an operand that is written overlaps another one
func.func @transpose(%x: memref<16x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<16x16xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x16xf32, #npu.space<gm>>) outs(%u : memref<16x16xf32, #npu.space<ub>>)
  npu.vtranspose ins(%u : memref<16x16xf32, #npu.space<ub>>) outs(%u : memref<16x16xf32, #npu.space<ub>>) permutation [1, 0]
  func.return
}

// -----

// CHECK: 'npu.vreduce' in @scratch_source: an operand that is written overlaps another one
func.func @scratch_source(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  %s = npu.alloc : memref<16x1xf32, #npu.space<ub>>
  npu.vreduce "sum" ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%s : memref<16x1xf32, #npu.space<ub>>) dims [1] temp(%u : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.vexp' in @scratch_result: an operand that is written overlaps another one
func.func @scratch_result(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  %s = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.vexp ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%s : memref<16x64xf32, #npu.space<ub>>) temp(%s : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.vexp' in @scratch_of_source: an operand that is written overlaps another one
func.func @scratch_of_source(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  %s = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.vexp ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%s : memref<16x64xf32, #npu.space<ub>>) temp(%u : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.vexp' in @shifted_columns: an operand that is written overlaps another one
func.func @shifted_columns(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c = arith.constant 1 : index
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  %a = memref.subview %u[%c, 0] [1, 32] [1, 1] : memref<16x64xf32, #npu.space<ub>> to memref<1x32xf32, strided<[64, 1], offset: ?>, #npu.space<ub>>
  %b = memref.subview %u[%c, 8] [1, 32] [1, 1] : memref<16x64xf32, #npu.space<ub>> to memref<1x32xf32, strided<[64, 1], offset: ?>, #npu.space<ub>>
  npu.vexp ins(%a : memref<1x32xf32, strided<[64, 1], offset: ?>, #npu.space<ub>>) outs(%b : memref<1x32xf32, strided<[64, 1], offset: ?>, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.mmad' in @part_rank: an l1 operand is a whole buffer
func.func @part_rank(%x: memref<32x64xf16, #npu.space<gm>>, %y: memref<64x16xf16, #npu.space<gm>>, %z: memref<2x16x64xf16, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %acc = npu.alloc : memref<16x16xf32, #npu.space<l0c>>
  %b = npu.alloc : memref<64x16xf16, #npu.space<l1>>
  %w = npu.alloc : memref<32x64xf16, #npu.space<l1>>
  npu.load ins(%x : memref<32x64xf16, #npu.space<gm>>) outs(%w : memref<32x64xf16, #npu.space<l1>>)
  npu.load ins(%y : memref<64x16xf16, #npu.space<gm>>) outs(%b : memref<64x16xf16, #npu.space<l1>>)
  %c = npu.alloc : memref<2x16x64xf16, #npu.space<l1>>
  npu.load ins(%z : memref<2x16x64xf16, #npu.space<gm>>) outs(%c : memref<2x16x64xf16, #npu.space<l1>>)
  %a = memref.subview %c[0, 0, 0] [1, 16, 64] [1, 1, 1] : memref<2x16x64xf16, #npu.space<l1>> to memref<16x64xf16, strided<[64, 1]>, #npu.space<l1>>
  npu.mmad ins(%a, %b : memref<16x64xf16, strided<[64, 1]>, #npu.space<l1>>, memref<64x16xf16, #npu.space<l1>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: 'npu.copy' in @copy: an operand that is written overlaps another one
func.func @copy(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  npu.copy ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  func.return
}
