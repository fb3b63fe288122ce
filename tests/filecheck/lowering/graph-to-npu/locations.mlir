// Every operator of a kernel has the location of the graph operator that it is for; a launch that of
// the call; what is for the whole kernel that of the kernel.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" --print-debuginfo | filecheck %s
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" --print-debuginfo | filecheck %s --check-prefix=NONE

// CHECK: npu.launch @k {{.*}} loc("encoder.0")
// CHECK: npu.launch @k {{.*}} loc("encoder.1")
// CHECK: npu.load {{.*}} loc("dense")
// CHECK: npu.mmad {{.*}} loc("dense")
// CHECK: npu.load {{.*}} loc("shortcut")
// CHECK: npu.mmad {{.*}} loc("shortcut")
// CHECK: npu.fixpipe {{.*}} loc("activation")
// NONE-NOT: {{npu|arith|scf|memref|graph}}{{.*}} loc(unknown)
func.func @main(%x: tensor<40x32xf32>) -> tensor<40x32xf32> {
  %w = graph.weight "w" : tensor<32x32xf32> loc("w")
  %0 = graph.call @k(%x, %w) : (tensor<40x32xf32>, tensor<32x32xf32>) -> tensor<40x32xf32> loc("encoder.0")
  %1 = graph.call @k(%0, %w) : (tensor<40x32xf32>, tensor<32x32xf32>) -> tensor<40x32xf32> loc("encoder.1")
  func.return %1 : tensor<40x32xf32> loc("end")
} loc("main")
graph.kernel @k "matmul_residual_relu"(%x: tensor<40x32xf32>, %w: tensor<32x32xf32>) -> tensor<40x32xf32> {
  %0 = graph.matmul %x, %w : (tensor<40x32xf32>, tensor<32x32xf32>) -> tensor<40x32xf32> loc("dense")
  %1 = graph.add %0, %x : (tensor<40x32xf32>, tensor<40x32xf32>) -> tensor<40x32xf32> loc("shortcut")
  %2 = graph.relu %1 : tensor<40x32xf32> -> tensor<40x32xf32> loc("activation")
  graph.yield %2 : tensor<40x32xf32> loc("end")
} loc("k")
