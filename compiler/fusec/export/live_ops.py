"""Which operations of a kernel do anything: what leads to a store, without scratch.

In: the function of an unplaced kernel. Out: its live operations, and the buffer behind every view.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import ReinterpretCastOp, SubviewOp
from xdsl.ir import Operation, SSAValue

from fusec_dialects.npu.attrs import Space, space_of
from fusec_dialects.npu.base import NpuOp
from fusec_dialects.npu.vector import VectorOp


def root_of(value: SSAValue) -> SSAValue:
    """The buffer or argument that a value views; the value itself where it is no view."""
    owner = value.owner
    while isinstance(owner, SubviewOp | ReinterpretCastOp):
        value = owner.source
        owner = value.owner
    return value


def results_of(op: NpuOp) -> Iterator[SSAValue]:
    """What an operator writes, scratch left out."""
    scratch = op.temp if isinstance(op, VectorOp) else None
    return (value for value in op.writes() if value is not scratch)


def writes_in(top: Operation, live: Collection[Operation]) -> Iterator[tuple[SSAValue, NpuOp]]:
    """The buffers that live operators in an operation write, in order, each with its writer."""
    for op in top.walk():
        if isinstance(op, NpuOp) and op in live:
            for value in results_of(op):
                yield root_of(value), op


def live_operations(func: FuncOp) -> frozenset[Operation]:
    """The operations that a store to gm depends on, and the loops around them."""
    writers: dict[SSAValue, list[NpuOp]] = {}
    work: list[Operation] = []
    for op in func.walk():
        if isinstance(op, NpuOp):
            for value in results_of(op):
                writers.setdefault(root_of(value), []).append(op)
                if space_of(value.type) == Space.GM:
                    work.append(op)
    live: set[Operation] = set()
    while work:
        op = work.pop()
        if op in live or op is func:
            continue
        live.add(op)
        parent = op.parent_op()
        if parent is not None:
            work.append(parent)
        scratch = op.temp if isinstance(op, VectorOp) else None
        for value in op.operands:
            if value is not scratch and isinstance(value.owner, Operation):
                work.append(value.owner)
        if isinstance(op, NpuOp):
            for value in op.reads():
                work += writers.get(root_of(value), ())
    return frozenset(live)
