// RUN: fuse-opt %s --load %S/Inputs/own.py -p prepare,optimise | filecheck %s --check-prefix FUSED
// RUN: fuse-opt %s --load %S/Inputs/own.py -p default | filecheck %s --check-prefix PLACED
// RUN: fuse-opt --load %S/Inputs/own.py --list-patterns own | filecheck %s --check-prefix LIST
// RUN: %not 3 fuse-opt %s 2>&1 | filecheck %s --check-prefix UNKNOWN

// An operator and a kernel of one's own, known to the text once their file is loaded. The host computes the operator; the fusion is one operator, whose kernel is its `lower`.
// FUSED: graph.opaque "Twice" domain "fusec.own" opset 1
// FUSED: graph.call @AbsRelu_0
// FUSED: graph.kernel @AbsRelu_0 "AbsRelu"
// FUSED-NEXT: graph.AbsRelu %0 : tensor<20x24xf32> -> tensor<20x24xf32>

// PLACED: npu.host_call "Twice" domain "fusec.own"
// PLACED: npu.launch @AbsRelu_0 blocks(2)
// PLACED: func.func @AbsRelu_0
// PLACED-SAME: npu.schedule = #npu.schedule<"own", {operator = "AbsRelu"}>
// PLACED: npu.alloc at 0
// PLACED: npu.load
// PLACED: npu.wait_flag
// PLACED: npu.vabs
// PLACED-NOT: npu.vrelu

// LIST: {{^}}AbsRelu{{$}}

// UNKNOWN: operator 'graph.Twice' is not registered

func.func @main(%x: tensor<20x24xf32>) -> tensor<20x24xf32> {
  %0 = graph.Twice %x : tensor<20x24xf32> -> tensor<20x24xf32>
  %1 = graph.abs %0 : tensor<20x24xf32> -> tensor<20x24xf32>
  %2 = graph.relu %1 : tensor<20x24xf32> -> tensor<20x24xf32>
  func.return %2 : tensor<20x24xf32>
}
