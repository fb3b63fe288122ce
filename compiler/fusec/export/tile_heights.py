"""Accumulators as high as the chunks of lines that are read from them, the last one included.

In: the shapes of buffers as tensors. Out: the same; where chunks do not divide the lines of a tile,
its accumulator and every left operand of its products have more lines. A chunk is a slice of static
size.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Operation, SSAValue

from fusec.export.cube_text import whole_buffer
from fusec.export.live_ops import root_of
from fusec.export.workspace_slice import lines_needed
from fusec_dialects.npu.cube import MmadOp
from fusec_dialects.npu.move import FixpipeOp, LoadOp

Shapes = dict[SSAValue, tuple[int, ...]]


def with_whole_chunks(
    shapes: Shapes, live: Collection[Operation], kept: Collection[SSAValue] = ()
) -> Shapes:
    """`shapes` with higher tiles where needed; raises NotInHivm. `kept`: workspaces that stay
    buffers in gm, from which any lines may be read."""
    through = {
        root_of(op.dest): op
        for op in live
        if isinstance(op, FixpipeOp) and root_of(op.dest) not in kept
    }
    heights: dict[SSAValue, int] = {}
    for op in live:
        fixpipe = through.get(root_of(op.source)) if isinstance(op, LoadOp) else None
        if isinstance(op, LoadOp) and fixpipe is not None:
            accumulator = whole_buffer(fixpipe, fixpipe.source)
            rows, columns = shapes[accumulator]
            needed = lines_needed(op, (rows, columns), shapes[root_of(op.dest)])
            heights[accumulator] = max(needed, rows, heights.get(accumulator, 0))
    found = dict(shapes)
    for accumulator, height in heights.items():
        found[accumulator] = height, shapes[accumulator][1]
    for op in live:
        if isinstance(op, MmadOp):
            left, accumulator = whole_buffer(op, op.a), whole_buffer(op, op.acc)
            height = heights.get(accumulator, 0)
            rows, columns = found[left]
            if op.a_transpose is not None:
                found[left] = rows, max(columns, height)
            else:
                found[left] = max(rows, height), columns
    return found
