// An i1 in gm is a byte, and so is what is loaded from or stored to it; a mask is a bit.
//
// RUN: fuse-opt %s -t ascend-npu-ir --split-input-file | filecheck %s

// CHECK:      func.func @select(%c: memref<64x96xi8, #hivm.address_space<gm>>
// CHECK:        %cb = memref.alloc() : memref<64x96xi8, #hivm.address_space<ub>>
// CHECK-NEXT:   hivm.hir.load ins(%c : memref<64x96xi8, #hivm.address_space<gm>>) outs(%cb : memref<64x96xi8, #hivm.address_space<ub>>)
// CHECK:        hivm.hir.vcast ins(%cb : memref<64x96xi8, #hivm.address_space<ub>>) outs(%h : memref<64x96xf16, #hivm.address_space<ub>>)
// CHECK:        %m = memref.alloc() : memref<64x96xi1, #hivm.address_space<ub>>
// CHECK-NEXT:   hivm.hir.vcmp ins(%h, %z : memref<64x96xf16, #hivm.address_space<ub>>, f16) outs(%m : memref<64x96xi1, #hivm.address_space<ub>>) compare_mode = <ne>
// CHECK-NEXT:   hivm.hir.vsel ins(%m, %x1, %zero : memref<64x96xi1, #hivm.address_space<ub>>, memref<64x96xf32, #hivm.address_space<ub>>, f32)
!b = memref<64x96xi1, #npu.space<gm>>
!g = memref<64x96xf32, #npu.space<gm>>
!ub = memref<64x96xi1, #npu.space<ub>>
!uh = memref<64x96xf16, #npu.space<ub>>
!u = memref<64x96xf32, #npu.space<ub>>
func.func @select(%c: !b, %x: !g, %out: !g) attributes {npu.core = "vector", npu.blocks = 1 : i64} {
  %z = arith.constant 0.000000e+00 : f16
  %zero = arith.constant 0.000000e+00 : f32
  %cb = npu.alloc : !ub
  npu.load ins(%c : !b) outs(%cb : !ub)
  %x1 = npu.alloc : !u
  npu.load ins(%x : !g) outs(%x1 : !u)
  %h = npu.alloc : !uh
  npu.vcast ins(%cb : !ub) outs(%h : !uh)
  %m = npu.alloc : !ub
  npu.vcmp "ne" ins(%h, %z : !uh, f16) outs(%m : !ub)
  npu.vsel ins(%m, %x1, %zero : !ub, !u, f32) outs(%x1 : !u)
  npu.store ins(%x1 : !u) outs(%out : !g)
  func.return
}

// -----

// CHECK: // mask cannot be said in AscendNPU IR: {{.*}}: booleans in gm are bytes; compare them with 0 before they are used as a mask
!b = memref<64x96xi1, #npu.space<gm>>
!ub = memref<64x96xi1, #npu.space<ub>>
func.func @mask(%c: !b, %out: !b) attributes {npu.core = "vector", npu.blocks = 1 : i64} {
  %cb = npu.alloc : !ub
  npu.load ins(%c : !b) outs(%cb : !ub)
  npu.vnot ins(%cb : !ub) outs(%cb : !ub)
  npu.store ins(%cb : !ub) outs(%out : !b)
  func.return
}
