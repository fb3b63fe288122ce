// RUN: fuse-opt %s -p graph-infer-shapes | filecheck %s

// Sizes that follow from operands replace `?`; a number wins over a name, a name over `?`.

// CHECK-LABEL: func.func @static(%x: tensor<2x3x4xf32>, %w: tensor<6x3x3x3xf32>, %i: tensor<1x3x9x9xf32>) -> (tensor<24xf32>, tensor<2x4x3xf16>, tensor<1x6x7x7xf32>) {
func.func @static(%x: tensor<2x3x4xf32>, %w: tensor<6x3x3x3xf32>, %i: tensor<1x3x9x9xf32>) -> (tensor<?xf32>, tensor<?x?x?xf16>, tensor<?x?x?x?xf32>) {
  // CHECK-NEXT: %0 = graph.relu %x : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  %0 = graph.relu %x : tensor<2x3x4xf32> -> tensor<?x?x?xf32>
  // CHECK-NEXT: %1 = graph.reshape %0 : tensor<2x3x4xf32> -> tensor<24xf32>
  %1 = graph.reshape %0 : tensor<?x?x?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %2 = graph.transpose %0 {perm = [0, 2, 1]} : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  %2 = graph.transpose %0 {perm = [0, 2, 1]} : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  // CHECK-NEXT: %3 = graph.cast %2 {to = f16} : tensor<2x4x3xf32> -> tensor<2x4x3xf16>
  %3 = graph.cast %2 {to = f16} : tensor<?x?x?xf32> -> tensor<?x?x?xf16>
  // CHECK-NEXT: %4 = graph.conv {{.*}} -> tensor<1x6x7x7xf32>
  %4 = graph.conv %i, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x9x9xf32>, tensor<6x3x3x3xf32>) -> tensor<?x?x?x?xf32>
  // CHECK-NEXT: func.return %1, %3, %4 : tensor<24xf32>, tensor<2x4x3xf16>, tensor<1x6x7x7xf32>
  func.return %1, %3, %4 : tensor<?xf32>, tensor<?x?x?xf16>, tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func.func @names(
// CHECK-SAME: -> tensor<?x?x64xf32, #graph.dims<[N, S, 64]>>
func.func @names(%x: tensor<?x?x64xf32, #graph.dims<[N, S, 64]>>, %y: tensor<?x?x64xf32>, %z: tensor<1x7x1xf32>) -> tensor<?x?x?xf32> {
  // CHECK-NEXT: %0 = graph.reshape %x : {{.*}} -> tensor<?x?x8x8xf32, #graph.dims<[N, S, 8, 8]>>
  %0 = graph.reshape %x : tensor<?x?x64xf32, #graph.dims<[N, S, 64]>> -> tensor<?x?x8x8xf32, #graph.dims<[N, ?, 8, 8]>>
  // CHECK-NEXT: %1 = graph.transpose %0 {perm = [0, 2, 1, 3]} : {{.*}} -> tensor<?x8x?x8xf32, #graph.dims<[N, 8, S, 8]>>
  %1 = graph.transpose %0 {perm = [0, 2, 1, 3]} : tensor<?x?x8x8xf32, #graph.dims<[N, ?, 8, 8]>> -> tensor<?x?x?x?xf32>
  // What two unnamed sizes have to do with each other is not known.
  // CHECK-NEXT: %2 = graph.add %x, %y : {{.*}} -> tensor<?x?x64xf32>
  %2 = graph.add %x, %y : (tensor<?x?x64xf32, #graph.dims<[N, S, 64]>>, tensor<?x?x64xf32>) -> tensor<?x?x64xf32>
  // CHECK-NEXT: %3 = graph.add %x, %z : {{.*}} -> tensor<?x7x64xf32, #graph.dims<[N, 7, 64]>>
  %3 = graph.add %x, %z : (tensor<?x?x64xf32, #graph.dims<[N, S, 64]>>, tensor<1x7x1xf32>) -> tensor<?x?x64xf32>
  // CHECK-NEXT: %4 = graph.slice %x {{.*}} -> tensor<?x?x32xf32, #graph.dims<[N, ?, 32]>>
  %4 = graph.slice %x {starts = [1, 0], ends = [2147483647, 32], axes = [1, 2], steps = [1, 1]} : tensor<?x?x64xf32, #graph.dims<[N, S, 64]>> -> tensor<?x?x?xf32>
  // CHECK-NEXT: %5 = graph.slice %x {{.*}} -> tensor<?x?x64xf32, #graph.dims<[N, S, 64]>>
  %5 = graph.slice %x {starts = [0], ends = [2147483647], axes = [1], steps = [1]} : tensor<?x?x64xf32, #graph.dims<[N, S, 64]>> -> tensor<?x?x?xf32>
  // CHECK-NEXT: %6 = graph.pad %5 {{.*}} -> tensor<?x?x66xf32, #graph.dims<[N, S, 66]>>
  %6 = graph.pad %5 {pads = [0, 0, 1, 0, 0, 1]} : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  // CHECK-NEXT: %7 = graph.concat %x, %y {axis = 2} : {{.*}} -> tensor<?x?x128xf32, #graph.dims<[N, S, 128]>>
  %7 = graph.concat %x, %y {axis = 2} : (tensor<?x?x64xf32, #graph.dims<[N, S, 64]>>, tensor<?x?x64xf32>) -> tensor<?x?x?xf32>
  // CHECK-NEXT: %8 = graph.flatten %x : {{.*}} -> tensor<?x?xf32, #graph.dims<[N, ?]>>
  %8 = graph.flatten %x : tensor<?x?x64xf32, #graph.dims<[N, S, 64]>> -> tensor<?x?xf32>
  // CHECK-NEXT: func.return %5
  func.return %5 : tensor<?x?x?xf32>
}

// What is declared may say more than what follows.
// CHECK-LABEL: func.func @declared
func.func @declared(%x: tensor<?xf32>) -> tensor<4x?xf32> {
  // CHECK-NEXT: %0 = graph.relu %x : tensor<?xf32> -> tensor<8xf32>
  %0 = graph.relu %x : tensor<?xf32> -> tensor<8xf32>
  // CHECK-NEXT: %1 = graph.reshape %0 : tensor<8xf32> -> tensor<4x2xf32>
  %1 = graph.reshape %0 : tensor<8xf32> -> tensor<4x?xf32>
  func.return %1 : tensor<4x?xf32>
}

// Of two sizes without a name neither can be found.
// CHECK-LABEL: func.func @two
func.func @two(%x: tensor<2x12xf32>) -> tensor<?x?x3xf32> {
  // CHECK-NEXT: graph.reshape %x : tensor<2x12xf32> -> tensor<?x?x3xf32>
  %0 = graph.reshape %x : tensor<2x12xf32> -> tensor<?x?x3xf32>
  func.return %0 : tensor<?x?x3xf32>
}

// Groups are inferred from within; expand takes sizes from its operand.
// CHECK-LABEL: func.func @group
func.func @group(%x: tensor<4x5xf32>) -> tensor<?x?xf32> {
  // CHECK-NEXT: %0 = graph.neg %x : tensor<4x5xf32> -> tensor<4x5xf32>
  %0 = graph.neg %x : tensor<4x5xf32> -> tensor<?x?xf32>
  // CHECK-NEXT: %1 = graph.fused "auto"(%a = %0 : tensor<4x5xf32>) -> tensor<3x4x5xf32> {
  %1 = graph.fused "auto"(%a = %0 : tensor<?x?xf32>) -> tensor<3x?x?xf32> {
    // CHECK-NEXT: graph.expand {{.*}} : tensor<4x5xf32> -> tensor<3x4x5xf32>
    %b = graph.expand %a : tensor<?x?xf32> -> tensor<3x?x?xf32>
    // CHECK-NEXT: graph.yield {{.*}} : tensor<3x4x5xf32>
    graph.yield %b : tensor<3x?x?xf32>
  }
  func.return %0 : tensor<?x?xf32>
}

// A declaration has no body to infer from.
// CHECK: func.func private @elsewhere(tensor<?xf32>) -> tensor<?xf32>
func.func private @elsewhere(tensor<?xf32>) -> tensor<?xf32>
