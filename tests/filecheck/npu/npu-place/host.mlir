// Between kernels: gm addresses for what lives from launch to launch; inputs and outputs stay.
//
// RUN: fuse-opt %s -p npu-place | filecheck %s
// RUN: fuse-opt %s -p npu-place,npu-verify

!x = memref<100x10xf32, #npu.space<gm>>
!r = memref<10x100xf32, #npu.space<gm>>

// 4000 bytes, aligned to 512: 4096. A reshape is the same buffer.
// CHECK-LABEL: func.func @main
// CHECK:         %a = npu.alloc at 0 : memref
// CHECK:         %b = npu.alloc at 4096 : memref
// CHECK:         %c = npu.alloc at 0 : memref
// CHECK:         %d = npu.alloc at 4096 : memref
func.func @main(%x: !x {npu.input = "x"}, %y: !x {npu.output = "y"}) attributes {npu.host} {
  %a = npu.alloc : !x
  %b = npu.alloc : !x
  %c = npu.alloc : !x
  %d = npu.alloc : !x
  npu.launch @copy blocks(1) (%x, %a : !x, !x)
  %ar = memref.reinterpret_cast %a to offset: [0], sizes: [10, 100], strides: [100, 1] : !x to !r
  npu.launch @reshaped blocks(1) (%ar, %b : !r, !x)
  npu.launch @copy blocks(1) (%b, %c : !x, !x)
  npu.launch @copy blocks(1) (%c, %d : !x, !x)
  npu.launch @copy blocks(1) (%d, %y : !x, !x)
  func.return
}
func.func @copy(%x: !x, %y: !x) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<100x10xf32, #npu.space<ub>>
  npu.load ins(%x : !x) outs(%u : memref<100x10xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<100x10xf32, #npu.space<ub>>) outs(%y : !x)
  func.return
}
func.func @reshaped(%x: !r, %y: !x) attributes {npu.core = "vector"} {
  %xr = memref.reinterpret_cast %x to offset: [0], sizes: [100, 10], strides: [10, 1] : !r to memref<100x10xf32, strided<[10, 1]>, #npu.space<gm>>
  %u = npu.alloc : memref<100x10xf32, #npu.space<ub>>
  npu.load ins(%xr : memref<100x10xf32, strided<[10, 1]>, #npu.space<gm>>) outs(%u : memref<100x10xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<100x10xf32, #npu.space<ub>>) outs(%y : !x)
  func.return
}
