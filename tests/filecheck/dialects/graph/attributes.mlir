// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

// What equals its default is not printed; numbers keep every bit.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %0 = graph.softmax %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %0 = graph.softmax %x {axis = -1} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %1 = graph.softmax %x {axis = 0} : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = graph.softmax %x {axis = 0 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %2 = graph.clip %x {min = -0.0, max = 0x7ff0000000000000 : f64} : tensor<2x3xf32> -> tensor<2x3xf32>
  %2 = graph.clip %x {min = -0.0, max = 0x7FF0000000000000 : f64} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %3 = graph.clip %x {min = 0xfff0000000000000 : f64, max = 0x7ff8000000000000 : f64} : tensor<2x3xf32> -> tensor<2x3xf32>
  %3 = graph.clip %x {min = 0xFFF0000000000000 : f64, max = 0x7FF8000000000000 : f64} : tensor<2x3xf32> -> tensor<2x3xf32>
  // An integer is taken where a number is asked for.
  // CHECK-NEXT: %4 = graph.leaky_relu %x {alpha = 1.0} : tensor<2x3xf32> -> tensor<2x3xf32>
  %4 = graph.leaky_relu %x {alpha = 1} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %5 = graph.leaky_relu %x {alpha = 1.0e-300} : tensor<2x3xf32> -> tensor<2x3xf32>
  %5 = graph.leaky_relu %x {alpha = 1.0e-300 : f64} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %6 = graph.leaky_relu %x {alpha = 0.1} : tensor<2x3xf32> -> tensor<2x3xf32>
  %6 = graph.leaky_relu %x {alpha = 0.10000000000000001} : tensor<2x3xf32> -> tensor<2x3xf32>
  // A zero with a sign is not the default.
  // CHECK-NEXT: %7 = graph.pad %x {value = -0.0, pads = [0, 0, 0, 0]} : tensor<2x3xf32> -> tensor<2x3xf32>
  %7 = graph.pad %x {value = -0.0, pads = [0, 0, 0, 0]} : tensor<2x3xf32> -> tensor<2x3xf32>
  // What a user adds stays.
  // CHECK-NEXT: %8 = graph.relu %x attributes {my.mark = 1 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
  %8 = graph.relu %x attributes {my.mark = 1 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return %8 : tensor<2x3xf32>
}
