// RUN: fuse-opt %s | fuse-opt | filecheck %s
// RUN: fuse-opt %s --print-op-generic | fuse-opt | filecheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32>, %row: tensor<3xf32>, %column: tensor<2x1xf32>, %c: tensor<2x3xi1>, %i: tensor<i64>, %none: tensor<0x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %relu = graph.relu %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %relu = graph.relu %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %erf = graph.erf %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %erf = graph.erf %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %exp = graph.exp %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %exp = graph.exp %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %log = graph.log %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %log = graph.log %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %sqrt = graph.sqrt %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %sqrt = graph.sqrt %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %neg = graph.neg %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %neg = graph.neg %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %abs = graph.abs %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %abs = graph.abs %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %reciprocal = graph.reciprocal %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %reciprocal = graph.reciprocal %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %tanh = graph.tanh %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %tanh = graph.tanh %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %sigmoid = graph.sigmoid %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %sigmoid = graph.sigmoid %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %identity = graph.identity %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %identity = graph.identity %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %gelu = graph.gelu %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %gelu = graph.gelu %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %leaky_relu = graph.leaky_relu %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %leaky_relu = graph.leaky_relu %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %clip = graph.clip %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %clip = graph.clip %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %gelu_tanh = graph.gelu %x {approximate = "tanh"} : tensor<2x3xf32> -> tensor<2x3xf32>
  %gelu_tanh = graph.gelu %x {approximate = "tanh"} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %leaky = graph.leaky_relu %x {alpha = 0.25} : tensor<2x3xf32> -> tensor<2x3xf32>
  %leaky = graph.leaky_relu %x {alpha = 0.25} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %clip_both = graph.clip %x {min = -1.5, max = 6.0} : tensor<2x3xf32> -> tensor<2x3xf32>
  %clip_both = graph.clip %x {min = -1.5, max = 6.0} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %clip_max = graph.clip %x {max = 6.0} : tensor<2x3xf32> -> tensor<2x3xf32>
  %clip_max = graph.clip %x {max = 6.0} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: %cast = graph.cast %x {to = bf16} : tensor<2x3xf32> -> tensor<2x3xbf16>
  %cast = graph.cast %x {to = bf16} : tensor<2x3xf32> -> tensor<2x3xbf16>
  // CHECK-NEXT: %unsigned = graph.cast %x {to = ui8} : tensor<2x3xf32> -> tensor<2x3xui8>
  %unsigned = graph.cast %x {to = ui8} : tensor<2x3xf32> -> tensor<2x3xui8>
  // CHECK-NEXT: %truth = graph.cast %x {to = i1} : tensor<2x3xf32> -> tensor<2x3xi1>
  %truth = graph.cast %x {to = i1} : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK-NEXT: %add = graph.add %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %add = graph.add %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %sub = graph.sub %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %sub = graph.sub %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %mul = graph.mul %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %mul = graph.mul %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %div = graph.div %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %div = graph.div %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %pow = graph.pow %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %pow = graph.pow %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %max = graph.max %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %max = graph.max %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %min = graph.min %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %min = graph.min %x, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %equal = graph.equal %x, %column : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  %equal = graph.equal %x, %column : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: %greater = graph.greater %x, %column : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  %greater = graph.greater %x, %column : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: %less = graph.less %x, %column : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  %less = graph.less %x, %column : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: %greater_or_equal = graph.greater_or_equal %x, %column : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  %greater_or_equal = graph.greater_or_equal %x, %column : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: %less_or_equal = graph.less_or_equal %x, %column : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  %less_or_equal = graph.less_or_equal %x, %column : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: %and = graph.and %c, %c : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %and = graph.and %c, %c : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK-NEXT: %or = graph.or %c, %c : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %or = graph.or %c, %c : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK-NEXT: %xor = graph.xor %c, %c : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %xor = graph.xor %c, %c : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK-NEXT: %not = graph.not %c : tensor<2x3xi1> -> tensor<2x3xi1>
  %not = graph.not %c : tensor<2x3xi1> -> tensor<2x3xi1>
  // CHECK-NEXT: %power = graph.pow %x, %i : (tensor<2x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  %power = graph.pow %x, %i : (tensor<2x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  // CHECK-NEXT: %where = graph.where %c, %row, %column : (tensor<2x3xi1>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %where = graph.where %c, %row, %column : (tensor<2x3xi1>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %outer = graph.add %row, %column : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %outer = graph.add %row, %column : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %empty = graph.mul %none, %row : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  %empty = graph.mul %none, %row : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  func.return %relu : tensor<2x3xf32>
}
