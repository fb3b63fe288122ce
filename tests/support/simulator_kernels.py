"""Small placed kernels of the npu level, written by hand, for the tests of the simulator.

Every flag and barrier in them is needed: the tests remove one at a time.
"""

import re
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, memref, scf
from xdsl.parser import Parser

from fusec_dialects.npu import Npu

RELU = """
!g = memref<250x300xf32, #npu.space<gm>>
!u = memref<16x304xf32, #npu.space<ub>>
!us = memref<?x300xf32, strided<[304, 1]>, #npu.space<ub>>
!gs = memref<?x300xf32, strided<[300, 1], offset: ?>, #npu.space<gm>>
func.func @relu(%in: !g, %out: !g)
    attributes {npu.core = "vector", npu.blocks = 5 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c16 = arith.constant 16 : index
  %c250 = arith.constant 250 : index
  npu.set_flag <mte3> to <mte2> id 0 copies 2
  scf.for %t = %block to %c16 step %blocks {
    %o0 = arith.muli %t, %c16 : index
    %r = arith.subi %c250, %o0 : index
    %n0 = arith.minsi %r, %c16 : index
    %u = npu.alloc at 0 copies 2 : !u
    %1 = memref.subview %u[0, 0] [%n0, 300] [1, 1] : !u to !us
    %2 = memref.subview %in[%o0, 0] [%n0, 300] [1, 1] : !g to !gs
    %3 = memref.subview %out[%o0, 0] [%n0, 300] [1, 1] : !g to !gs
    npu.wait_flag <mte3> to <mte2> id 0 slot(%u : !u)
    npu.load ins(%2 : !gs) outs(%1 : !us)
    npu.set_flag <mte2> to <v> id 0 slot(%u : !u)
    npu.wait_flag <mte2> to <v> id 0 slot(%u : !u)
    npu.vrelu ins(%1 : !us) outs(%1 : !us)
    npu.set_flag <v> to <mte3> id 0 slot(%u : !u)
    npu.wait_flag <v> to <mte3> id 0 slot(%u : !u)
    npu.store ins(%1 : !us) outs(%3 : !gs)
    npu.set_flag <mte3> to <mte2> id 0 slot(%u : !u)
  }
  npu.wait_flag <mte3> to <mte2> id 0 copies 2
  func.return
}
"""

SOFTMAX = """
!g = memref<48x200xf32, #npu.space<gm>>
!gs = memref<8x200xf32, strided<[200, 1], offset: ?>, #npu.space<gm>>
!u = memref<8x200xf32, #npu.space<ub>>
!c = memref<8x1xf32, #npu.space<ub>>
func.func @softmax(%x: !g, %y: !g)
    attributes {npu.core = "vector", npu.blocks = 2 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  npu.set_flag <mte3> to <mte2> id 0
  scf.for %t = %block to %c6 step %blocks {
    %o = arith.muli %t, %c8 : index
    %u = npu.alloc at 64 : !u
    %m = npu.alloc at 0 : !c
    %s = npu.alloc at 32 : !c
    %in = memref.subview %x[%o, 0] [8, 200] [1, 1] : !g to !gs
    %out = memref.subview %y[%o, 0] [8, 200] [1, 1] : !g to !gs
    npu.wait_flag <mte3> to <mte2> id 0
    npu.load ins(%in : !gs) outs(%u : !u)
    npu.set_flag <mte2> to <v> id 0
    npu.wait_flag <mte2> to <v> id 0
    npu.vreduce "max" ins(%u : !u) outs(%m : !c) dims [1]
    npu.barrier <v>
    npu.vsub ins(%u, %m : !u, !c) outs(%u : !u)
    npu.barrier <v>
    npu.vexp ins(%u : !u) outs(%u : !u)
    npu.barrier <v>
    npu.vreduce "sum" ins(%u : !u) outs(%s : !c) dims [1]
    npu.barrier <v>
    npu.vdiv ins(%u, %s : !u, !c) outs(%u : !u)
    npu.set_flag <v> to <mte3> id 0
    npu.wait_flag <v> to <mte3> id 0
    npu.store ins(%u : !u) outs(%out : !gs)
    npu.set_flag <mte3> to <mte2> id 0
  }
  npu.wait_flag <mte3> to <mte2> id 0
  func.return
}
"""

MATMUL = """
!a = memref<200x160xf16, #npu.space<gm>>
!b = memref<160x96xf16, #npu.space<gm>>
!c = memref<200x96xf16, #npu.space<gm>>
!a1 = memref<64x64xf16, #npu.space<l1>>
!b1 = memref<64x96xf16, #npu.space<l1>>
!bias1 = memref<96xf32, #npu.space<l1>>
!bias = memref<96xf32, #npu.space<gm>>
!a0 = memref<64x32xf16, #npu.space<l0a>>
!b0 = memref<32x96xf16, #npu.space<l0b>>
!acc = memref<64x96xf32, #npu.space<l0c>>
!ags = memref<?x?xf16, strided<[160, 1], offset: ?>, #npu.space<gm>>
!bgs = memref<?x96xf16, strided<[96, 1], offset: ?>, #npu.space<gm>>
!cgs = memref<?x96xf16, strided<[96, 1], offset: ?>, #npu.space<gm>>
!a1s = memref<?x?xf16, strided<[64, 1]>, #npu.space<l1>>
!b1s = memref<?x96xf16, strided<[96, 1]>, #npu.space<l1>>
!a1t = memref<?x32xf16, strided<[64, 1], offset: ?>, #npu.space<l1>>
!b1t = memref<32x96xf16, strided<[96, 1], offset: ?>, #npu.space<l1>>
!a0s = memref<?x32xf16, strided<[32, 1]>, #npu.space<l0a>>
!accs = memref<?x96xf32, strided<[96, 1]>, #npu.space<l0c>>
func.func @matmul(%a: !a, %b: !b, %bias: !bias, %c: !c)
    attributes {npu.core = "cube", npu.blocks = 2 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c160 = arith.constant 160 : index
  %c200 = arith.constant 200 : index
  %bias1 = npu.alloc at 65536 : !bias1
  npu.load ins(%bias : !bias) outs(%bias1 : !bias1)
  npu.set_flag <fix> to <m> id 0
  scf.for %i = %block to %c4 step %blocks {
    %m0 = arith.muli %i, %c64 : index
    %mr = arith.subi %c200, %m0 : index
    %m = arith.minsi %mr, %c64 : index
    %acc = npu.alloc at 0 : !acc
    %accs = memref.subview %acc[0, 0] [%m, 96] [1, 1] : !acc to !accs
    npu.wait_flag <fix> to <m> id 0
    npu.set_flag <mte1> to <mte2> id 0 copies 2
    scf.for %k = %c0 to %c160 step %c64 {
      %kr = arith.subi %c160, %k : index
      %kn = arith.minsi %kr, %c64 : index
      %a1 = npu.alloc at 0 copies 2 : !a1
      %b1 = npu.alloc at 16384 copies 2 : !b1
      %a1s = memref.subview %a1[0, 0] [%m, %kn] [1, 1] : !a1 to !a1s
      %b1s = memref.subview %b1[0, 0] [%kn, 96] [1, 1] : !b1 to !b1s
      %ags = memref.subview %a[%m0, %k] [%m, %kn] [1, 1] : !a to !ags
      %bgs = memref.subview %b[%k, 0] [%kn, 96] [1, 1] : !b to !bgs
      npu.wait_flag <mte1> to <mte2> id 0 slot(%a1 : !a1)
      npu.load ins(%ags : !ags) outs(%a1s : !a1s)
      npu.load ins(%bgs : !bgs) outs(%b1s : !b1s)
      npu.set_flag <mte2> to <mte1> id 0 slot(%a1 : !a1)
      npu.wait_flag <mte2> to <mte1> id 0 slot(%a1 : !a1)
      npu.set_flag <m> to <mte1> id 0 copies 2
      scf.for %j = %c0 to %kn step %c32 {
        %kj = arith.addi %k, %j : index
        %first = arith.cmpi eq, %kj, %c0 : index
        %a0 = npu.alloc at 0 copies 2 : !a0
        %b0 = npu.alloc at 0 copies 2 : !b0
        %a0s = memref.subview %a0[0, 0] [%m, 32] [1, 1] : !a0 to !a0s
        %a1t = memref.subview %a1[0, %j] [%m, 32] [1, 1] : !a1 to !a1t
        %b1t = memref.subview %b1[%j, 0] [32, 96] [1, 1] : !b1 to !b1t
        npu.wait_flag <m> to <mte1> id 0 slot(%a0 : !a0)
        npu.copy ins(%a1t : !a1t) outs(%a0s : !a0s)
        npu.copy ins(%b1t : !b1t) outs(%b0 : !b0)
        npu.set_flag <mte1> to <m> id 0 slot(%a0 : !a0)
        npu.wait_flag <mte1> to <m> id 0 slot(%a0 : !a0)
        npu.mmad ins(%a0s, %b0 : !a0s, !b0) bias(%bias1 : !bias1) init %first outs(%accs : !accs)
        npu.set_flag <m> to <mte1> id 0 slot(%a0 : !a0)
      }
      npu.wait_flag <m> to <mte1> id 0 copies 2
      npu.set_flag <mte1> to <mte2> id 0 slot(%a1 : !a1)
    }
    npu.wait_flag <mte1> to <mte2> id 0 copies 2
    %cgs = memref.subview %c[%m0, 0] [%m, 96] [1, 1] : !c to !cgs
    npu.set_flag <m> to <fix> id 0
    npu.wait_flag <m> to <fix> id 0
    npu.fixpipe relu ins(%accs : !accs) outs(%cgs : !cgs)
    npu.set_flag <fix> to <m> id 0
  }
  npu.wait_flag <fix> to <m> id 0
  func.return
}
"""

MIXED = """
!a = memref<64x32xf32, #npu.space<gm>>
!b = memref<32x48xf32, #npu.space<gm>>
!y = memref<64x48xf32, #npu.space<gm>>
!ws = memref<2x16x48xf32, #npu.space<gm>>
!as = memref<16x32xf32, strided<[32, 1], offset: ?>, #npu.space<gm>>
!ys = memref<16x48xf32, strided<[48, 1], offset: ?>, #npu.space<gm>>
!a1 = memref<16x32xf32, #npu.space<l1>>
!b1 = memref<32x48xf32, #npu.space<l1>>
!a0 = memref<16x32xf32, #npu.space<l0a>>
!b0 = memref<32x48xf32, #npu.space<l0b>>
!acc = memref<16x48xf32, #npu.space<l0c>>
!u = memref<16x48xf32, #npu.space<ub>>
func.func @mixed(%a: !a, %b: !b, %y: !y, %ws: !ws {npu.workspace})
    attributes {npu.core = "mixed", npu.blocks = 2 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %true = arith.constant true
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %b1 = npu.alloc at 2048 : !b1
  %b0 = npu.alloc at 0 : !b0
  npu.load ins(%b : !b) outs(%b1 : !b1)
  npu.set_flag <mte2> to <mte1> id 1
  npu.wait_flag <mte2> to <mte1> id 1
  npu.copy ins(%b1 : !b1) outs(%b0 : !b0)
  npu.set_flag <mte1> to <mte2> id 0
  npu.set_flag <m> to <mte1> id 0
  npu.set_flag <fix> to <m> id 0
  npu.set_flag <mte3> to <mte2> id 0
  npu.sync_block_set <vector> <mte2> to <cube> <fix> flag 1
  scf.for %t = %block to %c4 step %blocks {
    %o = arith.muli %t, %c16 : index
    %as = memref.subview %a[%o, 0] [16, 32] [1, 1] : !a to !as
    %ys = memref.subview %y[%o, 0] [16, 48] [1, 1] : !y to !ys
    %w = memref.subview %ws[%block, 0, 0] [1, 16, 48] [1, 1, 1] : !ws to !ys
    %a1 = npu.alloc at 0 : !a1
    %a0 = npu.alloc at 0 : !a0
    %acc = npu.alloc at 0 : !acc
    %u = npu.alloc at 0 : !u
    npu.wait_flag <mte1> to <mte2> id 0
    npu.load ins(%as : !as) outs(%a1 : !a1)
    npu.set_flag <mte2> to <mte1> id 0
    npu.wait_flag <mte2> to <mte1> id 0
    npu.wait_flag <m> to <mte1> id 0
    npu.copy ins(%a1 : !a1) outs(%a0 : !a0)
    npu.set_flag <mte1> to <mte2> id 0
    npu.set_flag <mte1> to <m> id 0
    npu.wait_flag <mte1> to <m> id 0
    npu.wait_flag <fix> to <m> id 0
    npu.mmad ins(%a0, %b0 : !a0, !b0) init %true outs(%acc : !acc)
    npu.set_flag <m> to <mte1> id 0
    npu.set_flag <m> to <fix> id 0
    npu.wait_flag <m> to <fix> id 0
    npu.sync_block_wait <vector> <mte2> to <cube> <fix> flag 1
    npu.fixpipe ins(%acc : !acc) outs(%w : !ys)
    npu.set_flag <fix> to <m> id 0
    npu.sync_block_set <cube> <fix> to <vector> <mte2> flag 0
    npu.sync_block_wait <cube> <fix> to <vector> <mte2> flag 0
    npu.wait_flag <mte3> to <mte2> id 0
    npu.load ins(%w : !ys) outs(%u : !u)
    npu.sync_block_set <vector> <mte2> to <cube> <fix> flag 1
    npu.set_flag <mte2> to <v> id 0
    npu.wait_flag <mte2> to <v> id 0
    npu.vexp ins(%u : !u) outs(%u : !u)
    npu.set_flag <v> to <mte3> id 0
    npu.wait_flag <v> to <mte3> id 0
    npu.store ins(%u : !u) outs(%ys : !ys)
    npu.set_flag <mte3> to <mte2> id 0
  }
  npu.wait_flag <mte1> to <mte2> id 0
  npu.wait_flag <m> to <mte1> id 0
  npu.wait_flag <fix> to <m> id 0
  npu.wait_flag <mte3> to <mte2> id 0
  npu.sync_block_wait <vector> <mte2> to <cube> <fix> flag 1
  func.return
}
"""

GATHER = """
!table = memref<50x24xf16, #npu.space<gm>>
!index = memref<12xi64, #npu.space<gm>>
!y = memref<12x24xf16, #npu.space<gm>>
!row = memref<1x24xf16, strided<[24, 1], offset: ?>, #npu.space<gm>>
!u = memref<1x32xf16, #npu.space<ub>>
!us = memref<1x24xf16, strided<[32, 1]>, #npu.space<ub>>
func.func @gather(%table: !table, %index: !index, %y: !y)
    attributes {npu.core = "vector", npu.blocks = 3 : i64} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c12 = arith.constant 12 : index
  %two = arith.constant 2.0 : f16
  npu.set_flag <mte3> to <mte2> id 0 copies 2
  scf.for %i = %block to %c12 step %blocks {
    %r64 = memref.load %index[%i] : !index
    %r = arith.index_cast %r64 : i64 to index
    %src = memref.subview %table[%r, 0] [1, 24] [1, 1] : !table to !row
    %dst = memref.subview %y[%i, 0] [1, 24] [1, 1] : !y to !row
    %u = npu.alloc at 0 copies 2 : !u
    %us = memref.subview %u[0, 0] [1, 24] [1, 1] : !u to !us
    npu.wait_flag <mte3> to <mte2> id 0 slot(%u : !u)
    npu.load ins(%src : !row) outs(%us : !us)
    npu.set_flag <mte2> to <v> id 0
    npu.wait_flag <mte2> to <v> id 0
    npu.vmul ins(%us, %two : !us, f16) outs(%us : !us)
    npu.set_flag <v> to <mte3> id 0
    npu.wait_flag <v> to <mte3> id 0
    npu.store ins(%us : !us) outs(%dst : !row)
    npu.set_flag <mte3> to <mte2> id 0 slot(%u : !u)
  }
  npu.wait_flag <mte3> to <mte2> id 0 copies 2
  func.return
}
"""

TRANSPOSED = """
!x = memref<40x30xf32, #npu.space<gm>>
!xt = memref<30x40xf32, strided<[1, 30]>, #npu.space<gm>>
!half = memref<15x20xf32, strided<[2, 60], offset: ?>, #npu.space<gm>>
!y = memref<2x15x20xf32, #npu.space<gm>>
!ys = memref<15x20xf32, strided<[20, 1], offset: ?>, #npu.space<gm>>
!u = memref<15x24xf32, #npu.space<ub>>
!us = memref<15x20xf32, strided<[24, 1]>, #npu.space<ub>>
func.func @transposed(%x: !x, %y: !y)
    attributes {npu.core = "vector", npu.blocks = 2 : i64} {
  %block = npu.block_idx : index
  %xt = memref.reinterpret_cast %x to offset: [0], sizes: [30, 40], strides: [1, 30] : !x to !xt
  %half = memref.subview %xt[%block, 0] [15, 20] [2, 2] : !xt to !half
  %ys = memref.subview %y[%block, 0, 0] [1, 15, 20] [1, 1, 1] : !y to !ys
  %u = npu.alloc at 0 : !u
  %us = memref.subview %u[0, 0] [15, 20] [1, 1] : !u to !us
  npu.load ins(%half : !half) outs(%us : !us)
  npu.set_flag <mte2> to <mte3> id 0
  npu.wait_flag <mte2> to <mte3> id 0
  npu.store ins(%us : !us) outs(%ys : !ys)
  func.return
}
"""

KERNELS = {
    "relu": RELU,
    "softmax": SOFTMAX,
    "matmul": MATMUL,
    "mixed": MIXED,
    "gather": GATHER,
    "transposed": TRANSPOSED,
}


def parse(text: str) -> builtin.ModuleOp:
    """A module of the npu level, verified."""
    context = Context()
    for dialect in (*(builtin.Builtin, func.Func, arith.Arith, scf.Scf, memref.MemRef, Npu),):
        context.load_dialect(dialect)
    module = Parser(context, text, "kernel.mlir").parse_module()
    module.verify()
    return module


def kernel(text: str) -> func.FuncOp:
    """The first kernel function of a module."""
    for op in parse(text).body.block.ops:
        if isinstance(op, func.FuncOp) and "npu.host" not in op.attributes:
            return op
    raise ValueError("the text has no kernel")


def vector_kernel(
    body: str, sources: Sequence[str], dest: str, constants: str = "", core: str = "vector"
) -> func.FuncOp:
    """An unplaced kernel that loads its arguments, runs `body` and stores the last one.

    `sources` and `dest` are shapes with element types, `8x16xf32`. In `body`, %0, %1, ... are the
    sources in ub and %d is the destination; `T0`, `T1`, ... and `TD` stand for their types.
    """
    shapes = [*sources, dest]
    gm = [f"memref<{s}, #npu.space<gm>>" for s in shapes]
    ub = [f"memref<{s}, #npu.space<ub>>" for s in shapes]
    arguments = ", ".join(f"%g{i}: {t}" for i, t in enumerate(gm))
    lines = [f'func.func @k({arguments}) attributes {{npu.core = "{core}"}} {{', constants]
    for i in range(len(sources)):
        lines.append(f"%{i} = npu.alloc : {ub[i]}")
        lines.append(f"npu.load ins(%g{i} : {gm[i]}) outs(%{i} : {ub[i]})")
    last = len(sources)
    lines.append(f"%d = npu.alloc : {ub[last]}")
    text = re.sub(r"\bT(\d)\b", lambda m: ub[int(m[1])], body)
    lines.append(re.sub(r"\bTD\b", ub[last], text))
    lines.append(f"npu.store ins(%d : {ub[last]}) outs(%g{last} : {gm[last]})")
    return kernel("\n".join([*lines, "func.return", "}"]))


def without(text: str, *needles: str) -> str:
    """The text without the lines that contain one of the needles; every needle must be found."""
    for needle in needles:
        if needle not in text:
            raise ValueError(f"no line contains {needle!r}")
    lines = text.splitlines()
    return "\n".join(line for line in lines if not any(n in line for n in needles))


def replaced(text: str, old: str, new: str) -> str:
    """The text with `old` replaced; it must be found."""
    if old not in text:
        raise ValueError(f"{old!r} is not in the text")
    return text.replace(old, new)
