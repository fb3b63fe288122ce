// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<25x30xf16>, %w: tensor<30x20xf16>, %b: tensor<20xf16>) -> (tensor<25x20xf16>, tensor<25x20xi1>) {
  // CHECK-NEXT: %0 = graph.fused "matmul_bias_relu"(%x_1 = %x : tensor<25x30xf16>, %w_1 = %w : tensor<30x20xf16>, %b_1 = %b : tensor<20xf16>) -> tensor<25x20xf16> {
  // CHECK-NEXT:   %y = graph.matmul %x_1, %w_1 : (tensor<25x30xf16>, tensor<30x20xf16>) -> tensor<25x20xf16>
  // CHECK-NEXT:   %z = graph.add %y, %b_1 : (tensor<25x20xf16>, tensor<20xf16>) -> tensor<25x20xf16>
  // CHECK-NEXT:   %r = graph.relu %z : tensor<25x20xf16> -> tensor<25x20xf16>
  // CHECK-NEXT:   graph.yield %r : tensor<25x20xf16>
  // CHECK-NEXT: }
  %0 = graph.fused "matmul_bias_relu"(%x_1 = %x : tensor<25x30xf16>, %w_1 = %w : tensor<30x20xf16>, %b_1 = %b : tensor<20xf16>) -> tensor<25x20xf16> {
    %y = graph.matmul %x_1, %w_1 : (tensor<25x30xf16>, tensor<30x20xf16>) -> tensor<25x20xf16>
    %z = graph.add %y, %b_1 : (tensor<25x20xf16>, tensor<20xf16>) -> tensor<25x20xf16>
    %r = graph.relu %z : tensor<25x20xf16> -> tensor<25x20xf16>
    graph.yield %r : tensor<25x20xf16>
  }
  // Several results, a constant inside, an attribute of a user.
  // CHECK-NEXT: %f, %g = graph.fused "auto"(%in = %0 : tensor<25x20xf16>) -> tensor<25x20xf16>, tensor<25x20xi1> attributes {my.mark} {
  // CHECK-NEXT:   %half = graph.constant dense<"0x003C"> : tensor<f16>
  // CHECK-NEXT:   %m = graph.mul %in, %half : (tensor<25x20xf16>, tensor<f16>) -> tensor<25x20xf16>
  // CHECK-NEXT:   %c = graph.greater %m, %in : (tensor<25x20xf16>, tensor<25x20xf16>) -> tensor<25x20xi1>
  // CHECK-NEXT:   graph.yield %m, %c : tensor<25x20xf16>, tensor<25x20xi1>
  // CHECK-NEXT: }
  %f, %g = graph.fused "auto"(%in = %0 : tensor<25x20xf16>) -> tensor<25x20xf16>, tensor<25x20xi1> attributes {my.mark} {
    %half = graph.constant dense<"0x003C"> : tensor<f16>
    %m = graph.mul %in, %half : (tensor<25x20xf16>, tensor<f16>) -> tensor<25x20xf16>
    %c = graph.greater %m, %in : (tensor<25x20xf16>, tensor<25x20xf16>) -> tensor<25x20xi1>
    graph.yield %m, %c : tensor<25x20xf16>, tensor<25x20xi1>
  }
  // Without operands.
  // CHECK-NEXT: %e = graph.fused "eye"() -> tensor<2x2xf32> {
  // CHECK-NEXT:   %eye = graph.eye_like : tensor<2x2xf32>
  // CHECK-NEXT:   graph.yield %eye : tensor<2x2xf32>
  // CHECK-NEXT: }
  %e = graph.fused "eye"() -> tensor<2x2xf32> {
    %eye = graph.eye_like : tensor<2x2xf32>
    graph.yield %eye : tensor<2x2xf32>
  }
  // CHECK-NEXT: %h, %i = graph.call @both(%f) : (tensor<25x20xf16>) -> (tensor<25x20xf16>, tensor<25x20xi1>)
  %h, %i = graph.call @both(%f) : (tensor<25x20xf16>) -> (tensor<25x20xf16>, tensor<25x20xi1>)
  // CHECK-NEXT: func.return
  func.return %h, %i : tensor<25x20xf16>, tensor<25x20xi1>
}

// CHECK: graph.kernel @both "auto"(%{{.*}}: tensor<25x20xf16>) -> tensor<25x20xf16>, tensor<25x20xi1> attributes {npu.schedule = "by hand"} {
// CHECK-NEXT:   %{{.*}} = graph.relu
// CHECK-NEXT:   %{{.*}} = graph.less
// CHECK-NEXT:   graph.yield
// CHECK-NEXT: }
graph.kernel @both "auto"(%x: tensor<25x20xf16>) -> tensor<25x20xf16>, tensor<25x20xi1> attributes {npu.schedule = "by hand"} {
  %0 = graph.relu %x : tensor<25x20xf16> -> tensor<25x20xf16>
  %1 = graph.less %0, %x : (tensor<25x20xf16>, tensor<25x20xf16>) -> tensor<25x20xi1>
  graph.yield %0, %1 : tensor<25x20xf16>, tensor<25x20xi1>
}
