// A schedule written by hand whose tiles do not fit is a kernel that does not fit: status 4.
//
// RUN: %not 4 fuse-opt %s -p "graph-schedule" 2>&1 | filecheck %s

// CHECK: @k ("softmax") cannot be built for ascend910b3: ub-capacity: tiles [1536, 128] need {{[0-9]+}} bytes of ub, ascend910b3 has 196608; make them shorter
graph.kernel @k "softmax"(%x: tensor<1536x128xf32>) -> tensor<1536x128xf32> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 1536, 128>, tiles = array<i64: 1536, 128>, blocks = 1 : i64}>} {
  %0 = graph.softmax %x : tensor<1536x128xf32> -> tensor<1536x128xf32>
  graph.yield %0 : tensor<1536x128xf32>
}
