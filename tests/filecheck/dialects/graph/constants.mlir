// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

// Every bit survives, in both forms: inf, nan, -0.0 and integers beyond 2^53.

// CHECK-LABEL: func.func @main
func.func @main() {
  // CHECK-NEXT: %inf = graph.constant dense<"0x0000807F"> : tensor<f32>
  %inf = graph.constant dense<"0x0000807F"> : tensor<f32>
  // CHECK-NEXT: %special = graph.constant dense<"0x000080FF0000C07F000000800000803F"> : tensor<4xf32>
  %special = graph.constant dense<[0xFF800000, 0x7FC00000, -0.0, 1.0]> : tensor<4xf32>
  // CHECK-NEXT: %double = graph.constant dense<"0x000000000000F07F0000000000000080"> : tensor<2xf64>
  %double = graph.constant dense<[0x7FF0000000000000, -0.0]> : tensor<2xf64>
  // CHECK-NEXT: %half = graph.constant dense<"0x007C00FC003C0080"> : tensor<4xf16>
  %half = graph.constant dense<[0x7C00, 0xFC00, 1.0, -0.0]> : tensor<4xf16>
  // CHECK-NEXT: %bfloat = graph.constant dense<"0x807F803F0080"> : tensor<3xbf16>
  %bfloat = graph.constant dense<"0x807F803F0080"> : tensor<3xbf16>
  // CHECK-NEXT: %truth = graph.constant dense<"0x010001"> : tensor<3xi1>
  %truth = graph.constant dense<[true, false, true]> : tensor<3xi1>
  // CHECK-NEXT: %long = graph.constant dense<"0x010000000000200000000000000000800000000000000000"> : tensor<3xi64>
  %long = graph.constant dense<[9007199254740993, -9223372036854775808, 0]> : tensor<3xi64>
  // CHECK-NEXT: %int = graph.constant dense<"0xFFFFFFFF"> : tensor<1xi32>
  %int = graph.constant dense<-1> : tensor<1xi32>
  // CHECK-NEXT: %byte = graph.constant dense<"0xFF00"> : tensor<2xui8>
  %byte = graph.constant dense<[255, 0]> : tensor<2xui8>
  // CHECK-NEXT: %splat = graph.constant dense<"0x0000C03F0000C03F0000C03F0000C03F"> : tensor<2x2xf32>
  %splat = graph.constant dense<1.5> : tensor<2x2xf32>
  // CHECK-NEXT: %empty = graph.constant dense<"0x"> : tensor<0x3xf32>
  %empty = graph.constant dense<> : tensor<0x3xf32>
  // CHECK-NEXT: %scalar = graph.constant dense<"0x0100000000000000"> : tensor<i64>
  %scalar = graph.constant dense<1> : tensor<i64>
  // CHECK-NEXT: %noted = graph.constant attributes {note = "kept"} dense<"0x00000000"> : tensor<f32>
  %noted = graph.constant attributes {"note" = "kept"} dense<0.0> : tensor<f32>
  // CHECK-NEXT: %weight = graph.weight "conv1/w:0" : tensor<64x3x7x7xf32>
  %weight = graph.weight "conv1/w:0" : tensor<64x3x7x7xf32>
  func.return
}
