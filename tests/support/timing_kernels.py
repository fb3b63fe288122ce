"""Placed kernels of the npu level for the tests of timing, written for a size and a buffering."""


def vector_add(elements: int, tile: int, copies: int = 1, blocks: int = 48) -> str:
    """z = x + y on f16 vectors, `elements` a multiple of `tile`; loads rotate over `copies`."""
    size = tile * 2
    return f"""
!g = memref<{elements}xf16, #npu.space<gm>>
!gs = memref<{tile}xf16, strided<[1], offset: ?>, #npu.space<gm>>
!u = memref<{tile}xf16, #npu.space<ub>>
func.func @add(%x: !g, %y: !g, %z: !g)
    attributes {{npu.core = "vector", npu.blocks = {blocks} : i64}} {{
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %tiles = arith.constant {elements // tile} : index
  %size = arith.constant {tile} : index
  npu.set_flag <mte3> to <mte2> id 0 copies {copies}
  scf.for %t = %block to %tiles step %blocks {{
    %o = arith.muli %t, %size : index
    %xs = memref.subview %x[%o] [{tile}] [1] : !g to !gs
    %ys = memref.subview %y[%o] [{tile}] [1] : !g to !gs
    %zs = memref.subview %z[%o] [{tile}] [1] : !g to !gs
    %a = npu.alloc at 0 copies {copies} : !u
    %b = npu.alloc at {copies * size} copies {copies} : !u
    npu.wait_flag <mte3> to <mte2> id 0 slot(%a : !u)
    npu.load ins(%xs : !gs) outs(%a : !u)
    npu.load ins(%ys : !gs) outs(%b : !u)
    npu.set_flag <mte2> to <v> id 0
    npu.wait_flag <mte2> to <v> id 0
    npu.vadd ins(%a, %b : !u, !u) outs(%a : !u)
    npu.set_flag <v> to <mte3> id 0
    npu.wait_flag <v> to <mte3> id 0
    npu.store ins(%a : !u) outs(%zs : !gs)
    npu.set_flag <mte3> to <mte2> id 0 slot(%a : !u)
  }}
  npu.wait_flag <mte3> to <mte2> id 0 copies {copies}
  func.return
}}
"""


def matmul(m: int, k: int, n: int, blocks: int = 24, l1_copies: int = 2) -> str:
    """c = a x b in f16: tiles of 128 x 256 with tails, steps in k of 256 in l1 and 64 in l0."""
    tiles_m, tiles_n = -(-m // 128), -(-n // 256)
    return f"""
!a = memref<{m}x{k}xf16, #npu.space<gm>>
!b = memref<{k}x{n}xf16, #npu.space<gm>>
!c = memref<{m}x{n}xf16, #npu.space<gm>>
!ags = memref<?x?xf16, strided<[{k}, 1], offset: ?>, #npu.space<gm>>
!bgs = memref<?x?xf16, strided<[{n}, 1], offset: ?>, #npu.space<gm>>
!a1 = memref<128x256xf16, #npu.space<l1>>
!b1 = memref<256x256xf16, #npu.space<l1>>
!a1s = memref<?x?xf16, strided<[256, 1]>, #npu.space<l1>>
!a1t = memref<?x?xf16, strided<[256, 1], offset: ?>, #npu.space<l1>>
!a0 = memref<128x64xf16, #npu.space<l0a>>
!b0 = memref<64x256xf16, #npu.space<l0b>>
!a0s = memref<?x?xf16, strided<[64, 1]>, #npu.space<l0a>>
!b0s = memref<?x?xf16, strided<[256, 1]>, #npu.space<l0b>>
!acc = memref<128x256xf32, #npu.space<l0c>>
!accs = memref<?x?xf32, strided<[256, 1]>, #npu.space<l0c>>
func.func @matmul(%a: !a, %b: !b, %c: !c)
    attributes {{npu.core = "cube", npu.blocks = {blocks} : i64}} {{
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %rows = arith.constant {m} : index
  %depth = arith.constant {k} : index
  %columns = arith.constant {n} : index
  %tiles = arith.constant {tiles_m * tiles_n} : index
  %across = arith.constant {tiles_n} : index
  npu.set_flag <fix> to <m> id 0
  npu.set_flag <mte1> to <mte2> id 0 copies {l1_copies}
  npu.set_flag <m> to <mte1> id 0 copies 2
  scf.for %t = %block to %tiles step %blocks {{
    %i = arith.divui %t, %across : index
    %j = arith.remui %t, %across : index
    %m0 = arith.muli %i, %c128 : index
    %n0 = arith.muli %j, %c256 : index
    %mr = arith.subi %rows, %m0 : index
    %nr = arith.subi %columns, %n0 : index
    %mt = arith.minsi %mr, %c128 : index
    %nt = arith.minsi %nr, %c256 : index
    %acc = npu.alloc at 0 : !acc
    %accs = memref.subview %acc[0, 0] [%mt, %nt] [1, 1] : !acc to !accs
    npu.wait_flag <fix> to <m> id 0
    scf.for %k = %c0 to %depth step %c256 {{
      %kr = arith.subi %depth, %k : index
      %kt = arith.minsi %kr, %c256 : index
      %a1 = npu.alloc at 0 copies {l1_copies} : !a1
      %b1 = npu.alloc at 131072 copies {l1_copies} : !b1
      %a1s = memref.subview %a1[0, 0] [%mt, %kt] [1, 1] : !a1 to !a1s
      %b1s = memref.subview %b1[0, 0] [%kt, %nt] [1, 1] : !b1 to !a1s
      %ags = memref.subview %a[%m0, %k] [%mt, %kt] [1, 1] : !a to !ags
      %bgs = memref.subview %b[%k, %n0] [%kt, %nt] [1, 1] : !b to !bgs
      npu.wait_flag <mte1> to <mte2> id 0 slot(%a1 : !a1)
      npu.load ins(%ags : !ags) outs(%a1s : !a1s)
      npu.load ins(%bgs : !bgs) outs(%b1s : !a1s)
      npu.set_flag <mte2> to <mte1> id 0 slot(%a1 : !a1)
      npu.wait_flag <mte2> to <mte1> id 0 slot(%a1 : !a1)
      scf.for %l = %c0 to %kt step %c64 {{
        %kl = arith.addi %k, %l : index
        %first = arith.cmpi eq, %kl, %c0 : index
        %lr = arith.subi %kt, %l : index
        %lt = arith.minsi %lr, %c64 : index
        %a0 = npu.alloc at 0 copies 2 : !a0
        %b0 = npu.alloc at 0 copies 2 : !b0
        %a0s = memref.subview %a0[0, 0] [%mt, %lt] [1, 1] : !a0 to !a0s
        %b0s = memref.subview %b0[0, 0] [%lt, %nt] [1, 1] : !b0 to !b0s
        %a1t = memref.subview %a1[0, %l] [%mt, %lt] [1, 1] : !a1 to !a1t
        %b1t = memref.subview %b1[%l, 0] [%lt, %nt] [1, 1] : !b1 to !a1t
        npu.wait_flag <m> to <mte1> id 0 slot(%a0 : !a0)
        npu.copy ins(%a1t : !a1t) outs(%a0s : !a0s)
        npu.copy ins(%b1t : !a1t) outs(%b0s : !b0s)
        npu.set_flag <mte1> to <m> id 0 slot(%a0 : !a0)
        npu.wait_flag <mte1> to <m> id 0 slot(%a0 : !a0)
        npu.mmad ins(%a0s, %b0s : !a0s, !b0s) init %first outs(%accs : !accs)
        npu.set_flag <m> to <mte1> id 0 slot(%a0 : !a0)
      }}
      npu.set_flag <mte1> to <mte2> id 0 slot(%a1 : !a1)
    }}
    %cs = memref.subview %c[%m0, %n0] [%mt, %nt] [1, 1] : !c to !bgs
    npu.set_flag <m> to <fix> id 0
    npu.wait_flag <m> to <fix> id 0
    npu.fixpipe ins(%accs : !accs) outs(%cs : !bgs)
    npu.set_flag <fix> to <m> id 0
  }}
  npu.wait_flag <fix> to <m> id 0
  npu.wait_flag <mte1> to <mte2> id 0 copies {l1_copies}
  npu.wait_flag <m> to <mte1> id 0 copies 2
  func.return
}}
"""
