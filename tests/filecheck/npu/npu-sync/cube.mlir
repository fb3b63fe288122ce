// RUN: fuse-opt %s -p npu-sync | filecheck %s

// Output tiles, a loop over K with double buffers in l1, a loop over K with double buffers in L0. The
// flags of the inner loops are raised before the outermost loop and stay raised between their runs;
// products into one accumulator need no barrier. %acc has one copy, so the next tile waits for fixpipe.

// CHECK-LABEL: func.func @matmul(
// CHECK-DAG:     npu.set_flag <m> to <mte1> id 0 copies 2
// CHECK-DAG:     npu.set_flag <mte1> to <mte2> id 0 copies 2
// CHECK-DAG:     npu.set_flag <fix> to <m> id 0
// CHECK:         scf.for %t =
// CHECK:           %acc = npu.alloc
// CHECK-NEXT:      npu.wait_flag <fix> to <m> id 0
// CHECK-NEXT:      scf.for %k =
// CHECK:             npu.wait_flag <mte1> to <mte2> id 0 slot(%la
// CHECK-NEXT:        npu.load
// CHECK-NEXT:        npu.load
// CHECK-NEXT:        npu.set_flag <mte2> to <mte1> id 0 slot(%la
// CHECK-NEXT:        npu.wait_flag <mte2> to <mte1> id 0 slot(%la
// CHECK-NEXT:        scf.for %j =
// CHECK:               npu.wait_flag <m> to <mte1> id 0 slot(%a0
// CHECK-NEXT:          npu.copy
// CHECK-NEXT:          npu.copy
// CHECK-NEXT:          npu.set_flag <mte1> to <m> id 0 slot(%a0
// CHECK-NEXT:          npu.wait_flag <mte1> to <m> id 0 slot(%a0
// CHECK-NEXT:          npu.mmad
// CHECK-NEXT:          npu.set_flag <m> to <mte1> id 0 slot(%a0
// CHECK-NEXT:        }
// CHECK-NEXT:        npu.set_flag <mte1> to <mte2> id 0 slot(%la
// CHECK-NEXT:      }
// CHECK-NEXT:      npu.set_flag <m> to <fix> id 0
// CHECK:           npu.wait_flag <m> to <fix> id 0
// CHECK-NEXT:      npu.fixpipe
// CHECK-NEXT:      npu.set_flag <fix> to <m> id 0
// CHECK-NEXT:    }
// CHECK-DAG:     npu.wait_flag <m> to <mte1> id 0 copies 2
// CHECK-DAG:     npu.wait_flag <mte1> to <mte2> id 0 copies 2
// CHECK-DAG:     npu.wait_flag <fix> to <m> id 0
// CHECK:         func.return
func.func @matmul(%a: memref<64x128xf16, #npu.space<gm>>, %b: memref<128x64xf16, #npu.space<gm>>, %c: memref<64x64xf16, #npu.space<gm>>) attributes {npu.core = "cube", npu.blocks = 3 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  scf.for %t = %block to %c4 step %blocks {
    %tm = arith.divui %t, %c2 : index
    %tn = arith.remui %t, %c2 : index
    %m = arith.muli %tm, %c32 : index
    %n = arith.muli %tn, %c32 : index
    %acc = npu.alloc at 0 : memref<32x32xf32, #npu.space<l0c>>
    scf.for %k = %c0 to %c128 step %c32 {
      %new = arith.cmpi eq, %k, %c0 : index
      %la = npu.alloc at 0 copies 2 : memref<32x32xf16, #npu.space<l1>>
      %lb = npu.alloc at 4096 copies 2 : memref<32x32xf16, #npu.space<l1>>
      %va = memref.subview %a[%m, %k] [32, 32] [1, 1] : memref<64x128xf16, #npu.space<gm>> to memref<32x32xf16, strided<[128, 1], offset: ?>, #npu.space<gm>>
      %vb = memref.subview %b[%k, %n] [32, 32] [1, 1] : memref<128x64xf16, #npu.space<gm>> to memref<32x32xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>
      npu.load ins(%va : memref<32x32xf16, strided<[128, 1], offset: ?>, #npu.space<gm>>) outs(%la : memref<32x32xf16, #npu.space<l1>>)
      npu.load ins(%vb : memref<32x32xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>) outs(%lb : memref<32x32xf16, #npu.space<l1>>)
      scf.for %j = %c0 to %c32 step %c16 {
        %start = arith.cmpi eq, %j, %c0 : index
        %first = arith.andi %new, %start : i1
        %a0 = npu.alloc at 0 copies 2 : memref<32x16xf16, #npu.space<l0a>>
        %b0 = npu.alloc at 0 copies 2 : memref<16x32xf16, #npu.space<l0b>>
        %pa = memref.subview %la[0, %j] [32, 16] [1, 1] : memref<32x32xf16, #npu.space<l1>> to memref<32x16xf16, strided<[32, 1], offset: ?>, #npu.space<l1>>
        %pb = memref.subview %lb[%j, 0] [16, 32] [1, 1] : memref<32x32xf16, #npu.space<l1>> to memref<16x32xf16, strided<[32, 1], offset: ?>, #npu.space<l1>>
        npu.copy ins(%pa : memref<32x16xf16, strided<[32, 1], offset: ?>, #npu.space<l1>>) outs(%a0 : memref<32x16xf16, #npu.space<l0a>>)
        npu.copy ins(%pb : memref<16x32xf16, strided<[32, 1], offset: ?>, #npu.space<l1>>) outs(%b0 : memref<16x32xf16, #npu.space<l0b>>)
        npu.mmad ins(%a0, %b0 : memref<32x16xf16, #npu.space<l0a>>, memref<16x32xf16, #npu.space<l0b>>) init %first outs(%acc : memref<32x32xf32, #npu.space<l0c>>)
      }
    }
    %vc = memref.subview %c[%m, %n] [32, 32] [1, 1] : memref<64x64xf16, #npu.space<gm>> to memref<32x32xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>
    npu.fixpipe ins(%acc : memref<32x32xf32, #npu.space<l0c>>) outs(%vc : memref<32x32xf16, strided<[64, 1], offset: ?>, #npu.space<gm>>)
  }
  func.return
}

// A bias is loaded once for each tile, before the loop over K that runs twice: the flag for the operands
// covers it, since it was loaded before them. Its release is a flag of the outer loop.

// CHECK-LABEL: func.func @bias(
// CHECK:         scf.for %t =
// CHECK:           npu.wait_flag <m> to <mte2> id {{.}}
// CHECK-NEXT:      npu.load ins(%bias
// CHECK-NEXT:      npu.wait_flag <fix> to <m>
// CHECK-NEXT:      scf.for %k =
// CHECK:             npu.load ins(%a
// CHECK-NEXT:        npu.set_flag <mte2> to <mte1>
// CHECK:             npu.copy
// CHECK-NEXT:        npu.set_flag <mte1> to <m> id 0
// CHECK:             npu.wait_flag <mte1> to <m> id 0
// CHECK-NEXT:        npu.mmad
// CHECK-NEXT:        npu.set_flag <m> to <mte1> id 0
// CHECK-NEXT:      }
// CHECK-NEXT:      npu.set_flag <m> to <fix>
// CHECK-NEXT:      npu.set_flag <m> to <mte2>
func.func @bias(%a: memref<16x16xf16, #npu.space<gm>>, %bias: memref<16xf32, #npu.space<gm>>, %c: memref<16x16xf32, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b0 = npu.alloc at 0 : memref<16x16xf16, #npu.space<l0b>>
  scf.for %t = %c0 to %c2 step %c1 {
    %l = npu.alloc at 2048 : memref<16xf32, #npu.space<l1>>
    %acc = npu.alloc at 0 : memref<16x16xf32, #npu.space<l0c>>
    npu.load ins(%bias : memref<16xf32, #npu.space<gm>>) outs(%l : memref<16xf32, #npu.space<l1>>)
    scf.for %k = %c0 to %c2 step %c1 {
      %first = arith.cmpi eq, %k, %c0 : index
      %la = npu.alloc at 0 : memref<16x16xf16, #npu.space<l1>>
      %a0 = npu.alloc at 0 : memref<16x16xf16, #npu.space<l0a>>
      npu.load ins(%a : memref<16x16xf16, #npu.space<gm>>) outs(%la : memref<16x16xf16, #npu.space<l1>>)
      npu.copy ins(%la : memref<16x16xf16, #npu.space<l1>>) outs(%a0 : memref<16x16xf16, #npu.space<l0a>>)
      npu.mmad ins(%a0, %b0 : memref<16x16xf16, #npu.space<l0a>>, memref<16x16xf16, #npu.space<l0b>>) bias(%l : memref<16xf32, #npu.space<l1>>) init %first outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
    }
    npu.fixpipe ins(%acc : memref<16x16xf32, #npu.space<l0c>>) outs(%c : memref<16x16xf32, #npu.space<gm>>)
  }
  func.return
}
