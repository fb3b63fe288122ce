"""Which workspaces stay buffers in gm in HIVM text, and which give way to tensors.

In: the function of a mixed kernel. Out: the workspaces that are arguments in HIVM too; the compiler
orders the two cores by what they write and read there. The others are slices of an accumulator.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import ReinterpretCastOp, SubviewOp
from xdsl.ir import Operation, SSAValue

from fusec.export.live_ops import root_of
from fusec.export.reason import NotInHivm
from fusec.export.workspace_slice import lines_needed, workspace_slice
from fusec_dialects.npu.attrs import Space, memref_type, space_of
from fusec_dialects.npu.move import FixpipeOp, LoadOp, StoreOp

WORKSPACE = "npu.workspace"


def workspaces_of(func: FuncOp) -> list[SSAValue]:
    """The arguments of a kernel that are workspaces."""
    marks = func.arg_attrs or ()
    return [func.args[i] for i, mark in enumerate(marks) if WORKSPACE in mark.data]


def kept_workspaces(
    func: FuncOp, live: Collection[Operation], shapes: Mapping[SSAValue, tuple[int, ...]]
) -> frozenset[SSAValue]:
    """Those that the vector core writes, that the cube core reads, that several accumulators, or
    one after the other, are stored to before they are read, whose rows are longer than those of an
    accumulator, that are one row, or that are read in other pieces than lines.

    `shapes`: of buffers as tensors.
    """
    found = set(workspaces_of(func))
    filled: dict[SSAValue, list[FixpipeOp]] = {}
    kept: set[SSAValue] = set()
    for op in live:
        if isinstance(op, FixpipeOp) and root_of(op.dest) in found:
            filled.setdefault(root_of(op.dest), []).append(op)
        elif isinstance(op, StoreOp):
            kept.add(root_of(op.dest))
        elif isinstance(op, LoadOp) and space_of(op.dest.type) == Space.L1:
            kept.add(root_of(op.source))
    kept.update(root for root, writers in filled.items() if len(writers) > 1)
    for op in live:
        if not isinstance(op, LoadOp) or root_of(op.source) not in filled:
            continue
        writer = filled[root_of(op.source)][0]
        block = writer.parent
        apart = block is None or block.find_ancestor_op_in_block(op) is None
        room, accumulator = memref_type(root_of(op.source).type), shapes[root_of(writer.source)]
        padded = room is not None and room.get_shape()[-1] != accumulator[-1]
        if (
            apart
            or padded
            or accumulator[0] == 1
            or not _is_slice(op, accumulator, shapes[root_of(op.dest)])
        ):
            kept.add(root_of(op.source))
    return frozenset(kept & found)


def _is_slice(op: LoadOp, accumulator: tuple[int, ...], dest: tuple[int, ...]) -> bool:
    """Whether a load reads lines of an accumulator, which may be made higher, from their start."""
    view = op.source.owner
    while isinstance(view, SubviewOp):
        view = view.source.owner
    if isinstance(view, ReinterpretCastOp) and any(map(int, view.static_offsets.get_values())):
        return False
    try:
        height = max(accumulator[0], lines_needed(op, accumulator, dest))
        workspace_slice(op, (height, accumulator[1]), dest, str)
    except NotInHivm:
        return False
    return True
