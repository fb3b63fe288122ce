func.func @main(%x: tensor<4x40xf32>) -> tensor<4x40xf32> {
  %0 = graph.relu %x : tensor<4x40xf32>
  func.return %0 : tensor<4x40xf32>
}
