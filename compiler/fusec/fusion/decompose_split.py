"""A split whose pieces products and arithmetic read becomes slices: each of its readers takes its
piece where it lies, and nothing is moved."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from fusec.fusion.dag import ACCESS
from fusec.graph.query import static
from fusec.schedule.views import VIEWS
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.movement import SplitOp
from fusec_dialects.graph.shapes import normal_axis

if TYPE_CHECKING:
    from fusec.fusion.decompose import Writer

READERS = frozenset(
    {
        FusionClass.CONTRACTION,
        FusionClass.ELEMENTWISE,
        FusionClass.REDUCTION,
        FusionClass.NORM,
    }
)
"""Kernels of these read an operand along any strides."""

NEAR = 8
"""Views between a piece and what reads it."""


def sliced(write: Writer, op: SplitOp) -> list[SSAValue] | None:
    """The pieces of a split as slices; None where something reads a piece in another way."""
    shape = static(op.x)
    if shape is None or not all(_is_read(piece, NEAR) for piece in op.outputs):
        return None
    axis = normal_axis(op.axis.value.data, len(shape))
    sizes = [int(size) for size in op.sizes.get_values()]
    return [
        write.build(
            "slice",
            [op.x],
            {"axes": (axis,), "starts": (end - size,), "ends": (end,), "steps": (1,)},
        )
        for size, end in zip(sizes, accumulate(sizes), strict=True)
    ]


def _is_read(value: SSAValue, near: int) -> bool:
    """Whether only kernels of READERS use a value, through views."""
    for use in value.uses:
        user = use.operation
        if not isinstance(user, GraphOp):
            return False
        if user.op_name in ACCESS | VIEWS:
            if near == 0 or not _is_read(user.results[0], near - 1):
                return False
        elif fusion_class(user.op_name) not in READERS:
            return False
    return True
