!g = memref<250x300xf32, #npu.space<gm>>
!u = memref<16x304xf32, #npu.space<ub>>
!us = memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>
!gs = memref<?x300xf32, strided<[300, 1], offset: ?>, #npu.space<gm>>
func.func @chain(%in: !g, %out: !g) attributes {npu.core = "vector", npu.blocks = 16 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c16 = arith.constant 16 : index
  %c250 = arith.constant 250 : index
  %half = arith.constant 5.000000e-01 : f32
  scf.for %t = %block to %c16 step %blocks {
    %o = arith.muli %t, %c16 : index
    %r = arith.subi %c250, %o : index
    %n = arith.minsi %r, %c16 : index
    %u = npu.alloc : !u
    %x = memref.subview %u[0, 0] [%n, 300] [1, 1] : !u to !us
    %gin = memref.subview %in[%o, 0] [%n, 300] [1, 1] : !g to !gs
    %gout = memref.subview %out[%o, 0] [%n, 300] [1, 1] : !g to !gs
    npu.load ins(%gin : !gs) outs(%x : !us)
    npu.vmul ins(%x, %half : !us, f32) outs(%x : !us)
    npu.vexp ins(%x : !us) outs(%x : !us)
    npu.vrelu ins(%x : !us) outs(%x : !us)
    npu.store ins(%x : !us) outs(%gout : !gs)
  }
  func.return
}
