// RUN: fuse-opt %s -p graph-raise --print-debuginfo | filecheck %s
// RUN: fuse-opt %s -p graph-raise --print-debuginfo | fuse-opt --print-debuginfo | filecheck %s
// RUN: fuse-opt %s -p graph-raise,graph-fuse,graph-outline --print-debuginfo | filecheck %s --check-prefix=CALL

// What is raised names every operator that it was, its result last; views stand by themselves.
// CALL-LABEL: func.func @main
// CALL: graph.call {{.*}} loc(fused[{{.*}}"mean"{{.*}}"scaled", "normal"("y")])

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x64xf32>, %s: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<8x64xf32> {
  %two = graph.constant dense<2.0> : tensor<f32> loc("two")
  %small = graph.constant dense<1.0e-5> : tensor<f32> loc("small")
  %0 = graph.reduce_mean %x {axes = [1]} : tensor<8x64xf32> -> tensor<8x1xf32> loc("mean")
  %1 = graph.sub %x, %0 : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32> loc("centred")
  %2 = graph.pow %1, %two : (tensor<8x64xf32>, tensor<f32>) -> tensor<8x64xf32> loc("square")
  %3 = graph.reduce_mean %2 {axes = [1]} : tensor<8x64xf32> -> tensor<8x1xf32> loc("variance")
  %4 = graph.add %3, %small : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32> loc("shifted")
  %5 = graph.sqrt %4 : tensor<8x1xf32> -> tensor<8x1xf32> loc("root")
  %6 = graph.div %1, %5 : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32> loc("quotient")
  %7 = graph.mul %6, %s : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32> loc("scaled"("t"))
  %8 = graph.add %7, %b : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32> loc("normal"("y"))
  // CHECK-NEXT: graph.layer_normalization {{.*}} loc(fused["mean", "centred", "square", "variance", "shifted", "root", "quotient", "scaled", "normal"("y")])
  func.return %8 : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<2x8x6x6xf32>, %s: tensor<8x1x1xf32>, %b: tensor<8x1x1xf32>) -> tensor<2x8x6x6xf32> {
  %two = graph.constant dense<2.0> : tensor<f32>
  %small = graph.constant dense<1.0e-5> : tensor<f32>
  %r = graph.reshape %x : tensor<2x8x6x6xf32> -> tensor<2x4x72xf32> loc("in groups")
  %0 = graph.reduce_mean %r {axes = [2]} : tensor<2x4x72xf32> -> tensor<2x4x1xf32> loc("mean")
  %1 = graph.sub %r, %0 : (tensor<2x4x72xf32>, tensor<2x4x1xf32>) -> tensor<2x4x72xf32> loc("centred")
  %2 = graph.pow %1, %two : (tensor<2x4x72xf32>, tensor<f32>) -> tensor<2x4x72xf32> loc("square")
  %3 = graph.reduce_mean %2 {axes = [2]} : tensor<2x4x72xf32> -> tensor<2x4x1xf32> loc("variance")
  %4 = graph.add %3, %small : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32> loc("shifted")
  %5 = graph.sqrt %4 : tensor<2x4x1xf32> -> tensor<2x4x1xf32> loc("root")
  %6 = graph.div %1, %5 : (tensor<2x4x72xf32>, tensor<2x4x1xf32>) -> tensor<2x4x72xf32> loc("quotient")
  %q = graph.reshape %6 : tensor<2x4x72xf32> -> tensor<2x8x6x6xf32> loc("as before")
  %7 = graph.mul %q, %s : (tensor<2x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<2x8x6x6xf32> loc("scaled")
  %8 = graph.add %7, %b : (tensor<2x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<2x8x6x6xf32> loc("normal")
  // CHECK: graph.group_normalization {{.*}} loc(fused[fused["in groups", "as before"], "mean", "centred", "square", "variance", "shifted", "root", "quotient", "scaled", "normal"])
  func.return %8 : tensor<2x8x6x6xf32>
}

// Each product keeps what it was made of; the scale that moved behind it keeps its name.
// CHECK-LABEL: func.func @moved
func.func @moved(%q: tensor<2x8x16xf32>, %k: tensor<2x16x8xf32>, %m: tensor<8x8xf32>) -> tensor<2x8x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.mul %q, %half : (tensor<2x8x16xf32>, tensor<f32>) -> tensor<2x8x16xf32> loc("scaled queries")
  %1 = graph.matmul %0, %k : (tensor<2x8x16xf32>, tensor<2x16x8xf32>) -> tensor<2x8x8xf32> loc("scores"("s"))
  // CHECK: graph.matmul {{.*}} loc("scores")
  // CHECK: graph.mul {{.*}} loc(fused["scaled queries", "scores"("s")])
  %2 = graph.softmax %1 : tensor<2x8x8xf32> -> tensor<2x8x8xf32> loc("weights")
  func.return %2 : tensor<2x8x8xf32>
}
