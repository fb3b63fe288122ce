"""How each buffer in ub is laid out in HIVM: columns without padding, booleans as bytes or bits.

A buffer of which only [n, 1] is used is packed: HIVM pads rows itself where it must, and computes
on a padded column element by element. An i1 is a byte where it comes from or goes to gm, a bit
where it is a mask of vcmp, vsel or the bitwise instructions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xdsl.dialects.memref import SubviewOp
from xdsl.ir import Operation, SSAValue

from fusec.export.live_ops import root_of
from fusec.export.reason import NotInHivm
from fusec.lowering.layout import Layout, layout_of
from fusec_dialects.npu import (
    AllocOp,
    CopyOp,
    LoadOp,
    StoreOp,
    VAndOp,
    VBrcOp,
    VCastOp,
    VCmpOp,
    VNotOp,
    VOrOp,
    VSelOp,
    VTransposeOp,
)
from fusec_dialects.npu.attrs import Space, memref_type, space_of
from fusec_dialects.npu.storage import element_bytes

BLOCK_BYTES = 32
"""Rows of a buffer in ub begin at multiples of it."""


def packed(alloc: AllocOp, live: Collection[Operation]) -> Layout:
    """The layout of a buffer, the innermost sizes 1 where no view takes more."""
    layout = layout_of(alloc.result.type)
    shape = [size or 1 for size in layout.shape]
    uses = [use.operation for use in alloc.result.uses if use.operation in live]
    views = [op for op in uses if isinstance(op, SubviewOp)]
    if layout.space != Space.UB or len(shape) < 2 or not views or len(views) < len(uses):
        return layout
    if not all(_begins(view) for view in views):
        return layout
    axis = len(shape) - 1
    while axis > 0 and all(_is_first(view, axis) for view in views):
        shape[axis] = 1
        axis -= 1
    if 0 < axis < len(shape) - 1:
        block = max(BLOCK_BYTES // element_bytes(alloc.result.type.element_type), 1)
        shape[axis] = -(-shape[axis] // block) * block
    return layout._replace(shape=tuple(shape))


def _begins(view: SubviewOp) -> bool:
    """Whether a view, and every view of it, begins with its source: any line of a packed column but
    the first lies inside a block.
    """
    if any(int(offset) != 0 for offset in view.static_offsets.get_values()):
        return False
    nested = (use.operation for use in view.result.uses)
    return all(_begins(op) for op in nested if isinstance(op, SubviewOp))


def _is_first(view: SubviewOp, axis: int) -> bool:
    """Whether a view takes the first position only of an axis."""
    offsets, sizes = view.static_offsets.get_values(), view.static_sizes.get_values()
    return int(offsets[axis]) == 0 and int(sizes[axis]) == 1


def byte_flags(live: Collection[Operation]) -> frozenset[SSAValue]:
    """The i1 buffers of ub that hold bytes. NotInHivm where one would have to hold bits as well."""
    as_bytes: set[SSAValue] = set()
    moves: list[Operation] = []
    for op in live:
        if isinstance(op, LoadOp | StoreOp):
            as_bytes |= set(_flags(op))
        elif isinstance(op, VCastOp):
            as_bytes |= {root_of(value) for value in (op.dest,) if _is_flag(value)}
        elif isinstance(op, CopyOp | VBrcOp | VTransposeOp):
            moves.append(op)
    grown = True
    while grown:
        before = len(as_bytes)
        for op in moves:
            flags = set(_flags(op))
            if flags & as_bytes:
                as_bytes |= flags
        grown = len(as_bytes) > before
    for op in live:
        if isinstance(op, VCmpOp | VSelOp | VAndOp | VOrOp | VNotOp) and as_bytes & set(_flags(op)):
            raise NotInHivm(
                op, "booleans in gm are bytes; compare them with 0 before they are used as a mask"
            )
        if isinstance(op, VBrcOp | VTransposeOp) and set(_flags(op)) - as_bytes:
            raise NotInHivm(op, "a mask is neither broadcast nor transposed; cast it to f16 around")
    return frozenset(as_bytes)


def _flags(op: Operation) -> Iterator[SSAValue]:
    """The i1 buffers of ub among an operator's operands."""
    return (root_of(value) for value in op.operands if _is_flag(value))


def _is_flag(value: SSAValue) -> bool:
    type_ = memref_type(value.type)
    if type_ is None or space_of(type_) != Space.UB:
        return False
    return str(type_.element_type) == "i1"
