"""Placement by execution: random kernels are run on one byte array for ub, and nothing is lost."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue

from fusec.npu.buffers import accesses
from fusec.npu.liveness import live_ranges
from fusec.npu.place import NpuPlacePass
from fusec_dialects.npu.attrs import GM, UB
from fusec_dialects.npu.move import AllocOp, StoreOp
from fusec_dialects.npu.vector import VBrcOp
from npu_ir import context, function, named, parse

TRIPS = 3


class Generator:
    """A random kernel in which every buffer is written before it is read, in every iteration."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.gm = MemRefType(f32, [8], memory_space=GM)

    def module(self) -> ModuleOp:
        body = Block(arg_types=[self.gm])
        one = ConstantOp(IntegerAttr(1, IndexType()))
        many = ConstantOp(IntegerAttr(TRIPS, IndexType()))
        scalar = ConstantOp(FloatAttr(1.0, f32))
        self.scalar = scalar.result
        body.add_ops([one, many, scalar])
        self.bounds = (one.result, many.result)
        self.argument = body.args[0]
        self.fill(body, [], 0)
        body.add_op(ReturnOp())
        kernel = FuncOp("k", ([self.gm], []), Region(body))
        kernel.attributes["npu.core"] = StringAttr("vector")
        return ModuleOp([kernel])

    def fill(self, block: Block, written: list[SSAValue], depth: int) -> None:
        written = list(written)
        for _ in range(self.random.randint(1, 6)):
            choice = self.random.random()
            if choice < 0.2 and depth < 3:
                inner = Block(arg_types=[IndexType()])
                self.fill(inner, written, depth + 1)
                inner.add_op(YieldOp())
                one, many = self.bounds
                block.add_op(ForOp(one, many, one, [], inner))
            elif choice < 0.55 or not written:
                size = 8 * self.random.randint(1, 6)
                alloc = AllocOp(MemRefType(f32, [size], memory_space=UB))
                if depth and self.random.random() < 0.3:
                    alloc.properties["copies"] = IntegerAttr(self.random.randint(2, 3), 64)
                block.add_ops([alloc, VBrcOp(self.scalar, alloc.result)])
                written.append(alloc.result)
            elif choice < 0.65:
                block.add_op(VBrcOp(self.scalar, self.random.choice(written)))
            else:
                block.add_op(StoreOp(self.random.choice(written), self.argument))


class Machine:
    """Runs a placed kernel; each byte of ub knows which write it is from."""

    def __init__(self) -> None:
        self.ub: dict[int, tuple[SSAValue, int]] = {}
        self.stamp: dict[tuple[SSAValue, int], int] = {}
        self.iteration: dict[Operation, int] = {}
        self.writes = 0

    def run(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, ForOp):
                for i in range(TRIPS):
                    self.iteration[op] = i
                    self.run(op.body.block)
            elif isinstance(op, VBrcOp):
                self.writes += 1
                key, span = self.copy(op.dest)
                self.stamp[key] = self.writes
                self.ub.update(dict.fromkeys(span, (op.dest, self.writes)))
            elif isinstance(op, StoreOp):
                key, span = self.copy(op.source)
                assert {self.ub[byte] for byte in span} == {(op.source, self.stamp[key])}

    def copy(self, buffer: SSAValue) -> tuple[tuple[SSAValue, int], range]:
        alloc = buffer.owner
        assert isinstance(alloc, AllocOp)
        assert alloc.address is not None
        size = alloc.result.type.get_shape()[0] * 4
        loop = alloc.parent_op()
        slot = self.iteration.get(loop, 0) % alloc.copy_count if loop is not None else 0
        start = alloc.address.value.data + slot * size
        return (buffer, slot), range(start, start + size)


@given(st.integers(0, 1 << 32))
@settings(max_examples=150, deadline=None)
def test_nothing_is_overwritten_while_it_is_needed(seed: int) -> None:
    module = Generator(seed).module()
    NpuPlacePass().apply(context(), module)
    Machine().run(function(module, "k").body.block)


@given(st.integers(0, 1 << 32))
@settings(max_examples=100, deadline=None)
def test_nothing_shares_with_a_rotating_buffer_in_its_loop(seed: int) -> None:
    module = Generator(seed).module()
    NpuPlacePass().apply(context(), module)
    kernel = function(module, "k")
    for loop in named(kernel, "scf.for"):
        used = {value.owner for op in loop.walk() for value in op.operands}
        allocs = [a for a in used if isinstance(a, AllocOp)]
        for rotating in allocs:
            if rotating.copy_count < 2 or rotating.parent_op() is not loop:
                continue
            mine = set(span_of(rotating))
            assert all(a is rotating or mine.isdisjoint(span_of(a)) for a in allocs)


def span_of(alloc: AllocOp) -> range:
    assert alloc.address is not None
    start = alloc.address.value.data
    return range(start, start + alloc.result.type.get_shape()[0] * 4 * alloc.copy_count)


def test_ranges() -> None:
    """Positions count operators; a loop's end has one of its own."""
    kernel = function(
        parse("""
        !ub = memref<8xf32, #npu.space<ub>>
        !gm = memref<8xf32, #npu.space<gm>>
        func.func @k(%x: !gm) attributes {npu.core = "vector"} {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c4 = arith.constant 4 : index
          %out = npu.alloc : !ub
          scf.for %i = %c0 to %c4 step %c1 {
            %rot = npu.alloc copies 2 : !ub
            %in = npu.alloc : !ub
            %never = npu.alloc : !ub
            npu.load ins(%x : !gm) outs(%rot : !ub)
            npu.vexp ins(%rot : !ub) outs(%in : !ub)
            scf.for %j = %c0 to %c4 step %c1 {
              npu.vadd ins(%in, %rot : !ub, !ub) outs(%out : !ub)
            }
          }
          func.return
        }
        """),
        "k",
    )
    found = accesses(kernel)
    ranges = {value.name_hint: tuple(span) for value, span in live_ranges(found).items()}
    assert [(loop.first, loop.last, loop.depth) for loop in found.loops] == [
        (4, 15, 1),
        (10, 13, 2),
    ]
    assert ranges == {"out": (4, 15), "rot": (4, 15), "in": (9, 13), "never": (7, 7)}
