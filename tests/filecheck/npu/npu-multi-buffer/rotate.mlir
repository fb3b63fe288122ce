// Buffers in a loop that cross the border of the core rotate; others do not.
//
// RUN: fuse-opt %s -p npu-multi-buffer | filecheck %s
// RUN: fuse-opt %s -p 'npu-multi-buffer{copies=3}' | filecheck %s --check-prefix=THREE

!gm = memref<64x64xf32, #npu.space<gm>>
!part = memref<16x64xf32, strided<[64, 1], offset: ?>, #npu.space<gm>>
!ub = memref<16x64xf32, #npu.space<ub>>
!column = memref<16x1xf32, #npu.space<ub>>

// CHECK-LABEL: func.func @vector
// THREE-LABEL: func.func @vector
func.func @vector(%x: !gm, %y: !gm) attributes {npu.core = "vector"} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  // Outside of the loop: one copy.
  // CHECK: %once = npu.alloc : memref
  // THREE: %once = npu.alloc : memref
  %once = npu.alloc : !ub
  %x0 = memref.subview %x[0, 0] [16, 64] [1, 1] : !gm to memref<16x64xf32, strided<[64, 1]>, #npu.space<gm>>
  npu.load ins(%x0 : memref<16x64xf32, strided<[64, 1]>, #npu.space<gm>>) outs(%once : !ub)
  scf.for %t = %block to %c4 step %blocks {
    %o = arith.muli %t, %c16 : index
    %xt = memref.subview %x[%o, 0] [16, 64] [1, 1] : !gm to !part
    %yt = memref.subview %y[%o, 0] [16, 64] [1, 1] : !gm to !part
    // CHECK: %loaded = npu.alloc copies 2 : memref
    // CHECK: %inside = npu.alloc : memref
    // CHECK: %column = npu.alloc : memref
    // CHECK: %stored = npu.alloc copies 2 : memref
    // THREE: %loaded = npu.alloc copies 3 : memref
    // THREE: %inside = npu.alloc : memref
    // THREE: %stored = npu.alloc copies 3 : memref
    %loaded = npu.alloc : !ub
    npu.load ins(%xt : !part) outs(%loaded : !ub)
    %inside = npu.alloc : !ub
    npu.vadd ins(%loaded, %once : !ub, !ub) outs(%inside : !ub)
    %column = npu.alloc : !column
    npu.vreduce "sum" ins(%inside : !ub) outs(%column : !column) dims [1]
    %stored = npu.alloc : !ub
    npu.vsub ins(%inside, %column : !ub, !column) outs(%stored : !ub)
    npu.store ins(%stored : !ub) outs(%yt : !part)
  }
  func.return
}

// A sub-view counts for its buffer; a buffer rotates in the loop that directly holds it, here the
// outer one, which is where the copies help.
// CHECK-LABEL: func.func @views
func.func @views(%x: !gm, %y: !gm) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %o = arith.muli %t, %c16 : index
    // CHECK: %u = npu.alloc copies 2 : memref
    %u = npu.alloc : !ub
    scf.for %r = %c0 to %c16 step %c1 {
      %s = arith.addi %o, %r : index
      %xr = memref.subview %x[%s, 0] [1, 64] [1, 1] : !gm to memref<1x64xf32, strided<[64, 1], offset: ?>, #npu.space<gm>>
      %ur = memref.subview %u[%r, 0] [1, 64] [1, 1] : !ub to memref<1x64xf32, strided<[64, 1], offset: ?>, #npu.space<ub>>
      npu.load ins(%xr : memref<1x64xf32, strided<[64, 1], offset: ?>, #npu.space<gm>>) outs(%ur : memref<1x64xf32, strided<[64, 1], offset: ?>, #npu.space<ub>>)
    }
    %yt = memref.subview %y[%o, 0] [16, 64] [1, 1] : !gm to !part
    npu.store ins(%u : !ub) outs(%yt : !part)
  }
  func.return
}

!w = memref<64x64xf16, #npu.space<gm>>
!l1 = memref<64x64xf16, #npu.space<l1>>
!l0a = memref<64x64xf16, #npu.space<l0a>>
!l0b = memref<64x64xf16, #npu.space<l0b>>
!acc = memref<64x64xf32, #npu.space<l0c>>

// CHECK-LABEL: func.func @cube
func.func @cube(%x: !w, %w: !w, %y: !gm) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %f0 = arith.constant 0.0 : f16
  scf.for %t = %c0 to %c4 step %c1 {
    // CHECK: %a = npu.alloc copies 2 : memref<64x64xf16, #npu.space<l1>>
    // CHECK: %b = npu.alloc copies 2 : memref<64x64xf16, #npu.space<l1>>
    // CHECK: %l0a = npu.alloc copies 2 : memref<64x64xf16, #npu.space<l0a>>
    // CHECK: %l0b = npu.alloc copies 2 : memref<64x64xf16, #npu.space<l0b>>
    // CHECK: %acc = npu.alloc copies 2 : memref<64x64xf32, #npu.space<l0c>>
    %a = npu.alloc : !l1
    npu.load ins(%x : !w) outs(%a : !l1)
    %b = npu.alloc : !l1
    npu.vbrc ins(%f0 : f16) outs(%b : !l1)
    %l0a = npu.alloc : !l0a
    npu.copy ins(%a : !l1) outs(%l0a : !l0a)
    %l0b = npu.alloc : !l0b
    npu.copy ins(%b : !l1) outs(%l0b : !l0b)
    %acc = npu.alloc : !acc
    npu.mmad ins(%l0a, %l0b : !l0a, !l0b) init %true outs(%acc : !acc)
    npu.fixpipe ins(%acc : !acc) outs(%y : !gm)
  }
  func.return
}
