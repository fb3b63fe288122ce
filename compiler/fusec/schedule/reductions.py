"""Which operators reduce, and along which dimensions of their operand."""

from __future__ import annotations

from typing import cast

from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.shapes import normal_axis

REDUCTIONS = frozenset(
    {
        *("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"),
        "global_average_pool",
    }
)
NORMS = frozenset({"softmax", "log_softmax", "layer_normalization", "batch_normalization"})


def reduced_axes(op: GraphOp, rank: int) -> tuple[int, ...]:
    """The dimensions that a reduction reduces: none given means all, a global pool the spatial."""
    if op.op_name == "global_average_pool":
        return tuple(range(1, rank - 1) if op.attrs()["layout"] == "NHWC" else range(2, rank))
    axes = cast("tuple[int, ...]", op.attrs()["axes"])
    return tuple(normal_axis(a, rank) for a in axes) or tuple(range(rank))
