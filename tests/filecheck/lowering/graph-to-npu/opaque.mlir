// graph.opaque becomes npu.host_call between launches: buffers of its own in gm, an output of the
// network written at once, inputs through free views, weights and constants as arguments.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu,npu-multi-buffer,npu-expand-l0,npu-place,npu-sync,npu-verify" | filecheck %s --check-prefix=PLACED

// CHECK:      func.func @main(%x: {{.*}}, %y0: {{.*}}npu.output = "out0"}, %y1: {{.*}}npu.output = "out1"}, %w: {{.*}}npu.weight = "w"}, {{%[0-9]+}}: memref<2xi64, {{.*}}npu.weight = "constant.{{[0-9a-f]+}}"}) attributes {npu.host}
// CHECK-NEXT:   %a = npu.alloc : memref<16x64xf32, #npu.space<gm>>
// CHECK-NEXT:   npu.launch @relu blocks({{[0-9]+}}) (%x, %a :
// CHECK-NEXT:   [[FLAT:%[0-9]+]] = memref.reinterpret_cast %a to offset: [0], sizes: [1024]
// CHECK-NEXT:   %b = npu.alloc : memref<16x64xf32, #npu.space<gm>>
// CHECK-NEXT:   npu.host_call "Frob" domain "my" opset 2 onnx "0A" ins([[FLAT]], %w, {{%[0-9]+}} : memref<1024xf32, #npu.space<gm>>, memref<4xf32, #npu.space<gm>>, memref<2xi64, #npu.space<gm>>) outs(%b, %y1 : memref<16x64xf32, #npu.space<gm>>, memref<3xui8, #npu.space<gm>>)
// CHECK-NEXT:   npu.launch @relu blocks({{[0-9]+}}) (%b, %y0 :
// CHECK-NEXT:   func.return

// PLACED:       %a = npu.alloc at 0 :
// PLACED:       %b = npu.alloc at 4096 :
// PLACED:       npu.host_call "Frob"
func.func @main(%x: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<3xui8>) {
  %w = graph.weight "w" : tensor<4xf32>
  %k = graph.constant dense<[1, 2]> : tensor<2xi64>
  %a = graph.call @relu(%x) : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %flat = graph.reshape %a : tensor<16x64xf32> -> tensor<1024xf32>
  %b, %c = graph.opaque "Frob" domain "my" opset 2 onnx "0A"(%flat, %w, %k) : (tensor<1024xf32>, tensor<4xf32>, tensor<2xi64>) -> (tensor<16x64xf32>, tensor<3xui8>)
  %d = graph.call @relu(%b) : (tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %d, %c : tensor<16x64xf32>, tensor<3xui8>
}
graph.kernel @relu "relu"(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = graph.relu %x : tensor<16x64xf32> -> tensor<16x64xf32>
  graph.yield %0 : tensor<16x64xf32>
}
