// Booleans in gm are bytes: compared with 0 before they are a mask, and back through f16.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<16x64xf32>, %m: tensor<16x64xi1>) -> (tensor<16x64xf32>, tensor<16x64xi1>) {
  %0, %1 = graph.call @mask(%x, %m) : (tensor<16x64xf32>, tensor<16x64xi1>) -> (tensor<16x64xf32>, tensor<16x64xi1>)
  func.return %0, %1 : tensor<16x64xf32>, tensor<16x64xi1>
}

// CHECK-LABEL: func.func @mask(
// CHECK: npu.load ins({{.*}}xi1{{.*}}) outs(%[[B:[0-9]+]] :
// CHECK: npu.vcast ins(%[[B]] : {{.*}}) outs(%[[F:[0-9]+]] : memref<{{.*}}xf16
// CHECK: npu.vcmp "ne" ins(%[[F]], %{{.*}} : {{.*}}, f16) outs(%[[M:[0-9]+]] :
// CHECK: npu.vnot ins(%[[M]] : {{.*}}) outs(%[[N:[0-9]+]] :
// CHECK: npu.vsel ins(%[[N]], %{{[0-9]+}}, %{{.*}} : {{.*}}, {{.*}}, f32)
// CHECK: npu.vcast ins(%[[N]] : {{.*}}) outs(%[[G:[0-9]+]] : memref<{{.*}}xf16
// CHECK: npu.vcast ins(%[[G]] : {{.*}}) outs(%[[Y:[0-9]+]] : memref<{{.*}}xi1
// CHECK: npu.store ins(%[[Y]] :
graph.kernel @mask "not_where"(%x: tensor<16x64xf32>, %m: tensor<16x64xi1>) -> tensor<16x64xf32>, tensor<16x64xi1> {
  %0 = graph.not %m : tensor<16x64xi1> -> tensor<16x64xi1>
  %z = graph.constant dense<-1.0> : tensor<f32>
  %1 = graph.where %0, %x, %z : (tensor<16x64xi1>, tensor<16x64xf32>, tensor<f32>) -> tensor<16x64xf32>
  graph.yield %1, %0 : tensor<16x64xf32>, tensor<16x64xi1>
}
