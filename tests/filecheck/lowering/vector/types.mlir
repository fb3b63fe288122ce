// bf16 has no arithmetic: f32 between one cast in and one cast out. f16 sums stay f16, functions of
// f16 are computed in f32.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<512xbf16>, %y: tensor<512xf16>) -> (tensor<512xbf16>, tensor<512xf16>) {
  %0 = graph.call @bf16(%x) : (tensor<512xbf16>) -> tensor<512xbf16>
  %1 = graph.call @f16(%y) : (tensor<512xf16>) -> tensor<512xf16>
  func.return %0, %1 : tensor<512xbf16>, tensor<512xf16>
}

// CHECK-LABEL: func.func @bf16(
// CHECK: npu.vcast ins({{.*}}xbf16{{.*}}) outs(%[[X:[0-9]+]] : memref<512xf32
// CHECK: npu.vadd ins(%[[X]], %[[X]] :
// CHECK-NEXT: npu.vmul
// CHECK-NOT: npu.vcast
// CHECK: npu.vrelu
// CHECK: npu.vcast ins({{.*}}xf32{{.*}}) outs({{.*}}xbf16
// CHECK-NEXT: npu.store
graph.kernel @bf16 "chain"(%x: tensor<512xbf16>) -> tensor<512xbf16> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 512>, tiles = array<i64: 512>, blocks = 1 : i64}>} {
  %0 = graph.add %x, %x : (tensor<512xbf16>, tensor<512xbf16>) -> tensor<512xbf16>
  %1 = graph.mul %0, %x : (tensor<512xbf16>, tensor<512xbf16>) -> tensor<512xbf16>
  %2 = graph.relu %1 : tensor<512xbf16> -> tensor<512xbf16>
  graph.yield %2 : tensor<512xbf16>
}

// CHECK-LABEL: func.func @f16(
// CHECK: npu.vadd ins({{.*}}xf16
// CHECK: npu.vcast ins({{.*}}xf16{{.*}}) outs({{.*}}xf32
// CHECK: npu.vexp ins({{.*}}xf32
// CHECK: npu.vcast ins({{.*}}xf32{{.*}}) outs({{.*}}xf16
graph.kernel @f16 "add_sigmoid"(%x: tensor<512xf16>) -> tensor<512xf16> attributes {npu.schedule = #npu.schedule<"vector", {axes = array<i64: 512>, tiles = array<i64: 512>, blocks = 1 : i64}>} {
  %0 = graph.add %x, %x : (tensor<512xf16>, tensor<512xf16>) -> tensor<512xf16>
  %1 = graph.sigmoid %0 : tensor<512xf16> -> tensor<512xf16>
  graph.yield %1 : tensor<512xf16>
}
