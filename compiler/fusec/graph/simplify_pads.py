"""Pads that do nothing, merge, or become the padding of the window operator that reads them."""

from __future__ import annotations

from collections.abc import Sequence

from fusec.graph.query import attr, ints, producer, single
from fusec.graph.simplify_moves import becomes
from fusec.rewrite.driver import Rewriter, Rule
from fusec_dialects.graph import GraphOp


def _pad(op: GraphOp, rewriter: Rewriter) -> bool:
    """A pad by nothing, and a pad of a pad with the same value."""
    pads = ints(op, "pads")
    if not any(pads):
        return becomes(op, rewriter, op.operands[0])
    inner = single(op.operands[0], "pad")
    if inner is None or str(inner.properties["value"]) != str(op.properties["value"]):
        return False
    before = ints(inner, "pads")
    if min(*pads, *before) < 0:
        return False
    both = tuple(a + b for a, b in zip(pads, before, strict=True))
    attrs = {"pads": both, "value": attr(op, "value")}
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("pad", [inner.operands[0]], attrs, types))


def _pad_into_window(op: GraphOp, rewriter: Rewriter) -> bool:
    """Padding of spatial axes becomes that of the convolution or pool which reads it.

    A convolution pads with 0; so does an average pool that counts its padding; a max pool's padding
    never wins, so only -inf may go into it.
    """
    pad = producer(op.operands[0], "pad")
    if pad is None:
        return False
    layout = attr(op, "x_layout" if op.op_name == "conv" else "layout")
    more, old = ints(pad, "pads"), ints(op, "pads")
    n = len(more) // 2
    spatial = range(1, n - 1) if layout == "NHWC" else range(2, n)
    wanted = float("-inf") if op.op_name == "max_pool" else 0.0
    elsewhere = [p for i, p in enumerate(more) if i % n not in spatial]
    if any(elsewhere) or min(more) < 0 or attr(pad, "value") != wanted:
        return False
    both = [o + more[a] for o, a in zip(old[: n - 2], spatial, strict=True)]
    both += [o + more[n + a] for o, a in zip(old[n - 2 :], spatial, strict=True)]
    extra = _pool_allows(op, both, any(old))
    if extra is None:
        return False
    attrs = {**op.attrs(), "pads": tuple(both), **extra}
    operands = [pad.operands[0], *op.operands[1:]]
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build(op.op_name, operands, attrs, types))


def _pool_allows(op: GraphOp, pads: Sequence[int], padded: bool) -> dict[str, bool] | None:
    """Attributes that change with the padding; None where the window cannot have it."""
    if op.op_name == "conv":
        return {}
    kernel, dilations = ints(op, "kernel_shape"), ints(op, "dilations")
    spans = [d * (k - 1) for k, d in zip(kernel, dilations, strict=True)]
    if attr(op, "ceil_mode") or any(p > s for p, s in zip(pads, spans * 2, strict=True)):
        return None
    if op.op_name == "max_pool":
        return {}
    if padded and not attr(op, "count_include_pad"):
        return None
    return {"count_include_pad": True}


PAD_RULES = (
    Rule("pad", ("graph.pad",), _pad, 2),
    Rule(
        "pad-into-window",
        ("graph.conv", "graph.average_pool", "graph.max_pool"),
        _pad_into_window,
        2,
    ),
)
"""Rules on pads."""
