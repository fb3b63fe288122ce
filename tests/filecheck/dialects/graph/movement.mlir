// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3x4xf32>, %one: tensor<1x1xf32>, %row: tensor<3x1xf32>, %ones: tensor<1x5x1xf32>, %i: tensor<5x6xi64>, %j: tensor<i32>, %e: tensor<2x3x9xi64>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: %transpose = graph.transpose %x {perm = [2, 0, 1]} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %transpose = graph.transpose %x {perm = [2, 0, 1]} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  // CHECK-NEXT: %reshape = graph.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %reshape = graph.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  // CHECK-NEXT: %scalar = graph.reshape %one : tensor<1x1xf32> -> tensor<f32>
  %scalar = graph.reshape %one : tensor<1x1xf32> -> tensor<f32>
  // CHECK-NEXT: %expand = graph.expand %row : tensor<3x1xf32> -> tensor<2x3x4xf32>
  %expand = graph.expand %row : tensor<3x1xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT: %squeeze = graph.squeeze %ones {axes = [0, -1]} : tensor<1x5x1xf32> -> tensor<5xf32>
  %squeeze = graph.squeeze %ones {axes = [0, -1]} : tensor<1x5x1xf32> -> tensor<5xf32>
  // CHECK-NEXT: %squeeze_all = graph.squeeze %ones {axes = []} : tensor<1x5x1xf32> -> tensor<5xf32>
  %squeeze_all = graph.squeeze %ones {axes = []} : tensor<1x5x1xf32> -> tensor<5xf32>
  // CHECK-NEXT: %unsqueeze = graph.unsqueeze %x {axes = [0, -1]} : tensor<2x3x4xf32> -> tensor<1x2x3x4x1xf32>
  %unsqueeze = graph.unsqueeze %x {axes = [0, -1]} : tensor<2x3x4xf32> -> tensor<1x2x3x4x1xf32>
  // CHECK-NEXT: %flatten = graph.flatten %x : tensor<2x3x4xf32> -> tensor<2x12xf32>
  %flatten = graph.flatten %x : tensor<2x3x4xf32> -> tensor<2x12xf32>
  // CHECK-NEXT: %flatten_all = graph.flatten %x {axis = 0} : tensor<2x3x4xf32> -> tensor<1x24xf32>
  %flatten_all = graph.flatten %x {axis = 0} : tensor<2x3x4xf32> -> tensor<1x24xf32>
  // CHECK-NEXT: %flatten_last = graph.flatten %x {axis = 3} : tensor<2x3x4xf32> -> tensor<24x1xf32>
  %flatten_last = graph.flatten %x {axis = 3} : tensor<2x3x4xf32> -> tensor<24x1xf32>
  // CHECK-NEXT: %slice = graph.slice %x {starts = [0, -3], ends = [2147483647, -1], axes = [1, 2], steps = [2, 1]} : tensor<2x3x4xf32> -> tensor<2x2x2xf32>
  %slice = graph.slice %x {starts = [0, -3], ends = [2147483647, -1], axes = [1, 2], steps = [2, 1]} : tensor<2x3x4xf32> -> tensor<2x2x2xf32>
  // CHECK-NEXT: %reverse = graph.slice %x {starts = [-1], ends = [-2147483647], axes = [2], steps = [-1]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  %reverse = graph.slice %x {starts = [-1], ends = [-2147483647], axes = [2], steps = [-1]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT: %nothing = graph.slice %x {starts = [0], ends = [3], axes = [2], steps = [-1]} : tensor<2x3x4xf32> -> tensor<2x3x0xf32>
  %nothing = graph.slice %x {starts = [0], ends = [3], axes = [2], steps = [-1]} : tensor<2x3x4xf32> -> tensor<2x3x0xf32>
  // CHECK-NEXT: %pad = graph.pad %x {pads = [0, 1, 0, 0, 0, -2]} : tensor<2x3x4xf32> -> tensor<2x4x2xf32>
  %pad = graph.pad %x {pads = [0, 1, 0, 0, 0, -2]} : tensor<2x3x4xf32> -> tensor<2x4x2xf32>
  // CHECK-NEXT: %pad_value = graph.pad %x {value = -1.0e+30, pads = [1, 0, 0, 1, 0, 0]} : tensor<2x3x4xf32> -> tensor<4x3x4xf32>
  %pad_value = graph.pad %x {value = -1.0e+30, pads = [1, 0, 0, 1, 0, 0]} : tensor<2x3x4xf32> -> tensor<4x3x4xf32>
  // CHECK-NEXT: %gather = graph.gather %x, %i : (tensor<2x3x4xf32>, tensor<5x6xi64>) -> tensor<5x6x3x4xf32>
  %gather = graph.gather %x, %i : (tensor<2x3x4xf32>, tensor<5x6xi64>) -> tensor<5x6x3x4xf32>
  // CHECK-NEXT: %gather_axis = graph.gather %x, %j {axis = 1} : (tensor<2x3x4xf32>, tensor<i32>) -> tensor<2x4xf32>
  %gather_axis = graph.gather %x, %j {axis = 1} : (tensor<2x3x4xf32>, tensor<i32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %elements = graph.gather_elements %x, %e {axis = -1} : (tensor<2x3x4xf32>, tensor<2x3x9xi64>) -> tensor<2x3x9xf32>
  %elements = graph.gather_elements %x, %e {axis = -1} : (tensor<2x3x4xf32>, tensor<2x3x9xi64>) -> tensor<2x3x9xf32>
  // CHECK-NEXT: %concat = graph.concat %x, %x, %x {axis = -2} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x9x4xf32>
  %concat = graph.concat %x, %x, %x {axis = -2} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x9x4xf32>
  // CHECK-NEXT: %alone = graph.concat %x {axis = 0} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  %alone = graph.concat %x {axis = 0} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT: %p, %q = graph.split %x {axis = 2, sizes = [1, 3]} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>, tensor<2x3x3xf32>
  %p, %q = graph.split %x {axis = 2, sizes = [1, 3]} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>, tensor<2x3x3xf32>
  // CHECK-NEXT: %r, %s, %t = graph.split %x {sizes = [1, 0, 1]} : tensor<2x3x4xf32> -> tensor<1x3x4xf32>, tensor<0x3x4xf32>, tensor<1x3x4xf32>
  %r, %s, %t = graph.split %x {sizes = [1, 0, 1]} : tensor<2x3x4xf32> -> tensor<1x3x4xf32>, tensor<0x3x4xf32>, tensor<1x3x4xf32>
  // CHECK-NEXT: %whole = graph.split %x {sizes = [2]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  %whole = graph.split %x {sizes = [2]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT: %zeros = graph.constant_of_shape : tensor<4x5xf32>
  %zeros = graph.constant_of_shape : tensor<4x5xf32>
  // CHECK-NEXT: %sevens = graph.constant_of_shape {value = 7.0} : tensor<3xi64>
  %sevens = graph.constant_of_shape {value = 7.0} : tensor<3xi64>
  // CHECK-NEXT: %eye = graph.eye_like : tensor<2x3xf16>
  %eye = graph.eye_like : tensor<2x3xf16>
  func.return %expand : tensor<2x3x4xf32>
}
