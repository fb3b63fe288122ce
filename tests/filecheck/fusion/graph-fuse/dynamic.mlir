// RUN: fuse-opt %s -p 'prepare,graph-fuse{objective=kernels}' --split-input-file | filecheck %s

// Sizes of one name are equal: the fusion is proved whatever N is.
// CHECK-LABEL: func.func @one_name
// CHECK: graph.fused "add_exp"({{.*}} : tensor<?x64xf32, #graph.dims<[N, 64]>>)
func.func @one_name(%x: tensor<?x64xf32, #graph.dims<[N, 64]>>, %y: tensor<?x64xf32, #graph.dims<[N, 64]>>) -> tensor<?x64xf32, #graph.dims<[N, 64]>> {
  %0 = graph.add %x, %y : (tensor<?x64xf32, #graph.dims<[N, 64]>>, tensor<?x64xf32, #graph.dims<[N, 64]>>) -> tensor<?x64xf32, #graph.dims<[N, 64]>>
  %1 = graph.exp %0 : tensor<?x64xf32, #graph.dims<[N, 64]>> -> tensor<?x64xf32, #graph.dims<[N, 64]>>
  func.return %1 : tensor<?x64xf32, #graph.dims<[N, 64]>>
}

// -----

// Nothing says that N is M: the sum is a kernel of its own, what is behind it as well; the rest fuses.
// CHECK-LABEL: func.func @two_names
// CHECK: graph.fused "exp_abs"
// CHECK: graph.fused "add"
// CHECK: graph.fused "relu"
func.func @two_names(%x: tensor<?x64xf32, #graph.dims<[N, 64]>>, %y: tensor<?x64xf32, #graph.dims<[M, 64]>>) -> tensor<?x64xf32> {
  %0 = graph.exp %x : tensor<?x64xf32, #graph.dims<[N, 64]>> -> tensor<?x64xf32, #graph.dims<[N, 64]>>
  %1 = graph.abs %0 : tensor<?x64xf32, #graph.dims<[N, 64]>> -> tensor<?x64xf32, #graph.dims<[N, 64]>>
  %2 = graph.add %1, %y : (tensor<?x64xf32, #graph.dims<[N, 64]>>, tensor<?x64xf32, #graph.dims<[M, 64]>>) -> tensor<?x64xf32>
  %3 = graph.relu %2 : tensor<?x64xf32> -> tensor<?x64xf32>
  func.return %3 : tensor<?x64xf32>
}

// -----

// A size without a name is one size wherever it follows from the same operand.
// CHECK-LABEL: func.func @no_name
// CHECK: graph.fused "exp_relu"({{.*}} : tensor<?x64xf32>)
func.func @no_name(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = graph.exp %x : tensor<?x64xf32> -> tensor<?x64xf32>
  %1 = graph.relu %0 : tensor<?x64xf32> -> tensor<?x64xf32>
  func.return %1 : tensor<?x64xf32>
}
