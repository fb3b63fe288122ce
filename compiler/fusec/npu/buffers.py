"""Which buffer a value lies in, and what a function does to its buffers, in program order.

In: a function on the npu level, placed or not. Out: every alloc, every access and every loop with a
position. Positions count operators from 0; a loop takes the positions from `first` (the scf.for) to
`last` (its end), so a position p is inside exactly if first < p < last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import LoadOp as ScalarLoadOp
from xdsl.dialects.memref import ReinterpretCastOp, SubviewOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation, SSAValue

from fusec_dialects.npu.attrs import Core, Pipe, memref_type
from fusec_dialects.npu.base import Agent, NpuOp
from fusec_dialects.npu.control import FlagOp
from fusec_dialects.npu.move import AllocOp

Box = tuple[tuple[int, int], ...]
"""For each dimension of a buffer the elements [low, high) that a view may touch."""


@dataclass(eq=False, slots=True)
class Loop:
    """An scf.for. `depth` is 1 for an outermost loop."""

    op: ForOp
    parent: Loop | None
    depth: int
    first: int
    last: int = -1


class Alloc(NamedTuple):
    """An npu.alloc; `loop` is the one whose body directly holds it, the one it rotates in."""

    op: AllocOp
    position: int
    loop: Loop | None


class Access(NamedTuple):
    """One operator reads or writes one buffer. An operator with several operands has several.

    `view` is the operand, `base` the buffer that it lies in. What is neither an operator of the npu
    nor a view, like a launch, reads and writes all its buffers and has no agent. A scalar load runs
    on the S pipe of every core of the kernel, with one access for each.
    """

    op: Operation
    position: int
    loop: Loop | None
    view: SSAValue
    base: SSAValue
    writes: bool
    agent: Agent | None


@dataclass(eq=False, slots=True)
class FunctionAccesses:
    """What a function does, in program order; reads of an operator come before its writes."""

    allocs: list[Alloc] = field(default_factory=list[Alloc])
    accesses: list[Access] = field(default_factory=list[Access])
    loops: list[Loop] = field(default_factory=list[Loop])
    end: int = 0
    """One more than the last position."""

    def by_buffer(self) -> dict[SSAValue, list[Access]]:
        """Buffer -> its accesses in program order; every alloc has an entry."""
        found: dict[SSAValue, list[Access]] = {alloc.op.result: [] for alloc in self.allocs}
        for access in self.accesses:
            found.setdefault(access.base, []).append(access)
        return found


def base_of(value: SSAValue) -> SSAValue:
    """The buffer that a view lies in: the result of an npu.alloc, or a block argument."""
    owner = value.owner
    while isinstance(owner, SubviewOp | ReinterpretCastOp):
        value = owner.source
        owner = value.owner
    return value


def alloc_of(value: SSAValue) -> AllocOp | None:
    """The npu.alloc that a view lies in; None where it lies in an argument."""
    owner = base_of(value).owner
    return owner if isinstance(owner, AllocOp) else None


def cores_of(func: FuncOp) -> tuple[Core, ...]:
    """The cores that execute a kernel, by its attribute `npu.core`; none for the host function."""
    core = func.attributes.get("npu.core")
    if not isinstance(core, StringAttr):
        return ()
    if core.data == "mixed":
        return (Core.CUBE, Core.VECTOR)
    return (Core(core.data),) if core.data in (Core.CUBE, Core.VECTOR) else ()


def accesses(func: FuncOp) -> FunctionAccesses:
    """Walks a function once. Linear in its operators."""
    found = FunctionAccesses()
    cores = cores_of(func)
    for block in func.body.blocks:
        _walk(block, None, cores, found)
    return found


_SILENT = ("arith.", "memref.subview", "memref.reinterpret_cast", "func.", "scf.yield")
"""Names, or beginnings of names, of operators that touch no buffer; most of a kernel."""


def _walk(block: Block, loop: Loop | None, cores: tuple[Core, ...], out: FunctionAccesses) -> None:
    for op in block.ops:
        position = out.end
        out.end += 1
        if op.name.startswith(_SILENT):
            continue
        if isinstance(op, NpuOp):
            agent = op.agent()
            out.accesses.extend(
                Access(op, position, loop, view, base_of(view), writes, agent)
                for view, writes in _operands(op)
            )
        elif isinstance(op, AllocOp):
            out.allocs.append(Alloc(op, position, loop))
        elif isinstance(op, ForOp):
            inner = Loop(op, loop, 1 if loop is None else loop.depth + 1, position)
            out.loops.append(inner)
            for body in op.body.blocks:
                _walk(body, inner, cores, out)
            inner.last = out.end
            out.end += 1
        elif isinstance(op, ScalarLoadOp):
            source, base = op.memref, base_of(op.memref)
            out.accesses.extend(
                Access(op, position, loop, source, base, False, Agent(core, Pipe.S))
                for core in cores
            )
        elif not isinstance(op, FlagOp):
            out.accesses.extend(
                Access(op, position, loop, view, base_of(view), writes, None)
                for writes in (False, True)
                for view in op.operands
                if isinstance(view.type, MemRefType)
            )


def _operands(op: NpuOp) -> Iterator[tuple[SSAValue, bool]]:
    for values, writes in ((op.reads(), False), (op.writes(), True)):
        for value in values:
            if isinstance(value.type, MemRefType):
                yield value, writes


def box_of(view: SSAValue) -> Box | None:
    """The part of its buffer that a view may touch; None where it is not a box of the buffer.

    A dynamic offset or size counts as everything that the enclosing view has.
    """
    axes = _axes_of(view)
    return None if axes is None else tuple((low, high) for low, high, _ in axes)


def may_overlap(a: SSAValue, b: SSAValue) -> bool:
    """Whether two views of one buffer may share an element. False only if they certainly do not."""
    if a is b:
        return True
    first, second = box_of(a), box_of(b)
    if first is None or second is None or len(first) != len(second):
        return True
    return all(x[0] < y[1] and y[0] < x[1] for x, y in zip(first, second, strict=True))


def _axes_of(view: SSAValue) -> tuple[tuple[int, int, int], ...] | None:
    """For each dimension of the buffer (low, high, stride) of a view; None if that is not known.

    A view of a view whose rank was reduced is not followed.
    """
    owner = view.owner
    if not isinstance(owner, SubviewOp):
        type_ = memref_type(view.type)
        if type_ is None or isinstance(owner, ReinterpretCastOp):
            return None
        shape = type_.get_shape()
        return None if DYNAMIC_INDEX in shape else tuple((0, size, 1) for size in shape)
    around = _axes_of(owner.source)
    offsets = owner.static_offsets.get_values()
    if around is None or len(around) != len(offsets):
        return None
    sizes, strides = owner.static_sizes.get_values(), owner.static_strides.get_values()
    axes: list[tuple[int, int, int]] = []
    for (low, high, step), offset, size, stride in zip(
        around, offsets, sizes, strides, strict=True
    ):
        if DYNAMIC_INDEX in (offset, stride):
            axes.append((low, high, step))
            continue
        start = low + int(offset) * step
        end = high if size == DYNAMIC_INDEX else start + (int(size) - 1) * int(stride) * step + 1
        axes.append((start, min(end, high), step * int(stride)))
    return tuple(axes)
