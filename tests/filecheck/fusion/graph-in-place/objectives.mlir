// RUN: fuse-opt %s -p "graph-fuse,graph-in-place" | filecheck %s --check-prefix TIME
// RUN: fuse-opt %s -p "graph-fuse{objective=kernels}" | filecheck %s --check-prefix ASKED
// RUN: fuse-opt %s -p "graph-fuse{objective=kernels},graph-in-place" | filecheck %s --check-prefix KERNELS
// RUN: fuse-opt %s -p "graph-fuse{strategy=none},graph-in-place" | filecheck %s --check-prefix NONE
// RUN: %not 3 fuse-opt %s -p "graph-in-place{objective=speed}" 2>&1 | filecheck %s --check-prefix WRONG

// graph-fuse leaves what it judged by for graph-in-place, which takes it away. Unfused is unfused.

// TIME-NOT: graph.objective
// TIME:     graph.concat %{{.*}}, %{{.*}} {axis = 1}
// TIME-NEXT: func.return

// ASKED:   module attributes {{{.*}}graph.objective = "kernels"

// KERNELS-NOT: graph.objective
// KERNELS: graph.concat %{{.*}}, %{{.*}} {axis = 1}

// NONE-NOT: strides
// NONE:     graph.fused "concat"

// WRONG: graph-in-place: objective is one of time, bytes, kernels, found 'speed'

func.func @main(%x: tensor<256x512xf32>, %w: tensor<512x512xf32>) -> (tensor<256x1024xf32>) {
  %a = graph.exp %x : tensor<256x512xf32> -> tensor<256x512xf32>
  %b = graph.softmax %x {axis = -1} : tensor<256x512xf32> -> tensor<256x512xf32>
  %c = graph.concat %a, %b {axis = 1} : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<256x1024xf32>
  func.return %c : tensor<256x1024xf32>
}
