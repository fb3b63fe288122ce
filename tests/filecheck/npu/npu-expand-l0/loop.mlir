// An mmad on l1 becomes a loop over K with tiles in l0a and l0b.
//
// RUN: fuse-opt %s -p npu-expand-l0 | filecheck %s
// RUN: fuse-opt %s -p npu-expand-l0,npu-verify
// RUN: fuse-opt %s -p 'npu-expand-l0{copies=1}' | filecheck %s --check-prefix=SINGLE

!ga = memref<64x256xf16, #npu.space<gm>>
!gb = memref<256x96xf16, #npu.space<gm>>
!gy = memref<64x96xf32, #npu.space<gm>>
!a = memref<64x256xf16, #npu.space<l1>>
!b = memref<256x96xf16, #npu.space<l1>>
!acc = memref<64x96xf32, #npu.space<l0c>>

// K is a multiple of the step: every size is static.
// CHECK-LABEL: func.func @even
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c64 = arith.constant 64 : index
// CHECK-NEXT:    %c256 = arith.constant 256 : index
// CHECK-NEXT:    %true = arith.constant true
// CHECK:         scf.for %k = %c0 to %c256 step %c64 {
// CHECK-NEXT:      [[FIRST:%[0-9]+]] = arith.cmpi eq, %k, %c0 : index
// CHECK-NEXT:      %l0a = npu.alloc copies 2 : memref<64x64xf16, #npu.space<l0a>>
// CHECK-NEXT:      [[A:%[0-9]+]] = memref.subview %a[0, %k] [64, 64] [1, 1] : memref<64x256xf16, #npu.space<l1>> to memref<64x64xf16, strided<[256, 1], offset: ?>, #npu.space<l1>>
// CHECK-NEXT:      npu.copy ins([[A]] : {{.*}}) outs(%l0a : memref<64x64xf16, #npu.space<l0a>>)
// CHECK-NEXT:      %l0b = npu.alloc copies 2 : memref<64x96xf16, #npu.space<l0b>>
// CHECK-NEXT:      [[B:%[0-9]+]] = memref.subview %b[%k, 0] [64, 96] [1, 1] : memref<256x96xf16, #npu.space<l1>> to memref<64x96xf16, strided<[96, 1], offset: ?>, #npu.space<l1>>
// CHECK-NEXT:      npu.copy ins([[B]] : {{.*}}) outs(%l0b : memref<64x96xf16, #npu.space<l0b>>)
// CHECK-NEXT:      npu.mmad ins(%l0a, %l0b : {{.*}}) init [[FIRST]] outs(%acc : memref<64x96xf32, #npu.space<l0c>>) {npu.note = "kept"}
// CHECK-NEXT:    }
// CHECK-NEXT:    npu.fixpipe
// SINGLE-LABEL: func.func @even
// SINGLE:        %l0a = npu.alloc : memref
// SINGLE:        %l0b = npu.alloc : memref
func.func @even(%x: !ga, %w: !gb, %y: !gy) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : !a
  npu.load ins(%x : !ga) outs(%a : !a)
  %b = npu.alloc : !b
  npu.load ins(%w : !gb) outs(%b : !b)
  %acc = npu.alloc : !acc
  npu.mmad ins(%a, %b : !a, !b) init %true outs(%acc : !acc) l0 [64] {npu.note = "kept"}
  npu.fixpipe ins(%acc : !acc) outs(%y : !gy)
  func.return
}

// 256 = 2 x 96 + 64: the tail is a sub-view. The operand's own `init` holds in the first step only.
// CHECK-LABEL: func.func @tail
// CHECK:         scf.for %k = %c0 to %c256 step %c96 {
// CHECK-NEXT:      [[REST:%[0-9]+]] = arith.subi %c256, %k : index
// CHECK-NEXT:      [[SIZE:%[0-9]+]] = arith.minsi [[REST]], %c96 : index
// CHECK-NEXT:      [[FIRST:%[0-9]+]] = arith.cmpi eq, %k, %c0 : index
// CHECK-NEXT:      [[INIT:%[0-9]+]] = arith.andi %init, [[FIRST]] : i1
// CHECK-NEXT:      %l0a = npu.alloc copies 2 : memref<64x96xf16, #npu.space<l0a>>
// CHECK-NEXT:      memref.subview %l0a[0, 0] [64, [[SIZE]]] [1, 1] {{.*}} to memref<64x?xf16, strided<[96, 1]>, #npu.space<l0a>>
// CHECK-NEXT:      memref.subview %a[0, %k] [64, [[SIZE]]] [1, 1]
// CHECK-NEXT:      npu.copy
// CHECK-NEXT:      %l0b = npu.alloc copies 2 : memref<96x96xf16, #npu.space<l0b>>
// CHECK-NEXT:      memref.subview %l0b[0, 0] {{\[}}[[SIZE]], 96] [1, 1]
// CHECK-NEXT:      memref.subview %b[%k, 0] {{\[}}[[SIZE]], 96] [1, 1]
// CHECK-NEXT:      npu.copy
// CHECK-NEXT:      npu.mmad {{.*}} init [[INIT]] outs(%acc
func.func @tail(%x: !ga, %w: !gb, %y: !gy) attributes {npu.core = "cube"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %acc = npu.alloc : !acc
  scf.for %t = %c0 to %c3 step %c1 {
    %init = arith.cmpi eq, %t, %c0 : index
    %a = npu.alloc : !a
    npu.load ins(%x : !ga) outs(%a : !a)
    %b = npu.alloc : !b
    npu.load ins(%w : !gb) outs(%b : !b)
    npu.mmad ins(%a, %b : !a, !b) init %init outs(%acc : !acc) l0 [96]
  }
  npu.fixpipe ins(%acc : !acc) outs(%y : !gy)
  func.return
}

// Sizes that are values: the loop ends at the real K, the tiles have the capacity.
// CHECK-LABEL: func.func @dynamic
// CHECK:         scf.for %k = %c0 to %kk step %c64 {
// CHECK-NEXT:      [[REST:%[0-9]+]] = arith.subi %kk, %k : index
// CHECK-NEXT:      [[SIZE:%[0-9]+]] = arith.minsi [[REST]], %c64 : index
// CHECK:           %l0a = npu.alloc copies 2 : memref<50x64xf16, #npu.space<l0a>>
// CHECK-NEXT:      memref.subview %l0a[0, 0] [%m, [[SIZE]]] [1, 1]
// CHECK-NEXT:      memref.subview %av[0, %k] [%m, [[SIZE]]] [1, 1]
// CHECK:           %l0b = npu.alloc copies 2 : memref<64x96xf16, #npu.space<l0b>>
func.func @dynamic(%x: !ga, %w: !gb, %n: memref<2xi32, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // The smaller of a value and 50: at most 50 of the 64 rows.
  %c50 = arith.constant 50 : index
  %m0 = memref.load %n[%c0] : memref<2xi32, #npu.space<gm>>
  %m1 = arith.index_cast %m0 : i32 to index
  %m = arith.minsi %m1, %c50 : index
  %k0 = memref.load %n[%c1] : memref<2xi32, #npu.space<gm>>
  %kk = arith.index_cast %k0 : i32 to index
  %a = npu.alloc : !a
  npu.load ins(%x : !ga) outs(%a : !a)
  %b = npu.alloc : !b
  npu.load ins(%w : !gb) outs(%b : !b)
  %av = memref.subview %a[0, 0] [%m, %kk] [1, 1] : !a to memref<?x?xf16, strided<[256, 1]>, #npu.space<l1>>
  %bv = memref.subview %b[0, 0] [%kk, 96] [1, 1] : !b to memref<?x96xf16, strided<[96, 1]>, #npu.space<l1>>
  %acc = npu.alloc : !acc
  %accv = memref.subview %acc[0, 0] [%m, 96] [1, 1] : !acc to memref<?x96xf32, strided<[96, 1]>, #npu.space<l0c>>
  npu.mmad ins(%av, %bv : memref<?x?xf16, strided<[256, 1]>, #npu.space<l1>>, memref<?x96xf16, strided<[96, 1]>, #npu.space<l1>>) init %true outs(%accv : memref<?x96xf32, strided<[96, 1]>, #npu.space<l0c>>) l0 [64]
  func.return
}

// The bias stays an operand: it counts where `init` is true.
// CHECK-LABEL: func.func @bias
// CHECK:           npu.mmad ins(%l0a, %l0b : {{.*}}) bias(%bias : memref<96xf32, #npu.space<l1>>) init {{%[0-9]+}} outs
func.func @bias(%x: !ga, %w: !gb, %v: memref<96xf32, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : !a
  npu.load ins(%x : !ga) outs(%a : !a)
  %b = npu.alloc : !b
  npu.load ins(%w : !gb) outs(%b : !b)
  %bias = npu.alloc : memref<96xf32, #npu.space<l1>>
  npu.load ins(%v : memref<96xf32, #npu.space<gm>>) outs(%bias : memref<96xf32, #npu.space<l1>>)
  %acc = npu.alloc : !acc
  npu.mmad ins(%a, %b : !a, !b) bias(%bias : memref<96xf32, #npu.space<l1>>) init %true outs(%acc : !acc) l0 [128]
  func.return
}

// Operands stored transposed are cut along their own K axis and transposed by the copy.
// CHECK-LABEL: func.func @transposed
// CHECK:           memref.subview %a[%k, 0] [64, 96] [1, 1]
// CHECK-NEXT:      npu.copy transpose ins({{.*}} : memref<64x96xf16, {{.*}}) outs(%l0a : memref<96x64xf16, #npu.space<l0a>>)
// CHECK:           memref.subview %b[0, %k] [64, 64] [1, 1]
// CHECK-NEXT:      npu.copy transpose ins({{.*}} : memref<64x64xf16, {{.*}}) outs(%l0b : memref<64x64xf16, #npu.space<l0b>>)
// CHECK-NEXT:      npu.mmad ins(%l0a, %l0b
func.func @transposed(%x: !ga, %w: !gb) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : !b
  npu.load ins(%w : !gb) outs(%a : !b)
  %b = npu.alloc : !a
  npu.load ins(%x : !ga) outs(%b : !a)
  %acc = npu.alloc : memref<96x64xf32, #npu.space<l0c>>
  npu.mmad a_transpose b_transpose ins(%a, %b : !b, !a) init %true outs(%acc : memref<96x64xf32, #npu.space<l0c>>) l0 [64]
  func.return
}
