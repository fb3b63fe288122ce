// RUN: fuse-opt %s -p graph-raise | filecheck %s

// x * ((1 + erf(x / sqrt(2))) * 0.5)
// CHECK-LABEL: func.func @product_last
// CHECK: %[[Y:.*]] = graph.gelu %x : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @product_last(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.erf %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = graph.add %one, %1 : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.mul %2, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = graph.mul %x, %3 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}

// (x * (1 + erf(x * sqrt(1/2)))) * 0.5
// CHECK-LABEL: func.func @half_last
// CHECK: %[[Y:.*]] = graph.gelu %x : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @half_last(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %root = graph.constant dense<0.707106769> : tensor<f32>
  %0 = graph.mul %root, %x : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.erf %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = graph.add %1, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = graph.mul %2, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.mul %half, %3 : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}

// (x * 0.5) * (1 + erf(x / sqrt(2)))
// CHECK-LABEL: func.func @half_first
// CHECK: %[[Y:.*]] = graph.gelu %x : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @half_first(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.mul %x, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %1 = graph.div %x, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = graph.erf %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = graph.add %2, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = graph.mul %0, %3 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}

// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
// CHECK-LABEL: func.func @tanh_pow
// CHECK: %[[Y:.*]] = graph.gelu %x {approximate = "tanh"} : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @tanh_pow(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %c = graph.constant dense<0.797884583> : tensor<f32>
  %a = graph.constant dense<0.0447149985> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.pow %x, %three : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.mul %0, %a : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = graph.add %x, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.mul %2, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = graph.tanh %3 : tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = graph.add %4, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %6 = graph.mul %half, %x : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = graph.mul %6, %5 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %7 : tensor<4x8xf32>
}

// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
// CHECK-LABEL: func.func @tanh_products
// CHECK: %[[Y:.*]] = graph.gelu %x {approximate = "tanh"} : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @tanh_products(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %c = graph.constant dense<0.797884583> : tensor<f32>
  %a = graph.constant dense<0.0447149985> : tensor<f32>
  %0 = graph.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.mul %0, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.mul %1, %a : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = graph.add %x, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.mul %3, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %5 = graph.tanh %4 : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = graph.add %5, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %7 = graph.mul %half, %x : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = graph.mul %7, %6 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %8 : tensor<4x8xf32>
}

// x/2 * (1 + tanh(sqrt(2/pi) x * (1 + 0.044715 x x)))
// CHECK-LABEL: func.func @tanh_factored
// CHECK: graph.gelu %x {approximate = "tanh"}
func.func @tanh_factored(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %c = graph.constant dense<0.797884583> : tensor<f32>
  %a = graph.constant dense<0.0447149985> : tensor<f32>
  %0 = graph.mul %x, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.mul %a, %x : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.mul %1, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.add %one, %2 : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.mul %0, %3 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = graph.tanh %4 : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = graph.add %5, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %7 = graph.mul %x, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %8 = graph.mul %7, %6 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %8 : tensor<4x8xf32>
}

// In f16 the constants are as near as the type allows.
// CHECK-LABEL: func.func @half_precision
// CHECK: graph.gelu %x : tensor<4x8xf16> -> tensor<4x8xf16>
func.func @half_precision(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %half = graph.constant dense<0.5> : tensor<f16>
  %one = graph.constant dense<1.0> : tensor<f16>
  %root = graph.constant dense<1.41406> : tensor<f16>
  %0 = graph.div %x, %root : (tensor<4x8xf16>, tensor<f16>) -> tensor<4x8xf16>
  %1 = graph.erf %0 : tensor<4x8xf16> -> tensor<4x8xf16>
  %2 = graph.add %1, %one : (tensor<4x8xf16>, tensor<f16>) -> tensor<4x8xf16>
  %3 = graph.mul %x, %half : (tensor<4x8xf16>, tensor<f16>) -> tensor<4x8xf16>
  %4 = graph.mul %3, %2 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %4 : tensor<4x8xf16>
}

// Not the same number: 1.5 for sqrt(2).
// CHECK-LABEL: func.func @other_constant
// CHECK-NOT: graph.gelu
func.func @other_constant(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %root = graph.constant dense<1.5> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.erf %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = graph.add %1, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = graph.mul %x, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = graph.mul %3, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}

// 1.0000001 is another number than 1, which f32 has.
// CHECK-LABEL: func.func @other_one
// CHECK-NOT: graph.gelu
func.func @other_one(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.00000012> : tensor<f32>
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.erf %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = graph.add %1, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = graph.mul %x, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = graph.mul %3, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}

// The product is with another value.
// CHECK-LABEL: func.func @other_value
// CHECK-NOT: graph.gelu
func.func @other_value(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.erf %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = graph.add %1, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = graph.mul %z, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = graph.mul %3, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}

// The error function is an output too, so nothing would be saved.
// CHECK-LABEL: func.func @second_user
// CHECK-NOT: graph.gelu
func.func @second_user(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.erf %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = graph.add %1, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = graph.mul %x, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = graph.mul %3, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %4, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A constant of higher rank makes the result larger.
// CHECK-LABEL: func.func @larger
// CHECK-NOT: graph.gelu
func.func @larger(%x: tensor<4x8xf32>) -> tensor<1x4x8xf32> {
  %half = graph.constant dense<0.5> : tensor<1x1x1xf32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.erf %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = graph.add %1, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = graph.mul %x, %half : (tensor<4x8xf32>, tensor<1x1x1xf32>) -> tensor<1x4x8xf32>
  %4 = graph.mul %3, %2 : (tensor<1x4x8xf32>, tensor<4x8xf32>) -> tensor<1x4x8xf32>
  func.return %4 : tensor<1x4x8xf32>
}
