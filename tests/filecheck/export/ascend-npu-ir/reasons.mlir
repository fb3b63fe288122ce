// What HIVM cannot say is a comment with the reason, and the other kernels are written.
//
// RUN: fuse-opt %s -t ascend-npu-ir --split-input-file | filecheck %s

// CHECK:      // cut cannot be said in AscendNPU IR: {{.*}}'npu.mmad' in @cut on ({{.*}}): an operand of the cube core is a part of a buffer that does not begin with it
// CHECK-NEXT: module {
// CHECK-NEXT: // fine: route compile
// CHECK-NOT:  @cut
!a = memref<64x64xf16, #npu.space<gm>>
!y = memref<32x64xf32, #npu.space<gm>>
!l = memref<64x64xf16, #npu.space<l1>>
!ls = memref<32x64xf16, strided<[64, 1], offset: 2048>, #npu.space<l1>>
!acc = memref<32x64xf32, #npu.space<l0c>>
func.func @cut(%a: !a, %out: !y) attributes {npu.core = "cube", npu.blocks = 1 : i64} {
  %true = arith.constant true
  %l = npu.alloc : !l
  npu.load ins(%a : !a) outs(%l : !l)
  %part = memref.subview %l[32, 0] [32, 64] [1, 1] : !l to !ls
  %acc = npu.alloc : !acc
  npu.mmad ins(%part, %l : !ls, !l) init %true outs(%acc : !acc) l0 [64]
  npu.fixpipe ins(%acc : !acc) outs(%out : !y)
  func.return
}

func.func @fine(%a: !y, %out: !y) attributes {npu.core = "vector", npu.blocks = 1 : i64} {
  %u = npu.alloc : memref<32x64xf32, #npu.space<ub>>
  npu.load ins(%a : !y) outs(%u : memref<32x64xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<32x64xf32, #npu.space<ub>>) outs(%out : !y)
  func.return
}

// -----

// CHECK: // spread cannot be said in AscendNPU IR: {{.*}}: HIVM takes no stride of 0; load once and broadcast
!g = memref<64xf32, #npu.space<gm>>
!z = memref<8x64xf32, strided<[0, 1]>, #npu.space<gm>>
!u = memref<8x64xf32, #npu.space<ub>>
func.func @spread(%a: !g, %out: memref<8x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %z = memref.reinterpret_cast %a to offset: [0], sizes: [8, 64], strides: [0, 1] : !g to !z
  %u = npu.alloc : !u
  npu.load ins(%z : !z) outs(%u : !u)
  npu.store ins(%u : !u) outs(%out : memref<8x64xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: // compare cannot be said in AscendNPU IR: {{.*}}: the instruction does not broadcast; spread the operand by vbrc before
!g = memref<8x64xf32, #npu.space<gm>>
!u = memref<8x64xf32, #npu.space<ub>>
!r = memref<1x64xf32, #npu.space<ub>>
func.func @compare(%a: !g, %b: memref<1x64xf32, #npu.space<gm>>, %out: !g) attributes {npu.core = "vector"} {
  %u = npu.alloc : !u
  npu.load ins(%a : !g) outs(%u : !u)
  %r = npu.alloc : !r
  npu.load ins(%b : memref<1x64xf32, #npu.space<gm>>) outs(%r : !r)
  %m = npu.alloc : memref<8x64xi1, #npu.space<ub>>
  npu.vcmp "gt" ins(%u, %r : !u, !r) outs(%m : memref<8x64xi1, #npu.space<ub>>)
  npu.vsel ins(%m, %u, %u : memref<8x64xi1, #npu.space<ub>>, !u, !u) outs(%u : !u)
  npu.store ins(%u : !u) outs(%out : !g)
  func.return
}
