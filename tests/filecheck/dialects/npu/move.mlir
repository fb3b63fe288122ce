// Buffers and moves between memories: text to text, also through the generic form.
//
// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @moves
func.func @moves(%x: memref<16x32xf16, #npu.space<gm>>, %y: memref<16x16xf16, #npu.space<gm>>) {
  // CHECK-NEXT: %u = npu.alloc : memref<16x32xf16, #npu.space<ub>>
  // CHECK-NEXT: %v = npu.alloc at 1024 copies 2 : memref<16x32xf16, #npu.space<ub>>
  // CHECK-NEXT: %a = npu.alloc copies 2 {npu.note = "x"} : memref<16x32xf16, #npu.space<l1>>
  // GENERIC:    %v = "npu.alloc"() <{address = 1024 : i64, copies = 2 : i64}> : () -> memref<16x32xf16, #npu.space<ub>>
  %u = npu.alloc : memref<16x32xf16, #npu.space<ub>>
  %v = npu.alloc at 1024 copies 2 : memref<16x32xf16, #npu.space<ub>>
  %a = npu.alloc copies 2 {npu.note = "x"} : memref<16x32xf16, #npu.space<l1>>
  %l0a = npu.alloc : memref<16x32xf16, #npu.space<l0a>>
  %l0b = npu.alloc : memref<32x16xf16, #npu.space<l0b>>
  %c = npu.alloc : memref<16x16xf32, #npu.space<l0c>>

  // CHECK:      npu.load ins(%x : memref<16x32xf16, #npu.space<gm>>) outs(%u : memref<16x32xf16, #npu.space<ub>>)
  // CHECK-NEXT: npu.load ins(%x : memref<16x32xf16, #npu.space<gm>>) outs(%a : memref<16x32xf16, #npu.space<l1>>)
  // CHECK-NEXT: npu.store ins(%u : memref<16x32xf16, #npu.space<ub>>) outs(%x : memref<16x32xf16, #npu.space<gm>>)
  npu.load ins(%x : memref<16x32xf16, #npu.space<gm>>) outs(%u : memref<16x32xf16, #npu.space<ub>>)
  npu.load ins(%x : memref<16x32xf16, #npu.space<gm>>) outs(%a : memref<16x32xf16, #npu.space<l1>>)
  npu.store ins(%u : memref<16x32xf16, #npu.space<ub>>) outs(%x : memref<16x32xf16, #npu.space<gm>>)

  // CHECK-NEXT: npu.copy ins(%u : memref<16x32xf16, #npu.space<ub>>) outs(%v : memref<16x32xf16, #npu.space<ub>>)
  // CHECK-NEXT: npu.copy ins(%a : memref<16x32xf16, #npu.space<l1>>) outs(%l0a : memref<16x32xf16, #npu.space<l0a>>)
  // CHECK-NEXT: npu.copy transpose ins(%a : memref<16x32xf16, #npu.space<l1>>) outs(%l0b : memref<32x16xf16, #npu.space<l0b>>)
  npu.copy ins(%u : memref<16x32xf16, #npu.space<ub>>) outs(%v : memref<16x32xf16, #npu.space<ub>>)
  npu.copy ins(%a : memref<16x32xf16, #npu.space<l1>>) outs(%l0a : memref<16x32xf16, #npu.space<l0a>>)
  npu.copy transpose ins(%a : memref<16x32xf16, #npu.space<l1>>) outs(%l0b : memref<32x16xf16, #npu.space<l0b>>)

  // CHECK-NEXT: npu.fixpipe ins(%c : memref<16x16xf32, #npu.space<l0c>>) outs(%y : memref<16x16xf16, #npu.space<gm>>)
  // CHECK-NEXT: npu.fixpipe relu ins(%c : memref<16x16xf32, #npu.space<l0c>>) outs(%y : memref<16x16xf16, #npu.space<gm>>)
  // GENERIC:    "npu.fixpipe"(%c, %y) <{relu}> : (memref<16x16xf32, #npu.space<l0c>>, memref<16x16xf16, #npu.space<gm>>) -> ()
  npu.fixpipe ins(%c : memref<16x16xf32, #npu.space<l0c>>) outs(%y : memref<16x16xf16, #npu.space<gm>>)
  npu.fixpipe relu ins(%c : memref<16x16xf32, #npu.space<l0c>>) outs(%y : memref<16x16xf16, #npu.space<gm>>)
  func.return
}

// Sizes that are values: a dynamic size may equal any.
// CHECK-LABEL: func.func @tail
func.func @tail(%x: memref<?x32xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>, %u: memref<16x?xf16, strided<[32, 1]>, #npu.space<ub>>) {
  // CHECK: npu.load ins(%x : memref<?x32xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>) outs(%u : memref<16x?xf16, strided<[32, 1]>, #npu.space<ub>>)
  npu.load ins(%x : memref<?x32xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>) outs(%u : memref<16x?xf16, strided<[32, 1]>, #npu.space<ub>>)
  func.return
}
