// RUN: fuse-opt %s -p graph-simplify | filecheck %s

// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<24xf32>
  %1 = graph.unsqueeze %0 {axes = [0]} : tensor<24xf32> -> tensor<1x24xf32>
  %2 = graph.flatten %1 {axis = 2} : tensor<1x24xf32> -> tensor<24x1xf32>
  %3 = graph.squeeze %2 {axes = [1]} : tensor<24x1xf32> -> tensor<24xf32>
  // CHECK-NEXT: %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %4 = graph.reshape %3 : tensor<24xf32> -> tensor<6x4xf32>
  // CHECK-NEXT: func.return %0
  func.return %4 : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @there_and_back
func.func @there_and_back(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<24xf32>
  %1 = graph.reshape %0 : tensor<24xf32> -> tensor<2x3x4xf32>
  %2 = graph.transpose %x {perm = [2, 0, 1]} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %3 = graph.transpose %2 {perm = [1, 2, 0]} : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT: func.return %x, %x
  func.return %1, %3 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// The inner one stays for its other user.
// CHECK-LABEL: func.func @second_user
func.func @second_user(%x: tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<2x4x3xf32>) {
  // CHECK-NEXT: %0 = graph.transpose %x {perm = [2, 1, 0]}
  %0 = graph.transpose %x {perm = [2, 1, 0]} : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
  // CHECK-NEXT: %1 = graph.transpose %x {perm = [0, 2, 1]}
  %1 = graph.transpose %0 {perm = [2, 0, 1]} : tensor<4x3x2xf32> -> tensor<2x4x3xf32>
  // CHECK-NEXT: func.return %0, %1
  func.return %0, %1 : tensor<4x3x2xf32>, tensor<2x4x3xf32>
}

// A transposition between views is no view.
// CHECK-LABEL: func.func @between
func.func @between(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  // CHECK-NEXT: graph.transpose
  %0 = graph.transpose %x {perm = [1, 0]} : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK-NEXT: graph.reshape
  %1 = graph.reshape %0 : tensor<3x2xf32> -> tensor<6xf32>
  func.return %1 : tensor<6xf32>
}

// Sizes without a name may differ: only one of them can be found, and expand may fill it.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?x?xf32>, %y: tensor<?x4xf32>, %z: tensor<?x?xf32, #graph.dims<[N, M]>>) -> (tensor<?x?xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x?x1xf32>, tensor<?x?xf32, #graph.dims<[N, M]>>) {
  // CHECK-NEXT: %0 = graph.reshape %x : tensor<?x?xf32> -> tensor<?x?xf32>
  %0 = graph.reshape %x : tensor<?x?xf32> -> tensor<?x?xf32>
  // CHECK-NEXT: %1 = graph.expand %y : tensor<?x4xf32> -> tensor<?x4xf32>
  %1 = graph.expand %y : tensor<?x4xf32> -> tensor<?x4xf32>
  %2 = graph.reshape %y : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK-NEXT: %2 = graph.unsqueeze %x {axes = [0]}
  %3 = graph.unsqueeze %x {axes = [0]} : tensor<?x?xf32> -> tensor<1x?x?xf32>
  %4 = graph.unsqueeze %3 {axes = [3]} : tensor<1x?x?xf32> -> tensor<1x?x?x1xf32>
  // CHECK-NEXT: %3 = graph.unsqueeze %2 {axes = [3]}
  // CHECK-NEXT: %4 = graph.squeeze %3 {axes = [0]}
  %5 = graph.squeeze %4 {axes = [0]} : tensor<1x?x?x1xf32> -> tensor<?x?x1xf32>
  %6 = graph.reshape %z : tensor<?x?xf32, #graph.dims<[N, M]>> -> tensor<?x?xf32, #graph.dims<[N, M]>>
  // CHECK-NEXT: func.return %0, %1, %y, %4, %z
  func.return %0, %1, %2, %5, %6 : tensor<?x?xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x?x1xf32>, tensor<?x?xf32, #graph.dims<[N, M]>>
}

// A result whose type says less than the operand's keeps its own type.
// CHECK-LABEL: func.func @less_precise
func.func @less_precise(%x: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: graph.identity
  %0 = graph.identity %x : tensor<4xf32> -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
