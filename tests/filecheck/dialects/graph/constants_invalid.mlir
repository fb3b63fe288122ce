// RUN: fuse-opt %s --split-input-file --verify-diagnostics | filecheck %s
// CHECK: graph.weight: tensor<?xf32> is not static; what is stored has a size
func.func @dynamic_weight() {
  %0 = graph.weight "w" : tensor<?xf32>
  func.return
}

// -----

// CHECK: graph.weight: elements of type index are not known
func.func @weight_element() {
  %0 = graph.weight "w" : tensor<2xindex>
  func.return
}

// -----

// CHECK: graph.constant: elements of type index are not known
func.func @constant_element() {
  %0 = graph.constant dense<1> : tensor<2xindex>
  func.return
}

// -----

// CHECK: graph.constant: the value is tensor<2xf32>
func.func @constant_type() {
  %0 = "graph.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  func.return
}

// -----

// CHECK: graph.relu: #graph.dims<[N, 8]> does not fit the shape [?, 4]; give a name for each '?'
func.func @unnamed_size(%x: tensor<?x4xf32, #graph.dims<[N, 8]>>) {
  %0 = graph.relu %x : tensor<?x4xf32, #graph.dims<[N, 8]>> -> tensor<?x4xf32, #graph.dims<[N, 8]>>
  func.return
}

// -----

// CHECK: graph.relu: #graph.dims<[N]> does not fit the shape [?, 4]
func.func @named_rank(%x: tensor<?x4xf32>) {
  %0 = graph.relu %x : tensor<?x4xf32> -> tensor<?x4xf32, #graph.dims<[N]>>
  func.return
}

// -----

// CHECK: graph.relu: the result is tensor<?x4xf32, #graph.dims<[N, 4]>>, not tensor<?x5xf32, #graph.dims<[N, 5]>>
func.func @different_numbers(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) {
  %0 = graph.relu %x : tensor<?x4xf32, #graph.dims<[N, 4]>> -> tensor<?x5xf32, #graph.dims<[N, 5]>>
  func.return
}
