// Where K fits one step there is no loop, and the tiles rotate in the loop around the mmad.
//
// RUN: fuse-opt %s -p npu-expand-l0 | filecheck %s
// RUN: fuse-opt %s -p npu-expand-l0,npu-expand-l0 | filecheck %s

!ga = memref<64x64xf16, #npu.space<gm>>
!a = memref<64x64xf16, #npu.space<l1>>
!acc = memref<64x64xf32, #npu.space<l0c>>

// CHECK-LABEL: func.func @rotate
// CHECK:         scf.for %t
// CHECK:           %init = arith.cmpi
// CHECK-NEXT:      %l0a = npu.alloc copies 2 : memref<64x64xf16, #npu.space<l0a>>
// CHECK-NEXT:      npu.copy ins(%a : memref<64x64xf16, #npu.space<l1>>) outs(%l0a
// CHECK-NEXT:      %l0b = npu.alloc copies 2 : memref<64x64xf16, #npu.space<l0b>>
// CHECK-NEXT:      npu.copy ins(%a : memref<64x64xf16, #npu.space<l1>>) outs(%l0b
// CHECK-NEXT:      npu.mmad ins(%l0a, %l0b : {{.*}}) init %init outs(%acc
// CHECK-NEXT:    }
func.func @rotate(%x: !ga) attributes {npu.core = "cube"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %acc = npu.alloc : !acc
  scf.for %t = %c0 to %c3 step %c1 {
    %a = npu.alloc : !a
    npu.load ins(%x : !ga) outs(%a : !a)
    %init = arith.cmpi eq, %t, %c0 : index
    npu.mmad ins(%a, %a : !a, !a) init %init outs(%acc : !acc) l0 [64]
  }
  func.return
}

// The schedule switches rotation off.
// CHECK-LABEL: func.func @single
// CHECK:           %l0a = npu.alloc : memref
// CHECK:           %l0b = npu.alloc : memref
func.func @single(%x: !ga) attributes {npu.core = "cube", npu.schedule = #npu.schedule<"cube", {copies = 1 : i64}>} {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %t = %c0 to %c3 step %c1 {
    %a = npu.alloc : !a
    npu.load ins(%x : !ga) outs(%a : !a)
    %acc = npu.alloc : !acc
    npu.mmad ins(%a, %a : !a, !a) init %true outs(%acc : !acc) l0 [64]
  }
  func.return
}

// A step beyond K is K, whole fractals or not; a K that is a value needs its views all the same.
// CHECK-LABEL: func.func @odd
// CHECK-NOT:     scf.for
// CHECK:         %l0a = npu.alloc : memref<25x50xf16, #npu.space<l0a>>
// CHECK:         %l0b = npu.alloc : memref<50x20xf16, #npu.space<l0b>>
// CHECK:         %l0a_1 = npu.alloc : memref<25x50xf16, #npu.space<l0a>>
// CHECK-NEXT:    memref.subview %l0a_1[0, 0] [25, %kk] [1, 1]
// CHECK-NOT:     scf.for
func.func @odd(%x: memref<25x50xf16, #npu.space<gm>>, %w: memref<50x20xf16, #npu.space<gm>>, %n: memref<1xi32, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %k0 = memref.load %n[%c0] : memref<1xi32, #npu.space<gm>>
  %kk = arith.index_cast %k0 : i32 to index
  %a = npu.alloc : memref<25x50xf16, #npu.space<l1>>
  npu.load ins(%x : memref<25x50xf16, #npu.space<gm>>) outs(%a : memref<25x50xf16, #npu.space<l1>>)
  %b = npu.alloc : memref<50x20xf16, #npu.space<l1>>
  npu.load ins(%w : memref<50x20xf16, #npu.space<gm>>) outs(%b : memref<50x20xf16, #npu.space<l1>>)
  %acc = npu.alloc : memref<25x20xf32, #npu.space<l0c>>
  npu.mmad ins(%a, %b : memref<25x50xf16, #npu.space<l1>>, memref<50x20xf16, #npu.space<l1>>) init %true outs(%acc : memref<25x20xf32, #npu.space<l0c>>) l0 [100]
  %av = memref.subview %a[0, 0] [25, %kk] [1, 1] : memref<25x50xf16, #npu.space<l1>> to memref<25x?xf16, strided<[50, 1]>, #npu.space<l1>>
  %bv = memref.subview %b[0, 0] [%kk, 20] [1, 1] : memref<50x20xf16, #npu.space<l1>> to memref<?x20xf16, strided<[20, 1]>, #npu.space<l1>>
  npu.mmad ins(%av, %bv : memref<25x?xf16, strided<[50, 1]>, #npu.space<l1>>, memref<?x20xf16, strided<[20, 1]>, #npu.space<l1>>) init %true outs(%acc : memref<25x20xf32, #npu.space<l0c>>) l0 [64]
  func.return
}

// The K of b, 40 of 64 at most, is known better than that of a: one step of 48 holds it.
// CHECK-LABEL: func.func @smaller_b
// CHECK-NOT:     scf.for
// CHECK:         npu.alloc : memref<25x40xf16, #npu.space<l0a>>
// CHECK:         npu.alloc : memref<40x20xf16, #npu.space<l0b>>
func.func @smaller_b(%x: memref<25x64xf16, #npu.space<gm>>, %w: memref<40x20xf16, #npu.space<gm>>, %n: memref<1xi32, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %k0 = memref.load %n[%c0] : memref<1xi32, #npu.space<gm>>
  %kk = arith.index_cast %k0 : i32 to index
  %a = npu.alloc : memref<25x64xf16, #npu.space<l1>>
  npu.load ins(%x : memref<25x64xf16, #npu.space<gm>>) outs(%a : memref<25x64xf16, #npu.space<l1>>)
  %b = npu.alloc : memref<40x20xf16, #npu.space<l1>>
  npu.load ins(%w : memref<40x20xf16, #npu.space<gm>>) outs(%b : memref<40x20xf16, #npu.space<l1>>)
  %acc = npu.alloc : memref<25x20xf32, #npu.space<l0c>>
  %av = memref.subview %a[0, 0] [25, %kk] [1, 1] : memref<25x64xf16, #npu.space<l1>> to memref<25x?xf16, strided<[64, 1]>, #npu.space<l1>>
  %bv = memref.subview %b[0, 0] [%kk, 20] [1, 1] : memref<40x20xf16, #npu.space<l1>> to memref<?x20xf16, strided<[20, 1]>, #npu.space<l1>>
  npu.mmad ins(%av, %bv : memref<25x?xf16, strided<[64, 1]>, #npu.space<l1>>, memref<?x20xf16, strided<[20, 1]>, #npu.space<l1>>) init %true outs(%acc : memref<25x20xf32, #npu.space<l0c>>) l0 [48]
  func.return
}

// Without `l0` the step is the largest of which two tiles fit 64 KB: 32 KB / 2 bytes / 256 columns.
// CHECK-LABEL: func.func @default_step
// CHECK:         scf.for %k = %c0 to %c512 step %c64
// CHECK:           npu.alloc copies 2 : memref<128x64xf16, #npu.space<l0a>>
// CHECK:           npu.alloc copies 2 : memref<64x256xf16, #npu.space<l0b>>
func.func @default_step(%x: memref<128x512xf16, #npu.space<gm>>, %w: memref<512x256xf16, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : memref<128x512xf16, #npu.space<l1>>
  npu.load ins(%x : memref<128x512xf16, #npu.space<gm>>) outs(%a : memref<128x512xf16, #npu.space<l1>>)
  %b = npu.alloc : memref<512x256xf16, #npu.space<l1>>
  npu.load ins(%w : memref<512x256xf16, #npu.space<gm>>) outs(%b : memref<512x256xf16, #npu.space<l1>>)
  %acc = npu.alloc : memref<128x256xf32, #npu.space<l0c>>
  npu.mmad ins(%a, %b : memref<128x512xf16, #npu.space<l1>>, memref<512x256xf16, #npu.space<l1>>) init %true outs(%acc : memref<128x256xf32, #npu.space<l0c>>)
  func.return
}

// Two tiles of 64 KB do not fit: one copy of b, two of a.
// CHECK-LABEL: func.func @large_step
// CHECK:           npu.alloc copies 2 : memref<16x128xf16, #npu.space<l0a>>
// CHECK:           npu.alloc : memref<128x256xf16, #npu.space<l0b>>
func.func @large_step(%x: memref<16x512xf16, #npu.space<gm>>, %w: memref<512x256xf16, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : memref<16x512xf16, #npu.space<l1>>
  npu.load ins(%x : memref<16x512xf16, #npu.space<gm>>) outs(%a : memref<16x512xf16, #npu.space<l1>>)
  %b = npu.alloc : memref<512x256xf16, #npu.space<l1>>
  npu.load ins(%w : memref<512x256xf16, #npu.space<gm>>) outs(%b : memref<512x256xf16, #npu.space<l1>>)
  %acc = npu.alloc : memref<16x256xf32, #npu.space<l0c>>
  npu.mmad ins(%a, %b : memref<16x512xf16, #npu.space<l1>>, memref<512x256xf16, #npu.space<l1>>) init %true outs(%acc : memref<16x256xf32, #npu.space<l0c>>) l0 [128]
  func.return
}

// An mmad on L0, and a function that is no kernel, are left alone.
// CHECK-LABEL: func.func @on_l0
// CHECK-NOT:     npu.copy
// CHECK-LABEL: func.func @helper
// CHECK:         npu.mmad {{.*}} l0 [16]
func.func @on_l0(%a: memref<16x16xf16, #npu.space<l0a>>, %b: memref<16x16xf16, #npu.space<l0b>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %acc = npu.alloc : memref<16x16xf32, #npu.space<l0c>>
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l0a>>, memref<16x16xf16, #npu.space<l0b>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}
func.func @helper(%a: !a, %acc: !acc, %i: i1) {
  npu.mmad ins(%a, %a : !a, !a) init %i outs(%acc : !acc) l0 [16]
  func.return
}
