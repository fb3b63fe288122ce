// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

// Names of dynamic sizes: equal names are equal sizes; `?` has no name.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x128xf16, #graph.dims<[N, 128]>>, %y: tensor<?x?xf32, #graph.dims<[batch_2, ?]>>, %z: tensor<?x4xf32>) {
  // CHECK-NEXT: %0 = graph.relu %x : tensor<?x128xf16, #graph.dims<[N, 128]>> -> tensor<?x128xf16, #graph.dims<[N, 128]>>
  %0 = graph.relu %x : tensor<?x128xf16, #graph.dims<[N, 128]>> -> tensor<?x128xf16, #graph.dims<[N, 128]>>
  // CHECK-NEXT: %1 = graph.neg %y : tensor<?x?xf32, #graph.dims<[batch_2, ?]>> -> tensor<?x?xf32, #graph.dims<[batch_2, ?]>>
  %1 = graph.neg %y : tensor<?x?xf32, #graph.dims<[batch_2, ?]>> -> tensor<?x?xf32, #graph.dims<[batch_2, ?]>>
  // A number, or another name, may stand for a size that is not known.
  // CHECK-NEXT: %2 = graph.abs %z : tensor<?x4xf32> -> tensor<7x4xf32>
  %2 = graph.abs %z : tensor<?x4xf32> -> tensor<7x4xf32>
  // CHECK-NEXT: %3 = graph.add %x, %x : (tensor<?x128xf16, #graph.dims<[N, 128]>>, tensor<?x128xf16, #graph.dims<[N, 128]>>) -> tensor<?x128xf16>
  %3 = graph.add %x, %x : (tensor<?x128xf16, #graph.dims<[N, 128]>>, tensor<?x128xf16, #graph.dims<[N, 128]>>) -> tensor<?x128xf16>
  // CHECK-NEXT: %4 = graph.reshape %x : tensor<?x128xf16, #graph.dims<[N, 128]>> -> tensor<?x8x16xf16, #graph.dims<[N, 8, 16]>>
  %4 = graph.reshape %x : tensor<?x128xf16, #graph.dims<[N, 128]>> -> tensor<?x8x16xf16, #graph.dims<[N, 8, 16]>>
  // CHECK-NEXT: %5 = graph.transpose %x {perm = [1, 0]} : tensor<?x128xf16, #graph.dims<[N, 128]>> -> tensor<128x?xf16, #graph.dims<[128, N]>>
  %5 = graph.transpose %x {perm = [1, 0]} : tensor<?x128xf16, #graph.dims<[N, 128]>> -> tensor<128x?xf16, #graph.dims<[128, N]>>
  func.return
}
