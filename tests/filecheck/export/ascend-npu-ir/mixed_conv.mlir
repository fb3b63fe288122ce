// A tile of L1 that is loaded in parts: in its address space, so that a fill stays on the cube core,
// and through a cast, so that the compiler does not take one part's size for the product's. Where K
// has a tail, both tiles are zeroed, as all of K is added up.
//
// RUN: fuse-opt %s -t ascend-npu-ir | filecheck %s

// CHECK:      %acc = scf.for %k = %c0 to %c100 step %c64 iter_args(%carried = %empty) -> (tensor<28x32xf32>) {
// CHECK:        %a = memref.alloc() : memref<28x64xf16, #hivm.address_space<cbuf>>
// CHECK-NEXT:   %a_1 = memref.cast %a : memref<28x64xf16, #hivm.address_space<cbuf>> to memref<28x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>>
// CHECK-NEXT:   hivm.hir.vbrc ins(%zero : f16) outs(%a : memref<28x64xf16, #hivm.address_space<cbuf>>)
// CHECK:        scf.for %r = %c0 to %c2 step %c1 {
// CHECK:          %to = memref.subview %a_1[%line, 0] [14, %d] [1, 1] : memref<28x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>> to memref<14x?xf16, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>>
// CHECK-NEXT:     hivm.hir.load ins(%from : memref<14x?xf16, strided<[100, 1], offset: ?>>) outs(%to : memref<14x?xf16, strided<[64, 1], offset: ?>, #hivm.address_space<cbuf>>)
// CHECK-NEXT:   }
// CHECK-NEXT:   %b = memref.alloc() : memref<64x32xf16, #hivm.address_space<cbuf>>
// CHECK-NEXT:   %b_1 = memref.cast %b
// CHECK-NEXT:   hivm.hir.vbrc ins(%zero : f16) outs(%b : memref<64x32xf16, #hivm.address_space<cbuf>>)
// CHECK:        hivm.hir.load
// CHECK-NEXT:   %t = bufferization.to_tensor %a restrict writable : memref<28x64xf16, #hivm.address_space<cbuf>>
// CHECK-NEXT:   %t_1 = bufferization.to_tensor %b restrict writable : memref<64x32xf16, #hivm.address_space<cbuf>>
// CHECK-NEXT:   %acc_1 = hivm.hir.mmadL1 ins(%t, %t_1, %first, %c28, %d, %c32 : tensor<28x64xf16>, tensor<64x32xf16>, i1, index, index, index) outs(%carried : tensor<28x32xf32>) -> tensor<28x32xf32>

// The workspace is read along three axes.
// CHECK:      scf.for %c = %lower to %c2 step %twice {
// CHECK:        %line_1 = arith.muli %c, %c14 : index
// CHECK-NEXT:   %lines = tensor.extract_slice %acc[%line_1, 0] [14, 32] [1, 1] : tensor<28x32xf32> to tensor<14x32xf32>
// CHECK-NEXT:   %tile = tensor.expand_shape %lines {{\[\[}}0, 1], [2]] output_shape [1, 14, 32] : tensor<14x32xf32> into tensor<1x14x32xf32>
// CHECK:        %tile_1 = hivm.hir.vexp ins(%tile : tensor<1x14x32xf32>)
// CHECK:        hivm.hir.store ins(%tile_1 : tensor<1x14x32xf32>) outs(%og

// An axis that the view leaves out counts all the same.
// CHECK:      func.func @conv_exp_rows
// CHECK:      scf.for %c = %lower to %c2 step %twice {
// CHECK:        %line_1 = arith.muli %c, %c14 : index
// CHECK-NEXT:   %lines = tensor.extract_slice %acc[%line_1, 0] [14, 32] [1, 1] : tensor<28x32xf32> to tensor<14x32xf32>
// CHECK:        hivm.hir.vexp ins(%lines : tensor<14x32xf32>)

!x = memref<16x14x100xf16, #npu.space<gm>>
!w = memref<100x32xf16, #npu.space<gm>>
!y = memref<16x14x32xf32, #npu.space<gm>>
!ws = memref<8x28x32xf32, #npu.space<gm>>
!ws4 = memref<8x2x14x32xf32, strided<[896, 448, 32, 1]>, #npu.space<gm>>
!a = memref<28x64xf16, #npu.space<l1>>
!as = memref<14x?xf16, strided<[64, 1], offset: ?>, #npu.space<l1>>
!at = memref<28x?xf16, strided<[64, 1]>, #npu.space<l1>>
!b = memref<64x32xf16, #npu.space<l1>>
!bs = memref<?x32xf16, strided<[32, 1]>, #npu.space<l1>>
!acc = memref<28x32xf32, #npu.space<l0c>>
!xg = memref<14x?xf16, strided<[100, 1], offset: ?>, #npu.space<gm>>
!wg = memref<?x32xf16, strided<[32, 1], offset: ?>, #npu.space<gm>>
!wsg = memref<28x32xf32, strided<[32, 1], offset: ?>, #npu.space<gm>>
!wsc = memref<1x14x32xf32, strided<[448, 32, 1], offset: ?>, #npu.space<gm>>
!u = memref<1x14x32xf32, #npu.space<ub>>
!ur = memref<14x32xf32, #npu.space<ub>>
!wsr = memref<14x32xf32, strided<[32, 1], offset: ?>, #npu.space<gm>>
func.func @conv_exp(%x: !x, %w: !w, %out: !y, %ws: !ws {npu.workspace})
    attributes {npu.core = "mixed", npu.blocks = 8 : i64} {
  %block = npu.block_idx : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c14 = arith.constant 14 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %row = arith.muli %block, %c2 : index
  %acc = npu.alloc : !acc
  scf.for %k = %c0 to %c100 step %c64 {
    %first = arith.cmpi eq, %k, %c0 : index
    %rest = arith.subi %c100, %k : index
    %d = arith.minsi %rest, %c64 : index
    %a = npu.alloc : !a
    scf.for %r = %c0 to %c2 step %c1 {
      %h = arith.addi %row, %r : index
      %from = memref.subview %x[%h, 0, %k] [1, 14, %d] [1, 1, 1] : !x to !xg
      %line = arith.muli %r, %c14 : index
      %to = memref.subview %a[%line, 0] [14, %d] [1, 1] : !a to !as
      npu.load ins(%from : !xg) outs(%to : !as)
    }
    %at = memref.subview %a[0, 0] [28, %d] [1, 1] : !a to !at
    %b = npu.alloc : !b
    %bs = memref.subview %b[0, 0] [%d, 32] [1, 1] : !b to !bs
    %wg = memref.subview %w[%k, 0] [%d, 32] [1, 1] : !w to !wg
    npu.load ins(%wg : !wg) outs(%bs : !bs)
    npu.mmad ins(%at, %bs : !at, !bs) init %first outs(%acc : !acc) l0 [64]
  }
  %wsg = memref.subview %ws[%block, 0, 0] [1, 28, 32] [1, 1, 1] : !ws to !wsg
  npu.fixpipe ins(%acc : !acc) outs(%wsg : !wsg)
  %ws4 = memref.reinterpret_cast %ws to offset: [0], sizes: [8, 2, 14, 32], strides: [896, 448, 32, 1] : !ws to !ws4
  scf.for %c = %c0 to %c2 step %c1 {
    %wsc = memref.subview %ws4[%block, %c, 0, 0] [1, 1, 14, 32] [1, 1, 1, 1] : !ws4 to !wsc
    %tile = npu.alloc : !u
    npu.load ins(%wsc : !wsc) outs(%tile : !u)
    npu.vexp ins(%tile : !u) outs(%tile : !u)
    %oh = arith.addi %row, %c : index
    %og = memref.subview %out[%oh, 0, 0] [1, 14, 32] [1, 1, 1] : !y to !wsc
    npu.store ins(%tile : !u) outs(%og : !wsc)
  }
  func.return
}

func.func @conv_exp_rows(%x: !x, %w: !w, %out: !y, %ws: !ws {npu.workspace})
    attributes {npu.core = "mixed", npu.blocks = 8 : i64} {
  %block = npu.block_idx : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c14 = arith.constant 14 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %row = arith.muli %block, %c2 : index
  %acc = npu.alloc : !acc
  scf.for %k = %c0 to %c100 step %c64 {
    %first = arith.cmpi eq, %k, %c0 : index
    %rest = arith.subi %c100, %k : index
    %d = arith.minsi %rest, %c64 : index
    %a = npu.alloc : !a
    scf.for %r = %c0 to %c2 step %c1 {
      %h = arith.addi %row, %r : index
      %from = memref.subview %x[%h, 0, %k] [1, 14, %d] [1, 1, 1] : !x to !xg
      %line = arith.muli %r, %c14 : index
      %to = memref.subview %a[%line, 0] [14, %d] [1, 1] : !a to !as
      npu.load ins(%from : !xg) outs(%to : !as)
    }
    %at = memref.subview %a[0, 0] [28, %d] [1, 1] : !a to !at
    %b = npu.alloc : !b
    %bs = memref.subview %b[0, 0] [%d, 32] [1, 1] : !b to !bs
    %wg = memref.subview %w[%k, 0] [%d, 32] [1, 1] : !w to !wg
    npu.load ins(%wg : !wg) outs(%bs : !bs)
    npu.mmad ins(%at, %bs : !at, !bs) init %first outs(%acc : !acc) l0 [64]
  }
  %wsg = memref.subview %ws[%block, 0, 0] [1, 28, 32] [1, 1, 1] : !ws to !wsg
  npu.fixpipe ins(%acc : !acc) outs(%wsg : !wsg)
  %ws4 = memref.reinterpret_cast %ws to offset: [0], sizes: [8, 2, 14, 32], strides: [896, 448, 32, 1] : !ws to !ws4
  scf.for %c = %c0 to %c2 step %c1 {
    %wsc = memref.subview %ws4[%block, %c, 0, 0] [1, 1, 14, 32] [1, 1, 1, 1] : !ws4 to !wsr
    %tile = npu.alloc : !ur
    npu.load ins(%wsc : !wsr) outs(%tile : !ur)
    npu.vexp ins(%tile : !ur) outs(%tile : !ur)
    %oh = arith.addi %row, %c : index
    %og = memref.subview %out[%oh, 0, 0] [1, 14, 32] [1, 1, 1] : !y to !wsr
    npu.store ins(%tile : !ur) outs(%og : !wsr)
  }
  func.return
}
