// A pad fills its borders with a tile made once; a concat stores each operand at its place; a gather
// loads an index and wraps a negative one.
//
// RUN: fuse-opt %s -p "graph-schedule,graph-to-npu" | filecheck %s

func.func @main(%x: tensor<8x32xf32>, %t: tensor<100x64xf16>, %i: tensor<7xi64>) -> (tensor<10x32xf32>, tensor<16x32xf32>, tensor<7x64xf16>) {
  %0 = graph.call @pad(%x) : (tensor<8x32xf32>) -> tensor<10x32xf32>
  %1 = graph.call @concat(%x, %x) : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  %2 = graph.call @gather(%t, %i) : (tensor<100x64xf16>, tensor<7xi64>) -> tensor<7x64xf16>
  func.return %0, %1, %2 : tensor<10x32xf32>, tensor<16x32xf32>, tensor<7x64xf16>
}

// CHECK-LABEL: func.func @pad(
// CHECK: npu.load
// CHECK: memref.reinterpret_cast %out to offset: [32], sizes: [256], strides: [1]
// CHECK: npu.store
// CHECK: %fill = npu.alloc
// CHECK-NEXT: npu.vbrc ins(%{{.*}} : f32) outs(%fill
// CHECK: memref.reinterpret_cast %out to offset: [0], sizes: [32]
// CHECK: npu.store ins(%fill
// CHECK: npu.vbrc
// CHECK: memref.reinterpret_cast %out to offset: [288], sizes: [32]
// CHECK: npu.store ins(%fill
graph.kernel @pad "pad"(%x: tensor<8x32xf32>) -> tensor<10x32xf32> {
  %0 = graph.pad %x {pads = [1, 0, 1, 0], value = 2.5} : tensor<8x32xf32> -> tensor<10x32xf32>
  graph.yield %0 : tensor<10x32xf32>
}

// CHECK-LABEL: func.func @concat(
// CHECK: memref.reinterpret_cast %out to offset: [0], sizes: [256]
// CHECK: npu.store
// CHECK: memref.reinterpret_cast %out to offset: [256], sizes: [256]
// CHECK: npu.store
graph.kernel @concat "concat"(%x: tensor<8x32xf32>, %y: tensor<8x32xf32>) -> tensor<16x32xf32> {
  %0 = graph.concat %x, %y {axis = 0} : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  graph.yield %0 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK: %[[I:[0-9]+]] = memref.load %i[%{{[a-z0-9]+}}] : memref<7xi64, #npu.space<gm>>
// CHECK: %[[W:[0-9]+]] = arith.addi %[[I]], %{{[0-9]+}} : i64
// CHECK: %[[N:[0-9]+]] = arith.cmpi slt, %[[I]], %{{[0-9]+}} : i64
// CHECK: %[[S:[0-9]+]] = arith.select %[[N]], %[[W]], %[[I]] : i64
// CHECK: %[[X:[0-9]+]] = arith.index_cast %[[S]] : i64 to index
// CHECK: memref.subview %t[%[[X]], 0] [1, 64] [1, 1]
// CHECK: npu.load
// CHECK: npu.store
graph.kernel @gather "gather"(%t: tensor<100x64xf16>, %i: tensor<7xi64>) -> tensor<7x64xf16> attributes {npu.schedule = #npu.schedule<"movement", {tiles = array<i64: 64, 64>, blocks = 7 : i64}>} {
  %0 = graph.gather %t, %i : (tensor<100x64xf16>, tensor<7xi64>) -> tensor<7x64xf16>
  graph.yield %0 : tensor<7x64xf16>
}
