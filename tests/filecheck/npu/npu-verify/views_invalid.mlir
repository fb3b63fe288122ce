// Sub-views and reinterpreted buffers, of which xDSL checks nothing.
//
// RUN: fuse-opt %s -p npu-verify --split-input-file --verify-diagnostics | filecheck %s

// CHECK: invalid.mlir:7:3: 'memref.subview' in @rank: offsets, sizes and strides are lists of 2 numbers, one for each axis of the source
func.func @rank(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[0] [8] [1] : memref<16x64xf32, #npu.space<gm>> to memref<8xf32, strided<[1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: 'memref.subview' in @lists: offsets, sizes and strides are lists of 2 numbers
func.func @lists(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[0, 0] [8, 64] [1] : memref<16x64xf32, #npu.space<gm>> to memref<8x64xf32, strided<[64, 1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: a view of #npu.space<gm> is not in #npu.space<ub>
func.func @space(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[0, 0] [8, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<8x64xf32, strided<[64, 1]>, #npu.space<ub>>
  func.return
}

// -----

// CHECK: a view of f32 elements does not have f16 elements
func.func @elements(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[0, 0] [8, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<8x64xf16, strided<[64, 1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: the view has 8x64 with strides [64, 1], or that without axes of size 1, but its type says 8x32 with strides [64, 1]
func.func @size(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[0, 0] [8, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<8x32xf32, strided<[64, 1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: the view has 8x64 with strides [64, 1], or that without axes of size 1, but its type says 8x64 with strides [32, 1]
func.func @stride(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[0, 0] [8, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<8x64xf32, strided<[32, 1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: the view has 8x32 with strides [64, 2], or that without axes of size 1, but its type says 8x32 with strides [64, 1]
func.func @step(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[0, 0] [8, 32] [1, 2] : memref<16x64xf32, #npu.space<gm>> to memref<8x32xf32, strided<[64, 1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: the view has ?x64 with strides [64, 1], or that without axes of size 1, but its type says 8x64
func.func @static(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c = arith.constant 8 : index
  %v = memref.subview %x[0, 0] [%c, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<8x64xf32, strided<[64, 1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: the view has 8x64 with strides [64, 1], or that without axes of size 1, but its type says 64 with strides [1]
func.func @dropped(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[0, 0] [8, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<64xf32, strided<[1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: the view starts at element 128 of the buffer, but its type says 64
func.func @offset(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[2, 0] [8, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<8x64xf32, strided<[64, 1], offset: 64>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: the view starts at element ? of the buffer, but its type says 0
func.func @dynamic_offset(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c = arith.constant 2 : index
  %v = memref.subview %x[%c, 0] [8, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<8x64xf32, strided<[64, 1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: axis 0 reaches element 16 of 16; the view leaves its buffer
func.func @beyond(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[9, 0] [8, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<8x64xf32, strided<[64, 1], offset: 576>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: axis 1 reaches element 64 of 64; the view leaves its buffer
func.func @beyond_step(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[0, 0] [8, 33] [1, 2] : memref<16x64xf32, #npu.space<gm>> to memref<8x33xf32, strided<[64, 2]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: axis 0 reaches element 20 of 16; the view leaves its buffer
func.func @beyond_value(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c = arith.constant 20 : index
  %v = memref.subview %x[%c, 0] [1, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: axis 0 reaches element 16 of 16; the view leaves its buffer
func.func @beyond_loop(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  scf.for %i = %c16 to %c20 step %c1 {
    %v = memref.subview %x[%i, 0] [1, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #npu.space<gm>>
  }
  func.return
}

// -----

// CHECK: axis 0 has a negative offset or size, or no positive step
func.func @negative(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[-1, 0] [1, 64] [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<1x64xf32, strided<[64, 1], offset: -64>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: axis 1 has a negative offset or size, or no positive step
func.func @standing(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.subview %x[0, 0] [1, 64] [1, 0] : memref<16x64xf32, #npu.space<gm>> to memref<1x64xf32, strided<[64, 0]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: 'memref.reinterpret_cast' in @cast_space: a view of #npu.space<gm> is not in #npu.space<ub>
func.func @cast_space(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [1] : memref<16x64xf32, #npu.space<gm>> to memref<8xf32, strided<[1]>, #npu.space<ub>>
  func.return
}

// -----

// CHECK: offset 0 and strides [2] differ from 0 and [1] of the type
func.func @cast_stride(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [2] : memref<16x64xf32, #npu.space<gm>> to memref<8xf32, strided<[1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: offset 4 and strides [1] differ from 0 and [1] of the type
func.func @cast_offset(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.reinterpret_cast %x to offset: [4], sizes: [8], strides: [1] : memref<16x64xf32, #npu.space<gm>> to memref<8xf32, strided<[1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: expected one offset and 1 strides, one for each axis
func.func @cast_lists(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [1, 1] : memref<16x64xf32, #npu.space<gm>> to memref<8xf32, strided<[1]>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: reaches element 1024 of 1024; the view leaves its buffer
func.func @cast_beyond(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.reinterpret_cast %x to offset: [1], sizes: [16, 64], strides: [64, 1] : memref<16x64xf32, #npu.space<gm>> to memref<16x64xf32, strided<[64, 1], offset: 1>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: reaches element 1087 of 1024; the view leaves its buffer
func.func @cast_beyond_value(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c = arith.constant 64 : index
  %v = memref.reinterpret_cast %x to offset: [%c], sizes: [16, 64], strides: [64, 1] : memref<16x64xf32, #npu.space<gm>> to memref<16x64xf32, strided<[64, 1], offset: ?>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: the offset or a stride is negative
func.func @cast_negative(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %v = memref.reinterpret_cast %x to offset: [8], sizes: [8], strides: [-1] : memref<16x64xf32, #npu.space<gm>> to memref<8xf32, strided<[-1], offset: 8>, #npu.space<gm>>
  func.return
}

// -----

// CHECK: 'memref.reinterpret_cast' in @main: reaches element 1024 of 1024; the view leaves its buffer
func.func @main(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.host} {
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [1025], strides: [1] : memref<16x64xf32, #npu.space<gm>> to memref<1025xf32, #npu.space<gm>>
  func.return
}

// -----

// CHECK: 'npu.load' in @dominance: operand 1 %u is used where its definition by 'npu.alloc' at
func.func @dominance(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  %u = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  func.return
}
