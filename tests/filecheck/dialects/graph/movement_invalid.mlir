// RUN: fuse-opt %s --split-input-file --verify-diagnostics | filecheck %s
// CHECK: graph.transpose: [0, 0, 1] does not permute the axes of [2, 3, 4]
func.func @perm(%x: tensor<2x3x4xf32>) {
  %0 = graph.transpose %x {perm = [0, 0, 1]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: graph.transpose: [1, 0] does not permute the axes of [2, 3, 4]
func.func @perm_length(%x: tensor<2x3x4xf32>) {
  %0 = graph.transpose %x {perm = [1, 0]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: graph.reshape: [2, 3, 4] and [5, 5] differ in number of elements
func.func @reshape(%x: tensor<2x3x4xf32>) {
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<5x5xf32>
  func.return
}

// -----

// CHECK: graph.reshape: [N, 3] and [N, 4] differ in number of elements
func.func @reshape_named(%x: tensor<?x3xf32, #graph.dims<[N, 3]>>) {
  %0 = graph.reshape %x : tensor<?x3xf32, #graph.dims<[N, 3]>> -> tensor<?x4xf32, #graph.dims<[N, 4]>>
  func.return
}

// -----

// CHECK: graph.reshape: the result has elements of f32
func.func @reshape_element(%x: tensor<2x3x4xf32>) {
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<24xf16>
  func.return
}

// -----

// CHECK: graph.expand: [2, 3, 4] does not broadcast to [2, 3, 5]
func.func @expand(%x: tensor<2x3x4xf32>) {
  %0 = graph.expand %x : tensor<2x3x4xf32> -> tensor<2x3x5xf32>
  func.return
}

// -----

// CHECK: graph.expand: [2, 3, 4] does not broadcast to [3, 4]
func.func @expand_smaller(%x: tensor<2x3x4xf32>) {
  %0 = graph.expand %x : tensor<2x3x4xf32> -> tensor<3x4xf32>
  func.return
}

// -----

// CHECK: graph.expand: [5] does not broadcast to [1]
func.func @expand_to_one(%x: tensor<5xf32>) {
  %0 = graph.expand %x : tensor<5xf32> -> tensor<1xf32>
  func.return
}

// -----

// CHECK: graph.squeeze: axes [1] of [2, 3, 4] do not have size 1
func.func @squeeze(%x: tensor<2x3x4xf32>) {
  %0 = graph.squeeze %x {axes = [1]} : tensor<2x3x4xf32> -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: graph.squeeze: name the axes; which sizes of [?, 1] are 1 is not known
func.func @squeeze_unknown(%x: tensor<?x1xf32>) {
  %0 = graph.squeeze %x {axes = []} : tensor<?x1xf32> -> tensor<?xf32>
  func.return
}

// -----

// CHECK: graph.unsqueeze: axes [0, -4] name an axis twice
func.func @unsqueeze(%x: tensor<2x3xf32>) {
  %0 = graph.unsqueeze %x {axes = [0, -4]} : tensor<2x3xf32> -> tensor<1x1x2x3xf32>
  func.return
}

// -----

// CHECK: graph.flatten: axis 3 does not cut a tensor of rank 2 in two
func.func @flatten(%x: tensor<2x3xf32>) {
  %0 = graph.flatten %x {axis = 3} : tensor<2x3xf32> -> tensor<6x1xf32>
  func.return
}

// -----

// CHECK: graph.slice: a slice has no step of 0
func.func @slice_step(%x: tensor<2x3x4xf32>) {
  %0 = graph.slice %x {starts = [0], ends = [1], axes = [0], steps = [0]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: graph.slice: a slice has no step of 0
func.func @slice_step_unknown(%x: tensor<?xf32>) {
  %0 = graph.slice %x {starts = [0], ends = [1], axes = [0], steps = [0]} : tensor<?xf32> -> tensor<?xf32>
  func.return
}

// -----

// CHECK: graph.slice: a slice has one start, end and step for each axis
func.func @slice_lengths(%x: tensor<2x3x4xf32>) {
  %0 = graph.slice %x {starts = [0], ends = [1, 1], axes = [0], steps = [1]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: graph.slice: axes [0, -3] name an axis twice
func.func @slice_axes(%x: tensor<2x3x4xf32>) {
  %0 = graph.slice %x {starts = [0, 0], ends = [1, 1], axes = [0, -3], steps = [1, 1]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: graph.pad: a tensor of rank 3 has 6 pads, not 4
func.func @pads(%x: tensor<2x3x4xf32>) {
  %0 = graph.pad %x {pads = [0, 0, 0, 0]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: graph.pad: pads [0, -4, 0, 0, 9, 0] remove more than [2, 3, 4] has
func.func @pads_cut(%x: tensor<2x3x4xf32>) {
  %0 = graph.pad %x {pads = [0, -4, 0, 0, 9, 0]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: graph.gather: the indices are f32; cast them to i64
func.func @indices(%x: tensor<2x3x4xf32>, %i: tensor<2xf32>) {
  %0 = graph.gather %x, %i : (tensor<2x3x4xf32>, tensor<2xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

// CHECK: graph.gather: axis 0 is not one of a tensor of rank 0
func.func @gather_axis(%x: tensor<f32>, %i: tensor<2xi64>) {
  %0 = graph.gather %x, %i : (tensor<f32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: graph.gather_elements: data [2, 3, 4] and indices [2] have equal ranks
func.func @elements_rank(%x: tensor<2x3x4xf32>, %i: tensor<2xi64>) {
  %0 = graph.gather_elements %x, %i : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: graph.gather_elements: indices [2, 4] are larger than data [2, 3]
func.func @elements_size(%x: tensor<2x3xf32>, %i: tensor<2x4xi64>) {
  %0 = graph.gather_elements %x, %i : (tensor<2x3xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: graph.concat: [2, 3] and [3, 3] do not join along axis 1
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  %0 = graph.concat %x, %y {axis = 1} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>
  func.return
}

// -----

// CHECK: graph.concat: [2, 3] and [3] do not join along axis 1
func.func @concat_rank(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  %0 = graph.concat %x, %y {axis = 1} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x6xf32>
  func.return
}

// -----

// CHECK: graph.concat: operands have different element types: f32, i64
func.func @concat_types(%x: tensor<2xf32>, %y: tensor<2xi64>) {
  %0 = graph.concat %x, %y {axis = 0} : (tensor<2xf32>, tensor<2xi64>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: graph.concat: joins at least one tensor
func.func @concat_nothing() {
  %0 = "graph.concat"() <{axis = 0 : i64}> : () -> tensor<0xf32>
  func.return
}

// -----

// CHECK: graph.split: pieces of [1, 1] do not make up 3, the size of axis 1
func.func @split(%x: tensor<2x3xf32>) {
  %0, %1 = graph.split %x {axis = 1, sizes = [1, 1]} : tensor<2x3xf32> -> tensor<2x1xf32>, tensor<2x1xf32>
  func.return
}

// -----

// CHECK: graph.split: 1 results, expected 2
func.func @split_results(%x: tensor<2x3xf32>) {
  %0 = graph.split %x {axis = 1, sizes = [1, 2]} : tensor<2x3xf32> -> tensor<2x1xf32>
  func.return
}

// -----

// CHECK: graph.split: sizes []; give the size of each result
func.func @split_nothing(%x: tensor<2x3xf32>) {
  "graph.split"(%x) <{axis = 0 : i64, sizes = array<i64>}> : (tensor<2x3xf32>) -> ()
  func.return
}

// -----

// CHECK: graph.split: sizes [4, -1]; give the size of each result
func.func @split_negative(%x: tensor<2x3xf32>) {
  %0, %1 = graph.split %x {axis = 1, sizes = [4, -1]} : tensor<2x3xf32> -> tensor<2x4xf32>, tensor<2x3xf32>
  func.return
}

// -----

// CHECK: graph.constant_of_shape: [?] is not static; nothing else says the size
func.func @filled() {
  %0 = graph.constant_of_shape : tensor<?xf32>
  func.return
}

// -----

// CHECK: graph.eye_like: a matrix has rank 2, not 1
func.func @eye() {
  %0 = graph.eye_like : tensor<3xf32>
  func.return
}
