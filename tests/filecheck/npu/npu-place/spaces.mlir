// Every memory by itself, with its alignment and the padding of its layout.
//
// RUN: fuse-opt %s -p npu-place | filecheck %s
// RUN: fuse-opt %s -p npu-place,npu-verify

!gm = memref<25x50xf16, #npu.space<gm>>
!l1 = memref<25x50xf16, #npu.space<l1>>

// CHECK-LABEL: func.func @cube
// l1: 25x50 is stored as 32x64 (fractals of 16 x 32 bytes), 4096 bytes; a bias is not padded but aligned.
// CHECK:         %a = npu.alloc at 0 : memref<25x50xf16, #npu.space<l1>>
// CHECK:         %b = npu.alloc at 4096 : memref<25x50xf16, #npu.space<l1>>
// CHECK:         %bias = npu.alloc at 8192 : memref<5xf32, #npu.space<l1>>
// CHECK:         %bias2 = npu.alloc at 8224 : memref<5xf32, #npu.space<l1>>
// l0a: 25 to 32 rows, 50 to 64 columns; l0b: 50 to 64 rows, 20 to 32 columns.
// CHECK:         %l0a = npu.alloc at 0 : memref<25x50xf16, #npu.space<l0a>>
// CHECK:         %l0a2 = npu.alloc at 4096 : memref<25x50xf16, #npu.space<l0a>>
// CHECK:         %l0b = npu.alloc at 0 : memref<50x20xf16, #npu.space<l0b>>
// CHECK:         %l0b2 = npu.alloc at 4096 : memref<50x20xf16, #npu.space<l0b>>
// l0c: 25 to 32, 20 to 32, of 4 bytes.
// CHECK:         %acc = npu.alloc at 0 : memref<25x20xf32, #npu.space<l0c>>
// CHECK:         %acc2 = npu.alloc at 4096 : memref<25x20xf32, #npu.space<l0c>>
func.func @cube(%x: !gm, %w: memref<50x20xf16, #npu.space<gm>>, %v: memref<5xf32, #npu.space<gm>>, %y: memref<25x20xf32, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : !l1
  %b = npu.alloc : !l1
  %bias = npu.alloc : memref<5xf32, #npu.space<l1>>
  %bias2 = npu.alloc : memref<5xf32, #npu.space<l1>>
  npu.load ins(%x : !gm) outs(%a : !l1)
  npu.load ins(%x : !gm) outs(%b : !l1)
  npu.load ins(%v : memref<5xf32, #npu.space<gm>>) outs(%bias : memref<5xf32, #npu.space<l1>>)
  npu.load ins(%v : memref<5xf32, #npu.space<gm>>) outs(%bias2 : memref<5xf32, #npu.space<l1>>)
  %l0a = npu.alloc : memref<25x50xf16, #npu.space<l0a>>
  %l0a2 = npu.alloc : memref<25x50xf16, #npu.space<l0a>>
  npu.copy ins(%a : !l1) outs(%l0a : memref<25x50xf16, #npu.space<l0a>>)
  npu.copy ins(%b : !l1) outs(%l0a2 : memref<25x50xf16, #npu.space<l0a>>)
  %l0b = npu.alloc : memref<50x20xf16, #npu.space<l0b>>
  %l0b2 = npu.alloc : memref<50x20xf16, #npu.space<l0b>>
  %av = memref.subview %a[0, 0] [20, 50] [1, 1] : !l1 to memref<20x50xf16, strided<[50, 1]>, #npu.space<l1>>
  npu.copy transpose ins(%av : memref<20x50xf16, strided<[50, 1]>, #npu.space<l1>>) outs(%l0b : memref<50x20xf16, #npu.space<l0b>>)
  npu.copy transpose ins(%av : memref<20x50xf16, strided<[50, 1]>, #npu.space<l1>>) outs(%l0b2 : memref<50x20xf16, #npu.space<l0b>>)
  npu.load ins(%v : memref<5xf32, #npu.space<gm>>) outs(%bias : memref<5xf32, #npu.space<l1>>)
  npu.load ins(%v : memref<5xf32, #npu.space<gm>>) outs(%bias2 : memref<5xf32, #npu.space<l1>>)
  npu.load ins(%x : !gm) outs(%b : !l1)
  npu.load ins(%x : !gm) outs(%a : !l1)
  %acc = npu.alloc : memref<25x20xf32, #npu.space<l0c>>
  %acc2 = npu.alloc : memref<25x20xf32, #npu.space<l0c>>
  npu.mmad ins(%l0a, %l0b : memref<25x50xf16, #npu.space<l0a>>, memref<50x20xf16, #npu.space<l0b>>) init %true outs(%acc : memref<25x20xf32, #npu.space<l0c>>)
  npu.mmad ins(%l0a2, %l0b2 : memref<25x50xf16, #npu.space<l0a>>, memref<50x20xf16, #npu.space<l0b>>) init %true outs(%acc2 : memref<25x20xf32, #npu.space<l0c>>)
  npu.fixpipe ins(%acc : memref<25x20xf32, #npu.space<l0c>>) outs(%y : memref<25x20xf32, #npu.space<gm>>)
  npu.fixpipe ins(%acc2 : memref<25x20xf32, #npu.space<l0c>>) outs(%y : memref<25x20xf32, #npu.space<gm>>)
  npu.mmad ins(%l0a, %l0b : memref<25x50xf16, #npu.space<l0a>>, memref<50x20xf16, #npu.space<l0b>>) init %true outs(%acc : memref<25x20xf32, #npu.space<l0c>>)
  func.return
}

// ub: no padding, aligned to 32 bytes; 5 i1 are 5 bytes; the second copy is aligned too.
// CHECK-LABEL: func.func @vector
// CHECK:         %p = npu.alloc at 0 copies 2 : memref<5xi1, #npu.space<ub>>
// CHECK:         %q = npu.alloc at 64 copies 2 : memref<3x3xf16, #npu.space<ub>>
// CHECK:         %r = npu.alloc at 128 : memref<1xf32, #npu.space<ub>>
func.func @vector(%x: memref<5xi1, #npu.space<gm>>, %y: memref<3x3xf16, #npu.space<gm>>, %z: memref<1xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %p = npu.alloc copies 2 : memref<5xi1, #npu.space<ub>>
    npu.load ins(%x : memref<5xi1, #npu.space<gm>>) outs(%p : memref<5xi1, #npu.space<ub>>)
    %q = npu.alloc copies 2 : memref<3x3xf16, #npu.space<ub>>
    npu.load ins(%y : memref<3x3xf16, #npu.space<gm>>) outs(%q : memref<3x3xf16, #npu.space<ub>>)
    %r = npu.alloc : memref<1xf32, #npu.space<ub>>
    npu.load ins(%z : memref<1xf32, #npu.space<gm>>) outs(%r : memref<1xf32, #npu.space<ub>>)
  }
  func.return
}
