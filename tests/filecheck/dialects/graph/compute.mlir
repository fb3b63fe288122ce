// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x4x8x8xf32>, %l: tensor<2x8x8x4xf32>, %c: tensor<3xi1>, %s: tensor<8xf32>, %s2: tensor<8x8xf32>, %p: tensor<4xf32>, %a: tensor<5x2x3xf32>, %b: tensor<3x4xf32>, %v: tensor<3xf32>, %k0: tensor<4x0xf32>, %k1: tensor<0x4xf32>, %m: tensor<2x3xf32>, %mt: tensor<3x2xf32>, %bt: tensor<4x3xf32>, %bias: tensor<4xf32>, %w: tensor<6x4x3x3xf32>, %wb: tensor<6xf32>, %wg: tensor<4x1x3x3xf32>, %wl: tensor<3x3x4x6xf32>, %t: tensor<1x3x9xf32>, %wt: tensor<2x3x4xf32>, %q: tensor<2x5x8xf16>, %k: tensor<2x7x8xf16>, %kv: tensor<2x7x4xf16>, %mask: tensor<1x7xf16>) -> tensor<2x4x8x8xf32> {
  // CHECK-NEXT: %sum = graph.reduce_sum %x {axes = [1, 3]} : tensor<2x4x8x8xf32> -> tensor<2x1x8x1xf32>
  %sum = graph.reduce_sum %x {axes = [1, 3]} : tensor<2x4x8x8xf32> -> tensor<2x1x8x1xf32>
  // CHECK-NEXT: %mean = graph.reduce_mean %x {axes = [1, 3]} : tensor<2x4x8x8xf32> -> tensor<2x1x8x1xf32>
  %mean = graph.reduce_mean %x {axes = [1, 3]} : tensor<2x4x8x8xf32> -> tensor<2x1x8x1xf32>
  // CHECK-NEXT: %max = graph.reduce_max %x {axes = [1, 3]} : tensor<2x4x8x8xf32> -> tensor<2x1x8x1xf32>
  %max = graph.reduce_max %x {axes = [1, 3]} : tensor<2x4x8x8xf32> -> tensor<2x1x8x1xf32>
  // CHECK-NEXT: %min = graph.reduce_min %x {axes = [1, 3]} : tensor<2x4x8x8xf32> -> tensor<2x1x8x1xf32>
  %min = graph.reduce_min %x {axes = [1, 3]} : tensor<2x4x8x8xf32> -> tensor<2x1x8x1xf32>
  // CHECK-NEXT: %prod = graph.reduce_prod %x {axes = [1, 3]} : tensor<2x4x8x8xf32> -> tensor<2x1x8x1xf32>
  %prod = graph.reduce_prod %x {axes = [1, 3]} : tensor<2x4x8x8xf32> -> tensor<2x1x8x1xf32>
  // CHECK-NEXT: %dropped = graph.reduce_max %x {keepdims = false, axes = [0, -1]} : tensor<2x4x8x8xf32> -> tensor<4x8xf32>
  %dropped = graph.reduce_max %x {keepdims = false, axes = [0, -1]} : tensor<2x4x8x8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: %all = graph.reduce_sum %x {keepdims = false, axes = []} : tensor<2x4x8x8xf32> -> tensor<f32>
  %all = graph.reduce_sum %x {keepdims = false, axes = []} : tensor<2x4x8x8xf32> -> tensor<f32>
  // CHECK-NEXT: %any = graph.reduce_max %c {axes = [0]} : tensor<3xi1> -> tensor<1xi1>
  %any = graph.reduce_max %c {axes = [0]} : tensor<3xi1> -> tensor<1xi1>
  // CHECK-NEXT: %softmax = graph.softmax %x : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  %softmax = graph.softmax %x : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  // CHECK-NEXT: %softmax_1 = graph.softmax %x {axis = 1} : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  %softmax_1 = graph.softmax %x {axis = 1} : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  // CHECK-NEXT: %log_softmax = graph.log_softmax %x {axis = 2} : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  %log_softmax = graph.log_softmax %x {axis = 2} : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  // CHECK-NEXT: %norm = graph.layer_normalization %x, %s : (tensor<2x4x8x8xf32>, tensor<8xf32>) -> tensor<2x4x8x8xf32>
  %norm = graph.layer_normalization %x, %s : (tensor<2x4x8x8xf32>, tensor<8xf32>) -> tensor<2x4x8x8xf32>
  // CHECK-NEXT: %norm_bias = graph.layer_normalization %x, %s2, %s {axis = 2, epsilon = 1.0e-12} : (tensor<2x4x8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x4x8x8xf32>
  %norm_bias = graph.layer_normalization %x, %s2, %s {axis = 2, epsilon = 1.0e-12} : (tensor<2x4x8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x4x8x8xf32>
  // CHECK-NEXT: %bn = graph.batch_normalization %x, %p, %p, %p, %p : (tensor<2x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8x8xf32>
  %bn = graph.batch_normalization %x, %p, %p, %p, %p : (tensor<2x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8x8xf32>
  // CHECK-NEXT: %bn_last = graph.batch_normalization %l, %p, %p, %p, %p {epsilon = 0.001, layout = "NHWC"} : (tensor<2x8x8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x8x8x4xf32>
  %bn_last = graph.batch_normalization %l, %p, %p, %p, %p {epsilon = 0.001, layout = "NHWC"} : (tensor<2x8x8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x8x8x4xf32>
  // CHECK-NEXT: %matmul = graph.matmul %a, %b : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  %matmul = graph.matmul %a, %b : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  // CHECK-NEXT: %dot = graph.matmul %v, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %dot = graph.matmul %v, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  // CHECK-NEXT: %rows = graph.matmul %v, %b : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  %rows = graph.matmul %v, %b : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %columns = graph.matmul %a, %v : (tensor<5x2x3xf32>, tensor<3xf32>) -> tensor<5x2xf32>
  %columns = graph.matmul %a, %v : (tensor<5x2x3xf32>, tensor<3xf32>) -> tensor<5x2xf32>
  // CHECK-NEXT: %nothing = graph.matmul %k0, %k1 : (tensor<4x0xf32>, tensor<0x4xf32>) -> tensor<4x4xf32>
  %nothing = graph.matmul %k0, %k1 : (tensor<4x0xf32>, tensor<0x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %gemm = graph.gemm %m, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %gemm = graph.gemm %m, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %gemm_all = graph.gemm %mt, %bt, %bias {alpha = 0.5, beta = 2.0, trans_a = true, trans_b = true} : (tensor<3x2xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %gemm_all = graph.gemm %mt, %bt, %bias {alpha = 0.5, beta = 2.0, trans_a = true, trans_b = true} : (tensor<3x2xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %conv = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32>
  %conv = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32>
  // CHECK-NEXT: %conv_bias = graph.conv %x, %w, %wb {strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<2x6x4x4xf32>
  %conv_bias = graph.conv %x, %w, %wb {strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<2x6x4x4xf32>
  // CHECK-NEXT: %conv_group = graph.conv %x, %wg {group = 4, strides = [1, 1], pads = [2, 2, 2, 2], dilations = [2, 2]} : (tensor<2x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<2x4x8x8xf32>
  %conv_group = graph.conv %x, %wg {group = 4, strides = [1, 1], pads = [2, 2, 2, 2], dilations = [2, 2]} : (tensor<2x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<2x4x8x8xf32>
  // CHECK-NEXT: %conv_last = graph.conv %l, %wl {x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC", strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x8x8x6xf32>
  %conv_last = graph.conv %l, %wl {x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC", strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x8x8x6xf32>
  // CHECK-NEXT: %conv_1d = graph.conv %t, %wt {strides = [2], pads = [0, 1], dilations = [1]} : (tensor<1x3x9xf32>, tensor<2x3x4xf32>) -> tensor<1x2x4xf32>
  %conv_1d = graph.conv %t, %wt {strides = [2], pads = [0, 1], dilations = [1]} : (tensor<1x3x9xf32>, tensor<2x3x4xf32>) -> tensor<1x2x4xf32>
  // CHECK-NEXT: %attention = graph.attention %q, %k, %kv {scale = 0.125} : (tensor<2x5x8xf16>, tensor<2x7x8xf16>, tensor<2x7x4xf16>) -> tensor<2x5x4xf16>
  %attention = graph.attention %q, %k, %kv {scale = 0.125} : (tensor<2x5x8xf16>, tensor<2x7x8xf16>, tensor<2x7x4xf16>) -> tensor<2x5x4xf16>
  // CHECK-NEXT: %masked = graph.attention %q, %k, %kv, %mask {scale = 0.125} : (tensor<2x5x8xf16>, tensor<2x7x8xf16>, tensor<2x7x4xf16>, tensor<1x7xf16>) -> tensor<2x5x4xf16>
  %masked = graph.attention %q, %k, %kv, %mask {scale = 0.125} : (tensor<2x5x8xf16>, tensor<2x7x8xf16>, tensor<2x7x4xf16>, tensor<1x7xf16>) -> tensor<2x5x4xf16>
  // CHECK-NEXT: %max_pool = graph.max_pool %x {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]} : tensor<2x4x8x8xf32> -> tensor<2x4x4x4xf32>
  %max_pool = graph.max_pool %x {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]} : tensor<2x4x8x8xf32> -> tensor<2x4x4x4xf32>
  // CHECK-NEXT: %ceil = graph.max_pool %x {ceil_mode = true, kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<2x4x8x8xf32> -> tensor<2x4x4x4xf32>
  %ceil = graph.max_pool %x {ceil_mode = true, kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<2x4x8x8xf32> -> tensor<2x4x4x4xf32>
  // CHECK-NEXT: %average = graph.average_pool %l {count_include_pad = true, layout = "NHWC", kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<2x8x8x4xf32> -> tensor<2x4x4x4xf32>
  %average = graph.average_pool %l {count_include_pad = true, layout = "NHWC", kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<2x8x8x4xf32> -> tensor<2x4x4x4xf32>
  // CHECK-NEXT: %global = graph.global_average_pool %x : tensor<2x4x8x8xf32> -> tensor<2x4x1x1xf32>
  %global = graph.global_average_pool %x : tensor<2x4x8x8xf32> -> tensor<2x4x1x1xf32>
  func.return %softmax : tensor<2x4x8x8xf32>
}
