"""Which buffers in L1 are filled in parts, and which of these must be zero where nothing is loaded.

The compiler takes the real sizes of a product in tensor form from the one load of each operand. An
operand that comes from several loads counts whole: rows and columns of the result that nobody reads
do no harm, but along K all that is in both operands is added up.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import SubviewOp
from xdsl.ir import Operation, SSAValue

from fusec.export.cube_text import mmad_sizes, whole_buffer
from fusec.export.live_ops import writes_in
from fusec_dialects.npu.attrs import Space, memref_type, space_of
from fusec_dialects.npu.base import NpuOp
from fusec_dialects.npu.cube import MmadOp
from fusec_dialects.npu.move import LoadOp
from fusec_dialects.npu.vector import VBrcOp


def parts_of(func: FuncOp, live: Collection[Operation]) -> dict[SSAValue, bool]:
    """The buffers that are filled in parts, and whether they are to be zeroed before."""
    writers: dict[SSAValue, list[NpuOp]] = {}
    for root, writer in writes_in(func, live):
        if space_of(root.type) == Space.L1:
            writers.setdefault(root, []).append(writer)
    parts = {root: False for root, found in writers.items() if not _is_one_load(found)}
    for op in live:
        if not isinstance(op, MmadOp):
            continue
        buffers = [whole_buffer(op, value) for value in (op.a, op.b)]
        if any(buffer in parts for buffer in buffers) and not _is_deep(op, buffers):
            for buffer in buffers:
                parts[buffer] = not any(_fills(w, buffer) for w in writers.get(buffer, ()))
    return parts


def _is_one_load(writers: list[NpuOp]) -> bool:
    return len(writers) == 1 and isinstance(writers[0], LoadOp) and begins(writers[0].dest)


def _is_deep(op: MmadOp, buffers: list[SSAValue]) -> bool:
    """Whether K is as large as both buffers."""
    _, k, _ = mmad_sizes(op)
    axes = (int(op.a_transpose is None), int(op.b_transpose is not None))
    types = [memref_type(buffer.type) for buffer in buffers]
    return all(
        type_ is not None and type_.get_shape()[axis] == k
        for type_, axis in zip(types, axes, strict=True)
    )


def _fills(writer: NpuOp, buffer: SSAValue) -> bool:
    return isinstance(writer, VBrcOp) and writer.dest is buffer


def begins(value: SSAValue) -> bool:
    """Whether a value is a buffer, or a view of it from its first element on."""
    view = value.owner
    return not isinstance(view, SubviewOp) or all(
        int(offset) == 0 for offset in view.static_offsets.get_values()
    )
