// RUN: fuse-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s

// CHECK: npu.host_call: a buffer of the host must be in gm, found ub
func.func @main(%x: memref<4xf32, #npu.space<ub>>, %y: memref<4xf32, #npu.space<gm>>) attributes {npu.host} {
  npu.host_call "Frob" opset 1 onnx "00" ins(%x : memref<4xf32, #npu.space<ub>>) outs(%y : memref<4xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.host_call: stands in a kernel; only the host function calls the host
func.func @kernel(%y: memref<4xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  npu.host_call "Frob" opset 1 onnx "00" outs(%y : memref<4xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.host_call: memref<4x4xf32, strided<[8, 1]>, #npu.space<gm>> is not contiguous and of static shape
func.func @main(%y: memref<4x4xf32, strided<[8, 1]>, #npu.space<gm>>) attributes {npu.host} {
  npu.host_call "Frob" opset 1 onnx "00" outs(%y : memref<4x4xf32, strided<[8, 1]>, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.host_call: memref<?xf32, #npu.space<gm>> is not contiguous and of static shape
func.func @main(%y: memref<?xf32, #npu.space<gm>>) attributes {npu.host} {
  npu.host_call "Frob" opset 1 onnx "00" outs(%y : memref<?xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.host_call: opset -1; opsets count from 1
func.func @main(%y: memref<4xf32, #npu.space<gm>>) attributes {npu.host} {
  npu.host_call "Frob" opset -1 onnx "00" outs(%y : memref<4xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: npu.host_call: `onnx` is a serialised FunctionProto in hexadecimal
func.func @main(%y: memref<4xf32, #npu.space<gm>>) attributes {npu.host} {
  npu.host_call "Frob" opset 1 onnx "xy" outs(%y : memref<4xf32, #npu.space<gm>>)
  func.return
}
