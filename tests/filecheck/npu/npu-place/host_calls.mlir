// A buffer lives from the host call that writes it to the one that reads it.
//
// RUN: fuse-opt %s -p npu-place,npu-verify | filecheck %s

!x = memref<1024xf32, #npu.space<gm>>

// CHECK: %a = npu.alloc at 0 :
// CHECK: %b = npu.alloc at 4096 :
// The first buffer is read for the last time before this one is written.
// CHECK: %c = npu.alloc at 0 :
func.func @main(%x: !x {npu.input = "x"}, %y: !x {npu.output = "y"}) attributes {npu.host} {
  %a = npu.alloc : !x
  %b = npu.alloc : !x
  %c = npu.alloc : !x
  npu.host_call "Frob" opset 1 onnx "00" ins(%x : !x) outs(%a : !x)
  npu.host_call "Frob" opset 1 onnx "00" ins(%a : !x) outs(%b : !x)
  npu.host_call "Frob" opset 1 onnx "00" ins(%b : !x) outs(%c : !x)
  npu.host_call "Frob" opset 1 onnx "00" ins(%b, %c : !x, !x) outs(%y : !x)
  func.return
}

// Two parts of one buffer are two buffers to the host.
// CHECK-LABEL: func.func @parts
func.func @parts(%y: !x {npu.output = "y"}) attributes {npu.host} {
  %0 = memref.reinterpret_cast %y to offset: [0], sizes: [512], strides: [1] : !x to memref<512xf32, #npu.space<gm>>
  %1 = memref.reinterpret_cast %y to offset: [512], sizes: [512], strides: [1] : !x to memref<512xf32, strided<[1], offset: 512>, #npu.space<gm>>
  npu.host_call "Frob" opset 1 onnx "00" outs(%0 : memref<512xf32, #npu.space<gm>>)
  npu.host_call "Frob" opset 1 onnx "00" ins(%0 : memref<512xf32, #npu.space<gm>>) outs(%1 : memref<512xf32, strided<[1], offset: 512>, #npu.space<gm>>)
  func.return
}
