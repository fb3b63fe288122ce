// Movement kernels have rows and columns for each copy; pooling kernels columns and channels.
//
// RUN: fuse-opt %s -p "graph-schedule" | filecheck %s

// CHECK-LABEL: graph.kernel @transpose
// CHECK-SAME: #npu.schedule<"movement", {tiles = array<i64: {{[0-9]+}}, {{[0-9]+}}>, blocks = {{[0-9]+}} : i64, copies = 2 : i64}>
graph.kernel @transpose "transpose"(%x: tensor<1000x2000xf16>) -> tensor<2000x1000xf16> {
  %0 = graph.transpose %x {perm = [1, 0]} : tensor<1000x2000xf16> -> tensor<2000x1000xf16>
  graph.yield %0 : tensor<2000x1000xf16>
}

// Three copies, one for each operand.
// CHECK-LABEL: graph.kernel @concat
// CHECK-SAME: #npu.schedule<"movement", {tiles = array<i64: {{[0-9]+}}, 5, {{[0-9]+}}, 7, {{[0-9]+}}, 1>
graph.kernel @concat "concat"(%x: tensor<40x5xf32>, %y: tensor<40x7xf32>, %z: tensor<40x1xf32>) -> tensor<40x13xf32> {
  %0 = graph.concat %x, %y, %z {axis = 1} : (tensor<40x5xf32>, tensor<40x7xf32>, tensor<40x1xf32>) -> tensor<40x13xf32>
  graph.yield %0 : tensor<40x13xf32>
}

// What repeats one element along the innermost axis is work for the vector unit.
// CHECK-LABEL: graph.kernel @expand
// CHECK-SAME: #npu.schedule<"vector"
graph.kernel @expand "expand"(%x: tensor<50x1xf32>) -> tensor<50x70xf32> {
  %0 = graph.expand %x : tensor<50x1xf32> -> tensor<50x70xf32>
  graph.yield %0 : tensor<50x70xf32>
}

// CHECK-LABEL: graph.kernel @max_pool
// CHECK-SAME: #npu.schedule<"window", {columns = {{[0-9]+}} : i64, channels = 64 : i64, blocks = 40 : i64, copies = 2 : i64}>
graph.kernel @max_pool "max_pool"(%x: tensor<1x112x112x64xf16>) -> tensor<1x56x56x64xf16> {
  %0 = graph.max_pool %x {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1], layout = "NHWC"} : tensor<1x112x112x64xf16> -> tensor<1x56x56x64xf16>
  graph.yield %0 : tensor<1x56x56x64xf16>
}
