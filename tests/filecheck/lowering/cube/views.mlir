// Views of operands and results are addresses: heads of attention, a transposed operand, a result
// that is stored through a transposition, a cast by fixpipe.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%q: tensor<128x192xf16>, %k: tensor<128x192xf16>) -> (tensor<3x128x128xf16>, tensor<128x192xf16>, tensor<64x48xf16>) {
  %0 = graph.call @scores(%q, %k) : (tensor<128x192xf16>, tensor<128x192xf16>) -> tensor<3x128x128xf16>
  %1 = graph.call @values(%0, %k) : (tensor<3x128x128xf16>, tensor<128x192xf16>) -> tensor<128x192xf16>
  %a = graph.weight "a" : tensor<96x64xf32>
  %b = graph.weight "b" : tensor<48x96xf32>
  %2 = graph.call @transposed(%a, %b) : (tensor<96x64xf32>, tensor<48x96xf32>) -> tensor<64x48xf16>
  func.return %0, %1, %2 : tensor<3x128x128xf16>, tensor<128x192xf16>, tensor<64x48xf16>
}

// The key is stored [N, K] for the product: no copy is made of it.
// CHECK: func.func @scores
// CHECK-DAG: [[K:%[0-9]+]] = memref.reinterpret_cast %k to offset: [0], sizes: [3, 128, 64], strides: [64, 192, 1]
// CHECK-DAG: [[Q:%[0-9]+]] = memref.reinterpret_cast %q to offset: [0], sizes: [3, 128, 64], strides: [64, 192, 1]
// CHECK: memref.subview [[Q]]{{.*}} to memref<{{[0-9]+|\?}}x64xf16, strided<[192, 1], offset: ?>, #npu.space<gm>>
// CHECK: memref.subview [[K]]{{.*}} to memref<{{[0-9]+|\?}}x64xf16, strided<[192, 1], offset: ?>, #npu.space<gm>>
// CHECK: npu.mmad b_transpose ins
graph.kernel @scores "matmul"(%q: tensor<128x192xf16>, %k: tensor<128x192xf16>) -> tensor<3x128x128xf16> {
  %0 = graph.reshape %q : tensor<128x192xf16> -> tensor<128x3x64xf16>
  %1 = graph.transpose %0 {perm = [1, 0, 2]} : tensor<128x3x64xf16> -> tensor<3x128x64xf16>
  %2 = graph.reshape %k : tensor<128x192xf16> -> tensor<128x3x64xf16>
  %3 = graph.transpose %2 {perm = [1, 2, 0]} : tensor<128x3x64xf16> -> tensor<3x64x128xf16>
  %4 = graph.matmul %1, %3 : (tensor<3x128x64xf16>, tensor<3x64x128xf16>) -> tensor<3x128x128xf16>
  graph.yield %4 : tensor<3x128x128xf16>
}

// Each head goes to its columns of the result.
// CHECK: func.func @values
// CHECK: [[O:%[0-9]+]] = memref.reinterpret_cast %out to offset: [0], sizes: [3, 128, 64], strides: [64, 192, 1]
// CHECK: npu.mmad ins
// CHECK: memref.subview [[O]]
// CHECK-NEXT: npu.fixpipe ins
graph.kernel @values "matmul"(%p: tensor<3x128x128xf16>, %v: tensor<128x192xf16>) -> tensor<128x192xf16> {
  %0 = graph.reshape %v : tensor<128x192xf16> -> tensor<128x3x64xf16>
  %1 = graph.transpose %0 {perm = [1, 0, 2]} : tensor<128x3x64xf16> -> tensor<3x128x64xf16>
  %2 = graph.matmul %p, %1 : (tensor<3x128x128xf16>, tensor<3x128x64xf16>) -> tensor<3x128x64xf16>
  %3 = graph.transpose %2 {perm = [1, 0, 2]} : tensor<3x128x64xf16> -> tensor<128x3x64xf16>
  %4 = graph.reshape %3 : tensor<128x3x64xf16> -> tensor<128x192xf16>
  graph.yield %4 : tensor<128x192xf16>
}

// Both operands as they lie in gm; the cast is fixpipe's.
// CHECK: func.func @transposed
// CHECK: %a_1 = npu.alloc : memref<96x{{[0-9]+}}xf32, #npu.space<l1>>
// CHECK: %b_1 = npu.alloc : memref<{{[0-9]+}}x96xf32, #npu.space<l1>>
// CHECK: npu.mmad a_transpose b_transpose ins
// CHECK: npu.fixpipe ins({{.*}}xf32, {{.*}}#npu.space<l0c>>) outs({{.*}}xf16, {{.*}}#npu.space<gm>>)
graph.kernel @transposed "matmul_cast"(%a: tensor<96x64xf32>, %b: tensor<48x96xf32>) -> tensor<64x48xf16> {
  %0 = graph.transpose %a {perm = [1, 0]} : tensor<96x64xf32> -> tensor<64x96xf32>
  %1 = graph.transpose %b {perm = [1, 0]} : tensor<48x96xf32> -> tensor<96x48xf32>
  %2 = graph.matmul %0, %1 : (tensor<64x96xf32>, tensor<96x48xf32>) -> tensor<64x48xf32>
  %3 = graph.cast %2 {to = f16} : tensor<64x48xf32> -> tensor<64x48xf16>
  graph.yield %3 : tensor<64x48xf16>
}
