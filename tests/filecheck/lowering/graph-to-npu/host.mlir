// The host function: inputs, outputs, weights and constants as arguments under their names in the
// model; results that live between kernels in gm; contiguous views free; equal kernels once.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

// CHECK: func.func @main(%x: memref<4x25x32xf32, #npu.space<gm>> {npu.input = "input.1"}, %y0: memref<100x32xf32, #npu.space<gm>> {npu.output = "y"}, %y1: memref<4x25x32xf32, #npu.space<gm>> {npu.output = "out1"}, %w: memref<32x32xf32, #npu.space<gm>> {npu.weight = "layer.w"}, %b: memref<32xf32, #npu.space<gm>> {npu.weight = "layer.b"}, {{%[0-9]+}}: memref<{{.*}}> {npu.weight = "constant.{{[0-9a-f]+}}"}) attributes {npu.host} {
// CHECK-NEXT: %h = npu.alloc : memref<4x25x32xf32, #npu.space<gm>>
// CHECK-NEXT: npu.launch @dense blocks({{[0-9]+}}) (%x, %w, %b, %h :
// CHECK-NEXT: [[FLAT:%[0-9]+]] = memref.reinterpret_cast %h to offset: [0], sizes: [100, 32], strides: [32, 1]
// CHECK-NEXT: [[BACK:%[0-9]+]] = memref.reinterpret_cast [[FLAT]] to offset: [0], sizes: [4, 25, 32], strides: [800, 32, 1]
// CHECK-NEXT: npu.launch @dense blocks({{[0-9]+}}) ([[BACK]], %w, %b, %y1 :
// The output is the kernel's result in another shape: it is stored there at once.
// CHECK-NEXT: [[Y:%[0-9]+]] = memref.reinterpret_cast %y0 to offset: [0], sizes: [4, 25, 32], strides: [800, 32, 1]
// CHECK-NEXT: npu.launch @last blocks({{[0-9]+}}) (%y1, {{%[0-9]+}}, [[Y]] :
// CHECK-NEXT: memref.reinterpret_cast [[Y]] to offset: [0], sizes: [100, 32]
// CHECK-NEXT: func.return

// CHECK: func.func @dense(
// CHECK-NOT: func.func @dense_again
// CHECK: func.func @last(
// CHECK: func.func @weights() -> (tensor<f16> {graph.name = "kept"}, tensor<32xf32> {graph.name = "constant.{{[0-9a-f]+}}"})

func.func @main(%x: tensor<4x25x32xf32> {graph.name = "input.1"}) -> (tensor<100x32xf32> {graph.name = "y"}, tensor<4x25x32xf32>) {
  %w = graph.weight "layer.w" : tensor<32x32xf32>
  %b = graph.weight "layer.b" : tensor<32xf32>
  %unused = graph.weight "unused" : tensor<7xf32>
  %h = graph.call @dense(%x, %w, %b) : (tensor<4x25x32xf32>, tensor<32x32xf32>, tensor<32xf32>) -> tensor<4x25x32xf32>
  %f = graph.reshape %h : tensor<4x25x32xf32> -> tensor<100x32xf32>
  %t = graph.reshape %f : tensor<100x32xf32> -> tensor<4x25x32xf32>
  %1 = graph.call @dense_again(%t, %w, %b) : (tensor<4x25x32xf32>, tensor<32x32xf32>, tensor<32xf32>) -> tensor<4x25x32xf32>
  %c = graph.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040000000400000004000000040"> : tensor<32xf32>
  %2 = graph.call @last(%1, %c) : (tensor<4x25x32xf32>, tensor<32xf32>) -> tensor<4x25x32xf32>
  %3 = graph.reshape %2 : tensor<4x25x32xf32> -> tensor<100x32xf32>
  func.return %3, %1 : tensor<100x32xf32>, tensor<4x25x32xf32>
}
func.func @weights() -> (tensor<f16> {graph.name = "kept"}) {
  %0 = graph.constant dense<"0x003C"> : tensor<f16>
  func.return %0 : tensor<f16>
}
graph.kernel @dense "matmul_bias"(%x: tensor<4x25x32xf32>, %w: tensor<32x32xf32>, %b: tensor<32xf32>) -> tensor<4x25x32xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x25x32xf32>, tensor<32x32xf32>) -> tensor<4x25x32xf32>
  %1 = graph.add %0, %b : (tensor<4x25x32xf32>, tensor<32xf32>) -> tensor<4x25x32xf32>
  graph.yield %1 : tensor<4x25x32xf32>
}
graph.kernel @dense_again "matmul_bias"(%x: tensor<4x25x32xf32>, %w: tensor<32x32xf32>, %b: tensor<32xf32>) -> tensor<4x25x32xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x25x32xf32>, tensor<32x32xf32>) -> tensor<4x25x32xf32>
  %1 = graph.add %b, %0 : (tensor<32xf32>, tensor<4x25x32xf32>) -> tensor<4x25x32xf32>
  graph.yield %1 : tensor<4x25x32xf32>
}
graph.kernel @last "add"(%x: tensor<4x25x32xf32>, %b: tensor<32xf32>) -> tensor<4x25x32xf32> {
  %0 = graph.add %x, %b : (tensor<4x25x32xf32>, tensor<32xf32>) -> tensor<4x25x32xf32>
  graph.yield %0 : tensor<4x25x32xf32>
}
