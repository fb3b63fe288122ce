// What cannot be lowered, and which pass has to run first.
//
// RUN: fuse-opt %s -p "graph-to-npu" --split-input-file --verify-diagnostics | filecheck %s

// CHECK: invalid.mlir:7:3: 'graph.add' in @main is not in a kernel; run graph-fuse and graph-outline first
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.add %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// -----

// A transposition is not free.
// CHECK: 'graph.transpose' in @main is not in a kernel
func.func @main(%x: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %0 = graph.transpose %x {perm = [1, 0]} : tensor<8x4xf32> -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}

// -----

// CHECK: 'graph.kernel' @relu has no schedule; run graph-schedule first
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.call @relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
graph.kernel @relu "relu"(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x : tensor<8xf32> -> tensor<8xf32>
  graph.yield %0 : tensor<8xf32>
}

// -----

// CHECK: invalid.mlir:35:1: 'func.func': tensor<?xf32, #graph.dims<[N]>> has sizes that are not known; fix them with --shape NAME=AxB
func.func @main(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  func.return %x : tensor<?xf32, #graph.dims<[N]>>
}

// -----

// CHECK: graph-to-npu: the module has no function @main to lower
func.func @other(%x: tensor<8xf32>) -> tensor<8xf32> {
  func.return %x : tensor<8xf32>
}

// -----

// A schedule that was right for another target.
// CHECK: 'graph.kernel' @k: capacity: l0a holds 4096 bytes, the kernel needs 8192: a step 8192 x 1
builtin.module attributes {npu.target = "tiny"} {
  func.func @main(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
    %0 = graph.call @k(%x) : (tensor<128x128xf32>) -> tensor<128x128xf32>
    func.return %0 : tensor<128x128xf32>
  }
  graph.kernel @k "matmul"(%x: tensor<128x128xf32>) -> tensor<128x128xf32> attributes {npu.schedule = #npu.schedule<"cube", {rows = 1 : i64, m = 128 : i64, n = 128 : i64, k = 16 : i64, l0_k = 16 : i64, blocks = 1 : i64}>} {
    %0 = graph.matmul %x, %x : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    graph.yield %0 : tensor<128x128xf32>
  }
}
