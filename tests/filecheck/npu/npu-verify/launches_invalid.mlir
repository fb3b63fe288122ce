// Launches: every argument is used as what it is on the host.
//
// RUN: fuse-opt %s -p npu-verify --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'npu.launch' in @main: @helper is not a kernel
func.func @main(%x: memref<16x64xf32, #npu.space<gm>> {npu.input = "x"}) attributes {npu.host} {
  npu.launch @helper blocks(1) (%x : memref<16x64xf32, #npu.space<gm>>)
  func.return
}
func.func private @helper(memref<16x64xf32, #npu.space<gm>>)

// -----

// CHECK: 'npu.launch' in @main: @copy: launched with 3 blocks, written for 2
func.func @main(%x: memref<16x64xf32, #npu.space<gm>> {npu.input = "x"}, %y: memref<16x64xf32, #npu.space<gm>> {npu.output = "y"}) attributes {npu.host} {
  npu.launch @copy blocks(3) (%x, %y : memref<16x64xf32, #npu.space<gm>>, memref<16x64xf32, #npu.space<gm>>)
  func.return
}
func.func @copy(%x: memref<16x64xf32, #npu.space<gm>>, %y: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = 2 : i64} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%y : memref<16x64xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'npu.launch' in @main: @copy: argument 1: the kernel writes it, but it is an npu.input
func.func @main(%x: memref<16x64xf32, #npu.space<gm>> {npu.input = "x"}, %y: memref<16x64xf32, #npu.space<gm>> {npu.output = "y"}) attributes {npu.host} {
  npu.launch @copy blocks(2) (%y, %x : memref<16x64xf32, #npu.space<gm>>, memref<16x64xf32, #npu.space<gm>>)
  func.return
}
func.func @copy(%x: memref<16x64xf32, #npu.space<gm>>, %y: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = 2 : i64} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%y : memref<16x64xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'npu.launch' in @main: @copy: argument 1: the kernel writes it, but it is an npu.weight
func.func @main(%x: memref<16x64xf32, #npu.space<gm>> {npu.input = "x"}, %w: memref<16x64xf32, #npu.space<gm>> {npu.weight = "w"}) attributes {npu.host} {
  npu.launch @copy blocks(2) (%x, %w : memref<16x64xf32, #npu.space<gm>>, memref<16x64xf32, #npu.space<gm>>)
  func.return
}
func.func @copy(%x: memref<16x64xf32, #npu.space<gm>>, %y: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = 2 : i64} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%y : memref<16x64xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'npu.launch' in @main: @copy: argument 0: %a is read before it is written
func.func @main(%y: memref<16x64xf32, #npu.space<gm>> {npu.output = "y"}) attributes {npu.host} {
  %a = npu.alloc : memref<16x64xf32, #npu.space<gm>>
  npu.launch @copy blocks(2) (%a, %y : memref<16x64xf32, #npu.space<gm>>, memref<16x64xf32, #npu.space<gm>>)
  func.return
}
func.func @copy(%x: memref<16x64xf32, #npu.space<gm>>, %y: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = 2 : i64} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%y : memref<16x64xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'npu.launch' in @main: @copy: argument 1: is written, and passed as another argument as well
func.func @main(%y: memref<16x64xf32, #npu.space<gm>> {npu.output = "y"}) attributes {npu.host} {
  npu.launch @copy blocks(2) (%y, %y : memref<16x64xf32, #npu.space<gm>>, memref<16x64xf32, #npu.space<gm>>)
  func.return
}
func.func @copy(%x: memref<16x64xf32, #npu.space<gm>>, %y: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = 2 : i64} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%y : memref<16x64xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'func.func': @main: nothing writes output 2
func.func @main(%x: memref<16x64xf32, #npu.space<gm>> {npu.input = "x"}, %y: memref<16x64xf32, #npu.space<gm>> {npu.output = "y"}, %z: memref<16x64xf32, #npu.space<gm>> {npu.output = "z"}) attributes {npu.host} {
  npu.launch @copy blocks(2) (%x, %y : memref<16x64xf32, #npu.space<gm>>, memref<16x64xf32, #npu.space<gm>>)
  func.return
}
func.func @copy(%x: memref<16x64xf32, #npu.space<gm>>, %y: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector", npu.blocks = 2 : i64} {
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%y : memref<16x64xf32, #npu.space<gm>>)
  func.return
}

// -----

// CHECK: 'npu.launch' in @main: @with_workspace: argument 1: a workspace is a buffer of the host's own (npu.alloc)
func.func @main(%x: memref<16x64xf32, #npu.space<gm>> {npu.input = "x"}, %ws: memref<4x16x64xf32, #npu.space<gm>>) attributes {npu.host} {
  npu.launch @with_workspace blocks(4) (%x, %ws : memref<16x64xf32, #npu.space<gm>>, memref<4x16x64xf32, #npu.space<gm>>)
  func.return
}
func.func @with_workspace(%x: memref<16x64xf32, #npu.space<gm>>, %ws: memref<4x16x64xf32, #npu.space<gm>> {npu.workspace}) attributes {npu.core = "vector"} {
  func.return
}

// -----

// CHECK: 'npu.launch' in @main: @with_workspace: argument 1: the workspace has 4 parts for 5 blocks
func.func @main(%x: memref<16x64xf32, #npu.space<gm>> {npu.input = "x"}) attributes {npu.host} {
  %ws = npu.alloc : memref<4x16x64xf32, #npu.space<gm>>
  npu.launch @with_workspace blocks(5) (%x, %ws : memref<16x64xf32, #npu.space<gm>>, memref<4x16x64xf32, #npu.space<gm>>)
  func.return
}
func.func @with_workspace(%x: memref<16x64xf32, #npu.space<gm>>, %ws: memref<4x16x64xf32, #npu.space<gm>> {npu.workspace}) attributes {npu.core = "vector"} {
  func.return
}

// -----

// CHECK: 'memref.reinterpret_cast' in @main: on the host only a reshape of a contiguous part of a buffer is free
func.func @main(%x: memref<16x64xf32, #npu.space<gm>> {npu.input = "x"}) attributes {npu.host} {
  %r = memref.reinterpret_cast %x to offset: [0], sizes: [64, 16], strides: [1, 64] : memref<16x64xf32, #npu.space<gm>> to memref<64x16xf32, strided<[1, 64]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: 'memref.reinterpret_cast' in @main: reaches element 1024 of 1024; the view leaves its buffer
func.func @main(%x: memref<16x64xf32, #npu.space<gm>> {npu.input = "x"}) attributes {npu.host} {
  %r = memref.reinterpret_cast %x to offset: [513], sizes: [512], strides: [1] : memref<16x64xf32, #npu.space<gm>> to memref<512xf32, strided<[1], offset: 513>, #npu.space<gm>>
  func.return
}

// -----

// Columns 0 to 3 and 4 to 7 of a buffer share nothing, but columns 3 to 6 share one with the first.
// CHECK: argument 1: is written, and passed as another argument as well
func.func @main(%x: memref<4x8xf32, #npu.space<gm>> {npu.output = "x"}) attributes {npu.host} {
  %a = memref.reinterpret_cast %x to offset: [0], sizes: [28], strides: [1] : memref<4x8xf32, #npu.space<gm>> to memref<28xf32, #npu.space<gm>>
  %b = memref.reinterpret_cast %x to offset: [3], sizes: [28], strides: [1] : memref<4x8xf32, #npu.space<gm>> to memref<28xf32, strided<[1], offset: 3>, #npu.space<gm>>
  npu.launch @columns blocks(1) (%a, %b : memref<28xf32, #npu.space<gm>>, memref<28xf32, strided<[1], offset: 3>, #npu.space<gm>>)
  func.return
}
func.func @columns(%a: memref<28xf32, #npu.space<gm>> {npu.part = memref<4x4xf32, strided<[8, 1]>, #npu.space<gm>>}, %b: memref<28xf32, #npu.space<gm>> {npu.part = memref<4x4xf32, strided<[8, 1]>, #npu.space<gm>>}) attributes {npu.core = "vector"} {
  %u = npu.alloc : memref<4x8xf32, #npu.space<ub>>
  %v = memref.subview %u[0, 0] [4, 4] [1, 1] : memref<4x8xf32, #npu.space<ub>> to memref<4x4xf32, strided<[8, 1]>, #npu.space<ub>>
  %s = memref.reinterpret_cast %a to offset: [0], sizes: [4, 4], strides: [8, 1] : memref<28xf32, #npu.space<gm>> to memref<4x4xf32, strided<[8, 1]>, #npu.space<gm>>
  %d = memref.reinterpret_cast %b to offset: [0], sizes: [4, 4], strides: [8, 1] : memref<28xf32, #npu.space<gm>> to memref<4x4xf32, strided<[8, 1]>, #npu.space<gm>>
  npu.load ins(%s : memref<4x4xf32, strided<[8, 1]>, #npu.space<gm>>) outs(%v : memref<4x4xf32, strided<[8, 1]>, #npu.space<ub>>)
  npu.store ins(%v : memref<4x4xf32, strided<[8, 1]>, #npu.space<ub>>) outs(%d : memref<4x4xf32, strided<[8, 1]>, #npu.space<gm>>)
  func.return
}
