"""The steps of contractions too small for the cube: a product, then a sum, in f32."""

from __future__ import annotations

from typing import cast

from fusec.schedule.expand import Expander, Form
from fusec.schedule.small_contraction import pairing
from fusec_dialects.graph import GraphOp


def contraction(e: Expander, op: GraphOp) -> Form:
    """alpha sum(left right) + beta bias; the factors are those of a gemm."""
    for value in op.operands:
        e.floating(op, value)
    left, right, *rest = op.operands
    p, labels, attrs = e.program, pairing(op), op.attrs()
    summed = frozenset(
        axis
        for value, names in ((left, labels.left), (right, labels.right))
        for name, ids in zip(names, e.axes.dims[value], strict=True)
        for axis in (ids if name == "k" else ())
    )
    total = p.reduce("sum", p.binary("vmul", e.wide(right), e.wide(left)), summed)
    if (alpha := cast(float, attrs.get("alpha", 1.0))) != 1.0:
        total = p.binary("vmul", total, alpha)
    beta = cast(float, attrs.get("beta", 1.0))
    for bias in rest if beta else ():
        value = e.operand(bias, True)
        if beta != 1.0:
            value = value * beta if isinstance(value, float) else p.binary("vmul", value, beta)
        total = p.binary("vadd", total, value)
    return Form(wide=total)
