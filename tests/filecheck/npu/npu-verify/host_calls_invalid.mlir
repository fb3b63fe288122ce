// Host calls: every buffer is used as what it is on the host.
//
// RUN: fuse-opt %s -p npu-verify --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'npu.host_call' in @main: Frob: input 0: %a is read before it is written
func.func @main(%y: memref<16xf32, #npu.space<gm>> {npu.output = "y"}) attributes {npu.host} {
  %a = npu.alloc at 0 : memref<16xf32, #npu.space<gm>>
  npu.host_call "Frob" opset 1 onnx "00" ins(%a : memref<16xf32, #npu.space<gm>>) outs(%y : memref<16xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'npu.host_call' in @main: Frob: output 0: the host writes it, but it is an npu.input
func.func @main(%x: memref<16xf32, #npu.space<gm>> {npu.input = "x"}) attributes {npu.host} {
  npu.host_call "Frob" opset 1 onnx "00" outs(%x : memref<16xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'npu.host_call' in @main: Frob: output 0: is written, and passed as another argument as well
func.func @main(%y: memref<16xf32, #npu.space<gm>> {npu.output = "y"}) attributes {npu.host} {
  npu.host_call "Frob" opset 1 onnx "00" ins(%y : memref<16xf32, #npu.space<gm>>) outs(%y : memref<16xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'func.func': @main: nothing writes output 1
func.func @main(%y: memref<16xf32, #npu.space<gm>> {npu.output = "y"}, %z: memref<16xf32, #npu.space<gm>> {npu.output = "z"}) attributes {npu.host} {
  npu.host_call "Frob" opset 1 onnx "00" outs(%y : memref<16xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'npu.host_call' in @main: Frob: output 0: is written, and passed as another argument as well
func.func @main(%y: memref<16xf32, #npu.space<gm>> {npu.output = "y"}) attributes {npu.host} {
  %0 = memref.reinterpret_cast %y to offset: [0], sizes: [9], strides: [1] : memref<16xf32, #npu.space<gm>> to memref<9xf32, #npu.space<gm>>
  %1 = memref.reinterpret_cast %y to offset: [8], sizes: [8], strides: [1] : memref<16xf32, #npu.space<gm>> to memref<8xf32, strided<[1], offset: 8>, #npu.space<gm>>
  npu.host_call "Frob" opset 1 onnx "00" ins(%0 : memref<9xf32, #npu.space<gm>>) outs(%1 : memref<8xf32, strided<[1], offset: 8>, #npu.space<gm>>)
  func.return
}
