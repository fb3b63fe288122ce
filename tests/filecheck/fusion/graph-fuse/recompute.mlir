// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels max-ops=2}' | filecheck %s
// RUN: fuse-opt %s -p 'graph-fuse{objective=kernels max-ops=2 only=matmul_bias}' | filecheck %s --check-prefix OFF

// A cheap value that two kernels read, which are too large to be one with it, is computed in both.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.fused "mul"
// CHECK: graph.fused "matmul_mul"
// CHECK-NEXT: graph.mul %m_1, %n_1
// CHECK: graph.fused "matmul_mul"
// CHECK-NEXT: graph.mul %m_{{.*}}, %n_
// CHECK-NOT: graph.fused
// CHECK: func.return

// Automatic fusion being off, nothing is computed twice.
// OFF: graph.fused "mul"
// OFF-NEXT: graph.mul %m_1, %n_1
func.func @main(%x: tensor<256x128xf16>, %z: tensor<512x128xf16>, %m: tensor<256xf16>, %n: tensor<256xf16>) -> (tensor<256x256xf16>, tensor<512x256xf16>) {
  %w = graph.weight "w" : tensor<128x256xf16>
  %v = graph.weight "v" : tensor<128x256xf16>
  %c = graph.mul %m, %n : (tensor<256xf16>, tensor<256xf16>) -> tensor<256xf16>
  %p = graph.matmul %x, %w : (tensor<256x128xf16>, tensor<128x256xf16>) -> tensor<256x256xf16>
  %q = graph.matmul %z, %v : (tensor<512x128xf16>, tensor<128x256xf16>) -> tensor<512x256xf16>
  %r = graph.mul %p, %c : (tensor<256x256xf16>, tensor<256xf16>) -> tensor<256x256xf16>
  %s = graph.mul %q, %c : (tensor<512x256xf16>, tensor<256xf16>) -> tensor<512x256xf16>
  func.return %r, %s : tensor<256x256xf16>, tensor<512x256xf16>
}
