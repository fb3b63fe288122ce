// RUN: fuse-opt %s -p graph-raise | filecheck %s

// CHECK-LABEL: func.func @silu
// CHECK-NEXT: %0 = graph.swish %x : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: func.return %0
func.func @silu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.sigmoid %x : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// Gated by another value: no swish.
// CHECK-LABEL: func.func @gated
// CHECK-NEXT: graph.sigmoid
// CHECK-NEXT: graph.mul
func.func @gated(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.sigmoid %z : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// The gate is needed by itself.
// CHECK-LABEL: func.func @gate_is_used
// CHECK-NEXT: graph.sigmoid
// CHECK-NEXT: graph.mul
func.func @gate_is_used(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.sigmoid %x : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %0 : tensor<4xf32>, tensor<4xf32>
}

// A slope that is no number.
// CHECK-LABEL: func.func @slopes
// CHECK-NOT: graph.swish
func.func @slopes(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.mul %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.sigmoid %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.mul %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// A slope of higher rank makes the result larger.
// CHECK-LABEL: func.func @larger
// CHECK-NOT: graph.swish
func.func @larger(%x: tensor<4xf32>) -> tensor<1x4xf32> {
  %a = graph.constant dense<2.0> : tensor<1x1xf32>
  %0 = graph.mul %x, %a : (tensor<4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %1 = graph.sigmoid %0 : tensor<1x4xf32> -> tensor<1x4xf32>
  %2 = graph.mul %x, %1 : (tensor<4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %2 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @hard_swish
// CHECK: %[[Y:.*]] = graph.hard_swish %x : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @hard_swish(%x: tensor<4xf32>) -> tensor<4xf32> {
  %three = graph.constant dense<3.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.clip %0 {min = 0.0, max = 6.0} : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.div %1, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

// Another slope: a hard sigmoid, but no hard swish.
// CHECK-LABEL: func.func @slower
// CHECK: %[[G:.*]] = graph.hard_sigmoid %x {alpha = 0.2{{.*}}} : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: graph.mul %x, %[[G]]
func.func @slower(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.constant dense<"0xCDCC4C3E"> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.mul %x, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.add %0, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.clip %1 {min = 0.0, max = 1.0} : tensor<4xf32> -> tensor<4xf32>
  %3 = graph.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

// Other limits.
// CHECK-LABEL: func.func @limits
// CHECK-NOT: graph.hard_s
func.func @limits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %three = graph.constant dense<3.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.clip %0 {min = 0.0, max = 5.0} : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.div %1, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// C22: clips with one limit only.
// CHECK-LABEL: func.func @one_sided
// CHECK-NEXT: %0 = graph.clip %x {min = 0.5}
// CHECK-NEXT: %1 = graph.clip %x {min = 0.0, max = 1.0}
func.func @one_sided(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = graph.relu %x : tensor<3xf32> -> tensor<3xf32>
  %1 = graph.clip %0 {min = 0.5} : tensor<3xf32> -> tensor<3xf32>
  %2 = graph.relu %x : tensor<3xf32> -> tensor<3xf32>
  %3 = graph.clip %2 {max = 1.0} : tensor<3xf32> -> tensor<3xf32>
  func.return %1, %3 : tensor<3xf32>, tensor<3xf32>
}

// A slope above 1 makes max(x, slope x) something else.
// CHECK-LABEL: func.func @steep
// CHECK-NOT: graph.leaky_relu
func.func @steep(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.mul %x, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.max %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// Limits of integers stay.
// CHECK-LABEL: func.func @integers
// CHECK: graph.max
func.func @integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  %a = graph.constant dense<2> : tensor<i32>
  %0 = graph.max %x, %a : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  func.return %0 : tensor<4xi32>
}
