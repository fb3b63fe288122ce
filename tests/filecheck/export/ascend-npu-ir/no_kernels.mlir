// RUN: %not 3 fuse-opt %s -t ascend-npu-ir 2>&1 | filecheck %s

// CHECK: ascend-npu-ir: the module has no kernels; export what the passes up to graph-to-npu or npu-multi-buffer give, like -p prepare,optimise,graph-schedule,graph-to-npu
func.func @main(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
  %0 = graph.relu %x : tensor<4xf32> -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
