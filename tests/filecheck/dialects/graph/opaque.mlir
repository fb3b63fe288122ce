// RUN: fuse-opt %s | fuse-opt | filecheck %s

// CHECK-LABEL: @main
// CHECK:         %0 = graph.opaque "Unique" opset 11 onnx "0A0B"(%x) : (tensor<4xf32>) -> tensor<2xi64>
// CHECK-NEXT:    %1, %2 = graph.opaque "Frob" domain "my.ops" opset 3 onnx "ff"(%x, %0) : (tensor<4xf32>, tensor<2xi64>) -> (tensor<f64>, tensor<0x3xui8>)
// CHECK-NEXT:    %3 = graph.opaque "Source" opset 1 onnx "00"() {kept = 1 : i64} : () -> tensor<2xi1>
// An open size of an operand is no matter.
// CHECK-NEXT:    %4 = graph.opaque "Frob" opset 1 onnx "00"(%n) : (tensor<?xf32>) -> tensor<2xf16>
func.func @main(%x: tensor<4xf32>, %n: tensor<?xf32>) -> tensor<2xi64> {
  %0 = graph.opaque "Unique" opset 11 onnx "0A0B"(%x) : (tensor<4xf32>) -> tensor<2xi64>
  %1, %2 = graph.opaque "Frob" domain "my.ops" opset 3 onnx "ff"(%x, %0) : (tensor<4xf32>, tensor<2xi64>) -> (tensor<f64>, tensor<0x3xui8>)
  %3 = graph.opaque "Source" opset 1 onnx "00"() {kept = 1 : i64} : () -> tensor<2xi1>
  %4 = graph.opaque "Frob" opset 1 onnx "00"(%n) : (tensor<?xf32>) -> tensor<2xf16>
  func.return %0 : tensor<2xi64>
}
