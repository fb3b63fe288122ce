// Names that do not exist and limits that make no sense: one message with the nearest name.
// RUN: %not 3 fuse-opt %s -p 'graph-fuse{disable=conv_bn_rel}' 2>&1 | filecheck %s --check-prefix NEAR
// RUN: %not 3 fuse-opt %s -p 'graph-fuse{only=conv_bn_relu disable=conv_bn_relu}' 2>&1 | filecheck %s --check-prefix BOTH
// RUN: %not 3 fuse-opt %s -p 'graph-fuse{strategy=greed}' 2>&1 | filecheck %s --check-prefix STRATEGY
// RUN: %not 3 fuse-opt %s -p 'graph-fuse{objective=speed}' 2>&1 | filecheck %s --check-prefix OBJECTIVE
// RUN: %not 3 fuse-opt %s -p 'graph-fuse{max-ops=0}' 2>&1 | filecheck %s --check-prefix LIMIT
// RUN: %not 2 fuse-opt %s -p 'graph-fuse{maxops=4}' 2>&1 | filecheck %s --check-prefix OPTION

// NEAR: graph-fuse: unknown pattern 'conv_bn_rel'; did you mean 'conv_bn_relu'?
// BOTH: graph-fuse: 'conv_bn_relu' is both disabled and asked for
// STRATEGY: graph-fuse: unknown strategy 'greed'; did you mean 'greedy'? expected one of patterns, greedy, dp, beam, none
// OBJECTIVE: graph-fuse: unknown objective 'speed'; expected one of time, bytes, kernels
// LIMIT: graph-fuse: min-ops is at least 1, max-ops not less, and max-depth at least 0
// OPTION: maxops
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
