// RUN: fuse-opt %s -p npu-sync,npu-verify | filecheck %s

// A straight chain: a flag between two pipes, a barrier between dependent operators of one pipe, none
// between independent ones. The flag for %a covers %b, which was loaded before it.

// CHECK-LABEL: func.func @chain(
// CHECK:         npu.load ins(%y {{.*}} outs(%b
// CHECK-NEXT:    npu.load ins(%x {{.*}} outs(%a
// CHECK-NEXT:    npu.set_flag <mte2> to <v> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <v> id 0
// CHECK-NEXT:    npu.vadd ins(%a, %b
// CHECK-NEXT:    npu.vmul ins(%a, %b
// CHECK-NEXT:    npu.barrier <v>
// CHECK-NEXT:    npu.vmax ins(%c, %d
// CHECK-NEXT:    npu.set_flag <v> to <mte3> id 0
// CHECK-NEXT:    npu.vabs ins(%b {{.*}} outs(%b
// CHECK-NEXT:    npu.wait_flag <v> to <mte3> id 0
// CHECK-NEXT:    npu.store ins(%a
// CHECK-NEXT:    func.return
func.func @chain(%x: memref<8x16xf32, #npu.space<gm>>, %y: memref<8x16xf32, #npu.space<gm>>, %z: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
  %b = npu.alloc at 512 : memref<8x16xf32, #npu.space<ub>>
  %c = npu.alloc at 1024 : memref<8x16xf32, #npu.space<ub>>
  %d = npu.alloc at 1536 : memref<8x16xf32, #npu.space<ub>>
  npu.load ins(%y : memref<8x16xf32, #npu.space<gm>>) outs(%b : memref<8x16xf32, #npu.space<ub>>)
  npu.load ins(%x : memref<8x16xf32, #npu.space<gm>>) outs(%a : memref<8x16xf32, #npu.space<ub>>)
  npu.vadd ins(%a, %b : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%c : memref<8x16xf32, #npu.space<ub>>)
  npu.vmul ins(%a, %b : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%d : memref<8x16xf32, #npu.space<ub>>)
  npu.vmax ins(%c, %d : memref<8x16xf32, #npu.space<ub>>, memref<8x16xf32, #npu.space<ub>>) outs(%a : memref<8x16xf32, #npu.space<ub>>)
  npu.vabs ins(%b : memref<8x16xf32, #npu.space<ub>>) outs(%b : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%a : memref<8x16xf32, #npu.space<ub>>) outs(%z : memref<8x16xf32, #npu.space<gm>>)
  func.return
}

// Two buffers at one address, as npu-place puts them where they are not alive at once: the second is
// loaded only after the first was stored.

// CHECK-LABEL: func.func @shared_address(
// CHECK:         npu.load ins(%x
// CHECK-NEXT:    npu.set_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <mte3> id 0
// CHECK-NEXT:    npu.store ins(%a
// CHECK-NEXT:    npu.set_flag <mte3> to <mte2> id 0
// CHECK-NEXT:    npu.wait_flag <mte3> to <mte2> id 0
// CHECK-NEXT:    npu.load ins(%y
// CHECK-NEXT:    npu.set_flag <mte2> to <v> id 0
// CHECK-NEXT:    npu.wait_flag <mte2> to <v> id 0
// CHECK-NEXT:    npu.vabs
// CHECK-NOT:     npu.set_flag
func.func @shared_address(%x: memref<8x16xf32, #npu.space<gm>>, %y: memref<8x8xf32, #npu.space<gm>>, %z: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
  %b = npu.alloc at 256 : memref<8x8xf32, #npu.space<ub>>
  %c = npu.alloc at 512 : memref<8x8xf32, #npu.space<ub>>
  npu.load ins(%x : memref<8x16xf32, #npu.space<gm>>) outs(%a : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%a : memref<8x16xf32, #npu.space<ub>>) outs(%z : memref<8x16xf32, #npu.space<gm>>)
  npu.load ins(%y : memref<8x8xf32, #npu.space<gm>>) outs(%b : memref<8x8xf32, #npu.space<ub>>)
  npu.vabs ins(%b : memref<8x8xf32, #npu.space<ub>>) outs(%c : memref<8x8xf32, #npu.space<ub>>)
  func.return
}

// Disjoint sub-views of one buffer do not conflict; overlapping ones do.

// CHECK-LABEL: func.func @sub_views(
// CHECK:         npu.load
// CHECK-NOT:     npu.barrier
// CHECK:         npu.load
// CHECK-NEXT:    npu.barrier <mte2>
// CHECK-NEXT:    npu.load
// CHECK-NEXT:    func.return
func.func @sub_views(%x: memref<4x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
  %top = memref.subview %a[0, 0] [4, 16] [1, 1] : memref<8x16xf32, #npu.space<ub>> to memref<4x16xf32, strided<[16, 1]>, #npu.space<ub>>
  %bottom = memref.subview %a[4, 0] [4, 16] [1, 1] : memref<8x16xf32, #npu.space<ub>> to memref<4x16xf32, strided<[16, 1], offset: 64>, #npu.space<ub>>
  %middle = memref.subview %a[3, 0] [4, 16] [1, 1] : memref<8x16xf32, #npu.space<ub>> to memref<4x16xf32, strided<[16, 1], offset: 48>, #npu.space<ub>>
  npu.load ins(%x : memref<4x16xf32, #npu.space<gm>>) outs(%top : memref<4x16xf32, strided<[16, 1]>, #npu.space<ub>>)
  npu.load ins(%x : memref<4x16xf32, #npu.space<gm>>) outs(%bottom : memref<4x16xf32, strided<[16, 1], offset: 64>, #npu.space<ub>>)
  npu.load ins(%x : memref<4x16xf32, #npu.space<gm>>) outs(%middle : memref<4x16xf32, strided<[16, 1], offset: 48>, #npu.space<ub>>)
  func.return
}

// The host function and kernels without a hazard stay as they are; the numbers of events begin anew in
// each kernel.

// CHECK-LABEL: func.func @second(
// CHECK:         npu.set_flag <mte2> to <mte3> id 0
// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT:    func.return
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     flag
// CHECK:         func.return
func.func @second(%x: memref<8x16xf32, #npu.space<gm>>, %z: memref<8x16xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc at 0 : memref<8x16xf32, #npu.space<ub>>
  npu.load ins(%x : memref<8x16xf32, #npu.space<gm>>) outs(%a : memref<8x16xf32, #npu.space<ub>>)
  npu.store ins(%a : memref<8x16xf32, #npu.space<ub>>) outs(%z : memref<8x16xf32, #npu.space<gm>>)
  func.return
}
func.func @nothing() attributes {npu.core = "cube"} {
  func.return
}
func.func @main(%x: memref<8x16xf32, #npu.space<gm>> {npu.input = "x"}, %y: memref<8x16xf32, #npu.space<gm>> {npu.output = "y"}) attributes {npu.host} {
  %t = npu.alloc at 0 : memref<8x16xf32, #npu.space<gm>>
  npu.launch @second blocks(1) (%x, %t : memref<8x16xf32, #npu.space<gm>>, memref<8x16xf32, #npu.space<gm>>)
  npu.launch @second blocks(1) (%t, %y : memref<8x16xf32, #npu.space<gm>>, memref<8x16xf32, #npu.space<gm>>)
  func.return
}
