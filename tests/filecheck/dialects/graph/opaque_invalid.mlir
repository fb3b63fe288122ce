// RUN: fuse-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s

// CHECK: graph.opaque: the result is tensor<?xf32>; its shape follows from nothing, so every size has to be given
func.func @dynamic(%x: tensor<4xf32>) {
  %0 = graph.opaque "Frob" opset 1 onnx "00"(%x) : (tensor<4xf32>) -> tensor<?xf32>
  func.return
}

// -----

// CHECK: graph.opaque: gives no result, so it computes nothing
func.func @nothing(%x: tensor<4xf32>) {
  graph.opaque "Frob" opset 1 onnx "00"(%x) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// CHECK: graph.opaque: the type of the ONNX operator is empty
func.func @nameless(%x: tensor<4xf32>) {
  %0 = graph.opaque "" opset 1 onnx "00"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: graph.opaque: opset 0; opsets count from 1
func.func @opset(%x: tensor<4xf32>) {
  %0 = graph.opaque "Frob" opset 0 onnx "00"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: graph.opaque: `onnx` is a serialised FunctionProto in hexadecimal, two digits for each byte
func.func @odd(%x: tensor<4xf32>) {
  %0 = graph.opaque "Frob" opset 1 onnx "001"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: graph.opaque: `onnx` is a serialised FunctionProto in hexadecimal
func.func @empty(%x: tensor<4xf32>) {
  %0 = graph.opaque "Frob" opset 1 onnx ""(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: graph.opaque: {{.*}}i4
func.func @element(%x: tensor<4xf32>) {
  %0 = graph.opaque "Frob" opset 1 onnx "00"(%x) : (tensor<4xf32>) -> tensor<4xi4>
  func.return
}

// -----

// CHECK: graph.fused: graph.opaque Frob stands inside; the host computes it, no kernel
func.func @inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.fused "frob"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = graph.opaque "Frob" opset 1 onnx "00"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
