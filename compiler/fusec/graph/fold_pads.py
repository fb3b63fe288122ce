"""Pads by zeros inside of a block become the padding of the convolutions that read them.

In: the block of a future kernel. Out: the same numbers; a pad that something else reads stays too.
"""

from __future__ import annotations

from xdsl.ir import Block

from fusec.graph.query import ints
from fusec_dialects.graph import AttrValue, build
from fusec_dialects.graph.compute import ConvOp
from fusec_dialects.graph.movement import PadOp
from fusec_dialects.locations import joined


def fold_pads(block: Block) -> None:
    """Folds every pad of spatial axes by zeros whose reader is a convolution."""
    for op in list(block.ops):
        pad = op.operands[0].owner if isinstance(op, ConvOp) else None
        if not isinstance(op, ConvOp) or not isinstance(pad, PadOp):
            continue
        pads = conv_pads(op, pad)
        if pads is None:
            continue
        attrs: dict[str, AttrValue] = {**op.attrs(), "pads": pads}
        new = build("conv", [pad.operands[0], *op.operands[1:]], attrs, [op.y.type])
        new.location = joined([pad.location], [op.location])
        block.insert_op_before(new, op)
        new.results[0].name_hint = op.y.name_hint
        op.y.replace_all_uses_with(new.results[0])
        block.erase_op(op)
        if not pad.results[0].first_use:
            block.erase_op(pad)


def conv_pads(conv: ConvOp, pad: PadOp) -> tuple[int, ...] | None:
    """The pads of a convolution that also does what a pad before it did; None where it cannot."""
    more, old = ints(pad, "pads"), ints(conv, "pads")
    n = len(more) // 2
    spatial = range(1, n - 1) if conv.x_layout.data == "NHWC" else range(2, n)
    elsewhere = (p for i, p in enumerate(more) if i % n not in spatial)
    if any(elsewhere) or min(more) < 0 or pad.attrs()["value"] != 0.0:
        return None
    begins = [o + more[a] for o, a in zip(old[: n - 2], spatial, strict=True)]
    ends = [o + more[n + a] for o, a in zip(old[n - 2 :], spatial, strict=True)]
    return (*begins, *ends)
