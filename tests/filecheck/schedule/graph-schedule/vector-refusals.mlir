// Regions that the vector cores have no kernel for, each with place, cause and advice.
//
// RUN: fuse-opt %s -p "graph-schedule" --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @integers ("add") cannot be built for ascend910b3: type: {{.*}}'graph.add'{{.*}} on i64: the vector unit has no instruction for it; compute it in i32, as int32 in an ONNX file, or cast to f32 around it
graph.kernel @integers "add"(%x: tensor<9xi64>, %y: tensor<9xi64>) -> tensor<9xi64> {
  %0 = graph.add %x, %y : (tensor<9xi64>, tensor<9xi64>) -> tensor<9xi64>
  graph.yield %0 : tensor<9xi64>
}

// -----

// CHECK: two-dimensions-on-one-axis: two dimensions of tensor<7x7xf32> run along one axis
graph.kernel @square "add"(%x: tensor<7x7xf32>) -> tensor<7x7xf32> {
  %0 = graph.exp %x : tensor<7x7xf32> -> tensor<7x7xf32>
  %1 = graph.transpose %0 {perm = [1, 0]} : tensor<7x7xf32> -> tensor<7x7xf32>
  %2 = graph.add %0, %1 : (tensor<7x7xf32>, tensor<7x7xf32>) -> tensor<7x7xf32>
  graph.yield %2 : tensor<7x7xf32>
}

// -----

// CHECK: pow: {{.*}}'graph.pow'{{.*}}: exponent 17.0; the vector unit does whole ones up to 16 exactly
graph.kernel @power "pow"(%x: tensor<9xf32>) -> tensor<9xf32> {
  %e = graph.constant dense<17.0> : tensor<f32>
  %0 = graph.pow %x, %e : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  graph.yield %0 : tensor<9xf32>
}

// -----

// CHECK: empty: tensor<0x5xf32> has no elements, so there is nothing to compute
graph.kernel @empty "relu"(%x: tensor<0x5xf32>) -> tensor<0x5xf32> {
  %0 = graph.relu %x : tensor<0x5xf32> -> tensor<0x5xf32>
  graph.yield %0 : tensor<0x5xf32>
}

// -----

// CHECK: dynamic-shape: tensor<?xf32> has sizes that are not known; fix them with --shape NAME=AxB
graph.kernel @dynamic "relu"(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.relu %x : tensor<?xf32> -> tensor<?xf32>
  graph.yield %0 : tensor<?xf32>
}

// -----

// CHECK: layout: {{.*}}'graph.max_pool'{{.*}} has channels first; graph-assign-layout gives it channels last
graph.kernel @first "max_pool"(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32> {
  %0 = graph.max_pool %x {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x8x4x4xf32> -> tensor<1x8x2x2xf32>
  graph.yield %0 : tensor<1x8x2x2xf32>
}

// -----

// CHECK: schedule: tiles [16]: give one for each of the axes [1536, 128]
graph.kernel @tiles "softmax"(%x: tensor<1536x128xf32>) -> tensor<1536x128xf32> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 1536, 128>, tiles = array<i64: 16>, blocks = 1 : i64}>} {
  %0 = graph.softmax %x : tensor<1536x128xf32> -> tensor<1536x128xf32>
  graph.yield %0 : tensor<1536x128xf32>
}

// -----

// CHECK: ub-capacity: tiles [1536, 128] need {{[0-9]+}} bytes of ub, ascend910b3 has 196608; make them shorter
graph.kernel @large "softmax"(%x: tensor<1536x128xf32>) -> tensor<1536x128xf32> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 1536, 128>, tiles = array<i64: 1536, 128>, blocks = 1 : i64}>} {
  %0 = graph.softmax %x : tensor<1536x128xf32> -> tensor<1536x128xf32>
  graph.yield %0 : tensor<1536x128xf32>
}
