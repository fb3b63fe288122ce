// RUN: fuse-opt %s | fuse-opt | filecheck %s

!x = memref<4x8xf32, #npu.space<gm>>
!part = memref<2x8xf32, strided<[8, 1], offset: 16>, #npu.space<gm>>
!u = memref<4xui8, #npu.space<gm>>

// CHECK-LABEL: @main
// CHECK:         npu.host_call "Frob" opset 3 onnx "0A0B" ins(%x : memref<4x8xf32, #npu.space<gm>>) outs(%y, %z : memref<4x8xf32, #npu.space<gm>>, memref<4xui8, #npu.space<gm>>)
// CHECK-NEXT:    npu.host_call "Source" domain "my.ops" opset 1 onnx "00" outs(%z : memref<4xui8, #npu.space<gm>>)
// Part of a buffer, in one run.
// CHECK:         npu.host_call "Frob" opset 3 onnx "0A0B" ins(%x : {{.*}}) outs(%p : memref<2x8xf32, strided<[8, 1], offset: 16>, #npu.space<gm>>)
func.func @main(%x: !x {npu.input = "x"}, %y: !x {npu.output = "y"}, %z: !u {npu.output = "z"}) attributes {npu.host} {
  npu.host_call "Frob" opset 3 onnx "0A0B" ins(%x : !x) outs(%y, %z : !x, !u)
  npu.host_call "Source" domain "my.ops" opset 1 onnx "00" outs(%z : !u)
  %p = memref.reinterpret_cast %y to offset: [16], sizes: [2, 8], strides: [8, 1] : !x to !part
  npu.host_call "Frob" opset 3 onnx "0A0B" ins(%x : !x) outs(%p : !part)
  func.return
}
