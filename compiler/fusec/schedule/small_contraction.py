"""Contractions too small for the cube: a product of two values, summed over one axis.

In: a matmul, a gemm or a convolution of single pixels that has few rows. Out: which dimensions of
its operands and its result are one. Cube fractals have 16 rows, of which such operators fill few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.ir import SSAValue

from fusec.schedule.region import Region
from fusec.schedule.types import RefusalError
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.place import place

MOST_ROWS = 8
"""Rows of the left operand, for each pair of matrices: half of a fractal."""

MOST_CHAINED = 1 << 18
"""Elements of a weight where several contractions share a kernel: one core does all of it."""

Labels = tuple[str, ...]


@dataclass(frozen=True)
class Pairing:
    """A label for each dimension of the operands and the result: equal ones run along one axis.

    "k" is summed over, "" is a dimension of size 1 that pairs with nothing.
    """

    left: Labels
    right: Labels
    result: Labels
    bias: Labels = ()
    """Of the third operand, where there is one."""


def contractions_of(region: Region) -> list[GraphOp]:
    """The contractions among a region's operators."""
    return [op for op in region.compute_ops if fusion_class(op.op_name) == FusionClass.CONTRACTION]


def all_small(region: Region) -> bool:
    """Whether the vector cores may take every contraction of a region, and there is one."""
    found = contractions_of(region)
    return bool(found) and all(map(is_small, found))


def pairing(op: GraphOp) -> Pairing:
    """The labels of a contraction; RefusalError where it is none that the vector cores do."""
    make = _PAIRINGS.get(op.op_name)
    found = None if make is None else make(op)
    if found is None:
        raise RefusalError(
            "operator",
            f"{place(op)}: only a matmul, a gemm or a convolution of single pixels is done by the "
            "vector cores",
        )
    if (rows := _rows(op, found)) > MOST_ROWS:
        raise RefusalError(
            "operator",
            f"{place(op)} has {rows} rows; the vector cores do contractions of at most {MOST_ROWS}",
            {"rows": rows},
        )
    return found


def check_chain(ops: list[GraphOp]) -> None:
    """RefusalError where several contractions, done by one core, have too large a weight."""
    for op in ops if len(ops) > 1 else ():
        elements = prod(_shape(op.operands[1]))
        if elements > MOST_CHAINED:
            raise RefusalError(
                "contraction-size",
                f"{place(op)} has {elements} weights; one vector core would do them all, so "
                f"contractions share a kernel up to {MOST_CHAINED}; fuse less around it",
                {"elements": elements, "limit": MOST_CHAINED},
            )


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tensor_type(value).get_shape()


def is_small(op: GraphOp) -> bool:
    try:
        pairing(op)
    except RefusalError:
        return False
    return True


def _rows(op: GraphOp, labels: Pairing) -> int:
    """Positions of the left operand that the right one does not share, for each sum."""
    right = dict(zip(labels.right, _shape(op.operands[1]), strict=True))
    return prod(
        size
        for label, size in zip(labels.left, _shape(op.operands[0]), strict=True)
        if label and right.get(label, 1) == 1 and label != "k"
    )


def _matmul(op: GraphOp) -> Pairing:
    left, right = (len(_shape(o)) for o in op.operands)
    batch = [f"b{i}" for i in range(max(left, right) - 3, -1, -1)]
    rows = ("m",) if left > 1 else ()
    columns = ("n",) if right > 1 else ()
    return Pairing(
        (*batch[len(batch) - max(left - 2, 0) :], *rows, "k"),
        (*batch[len(batch) - max(right - 2, 0) :], "k", *columns),
        (*batch, *rows, *columns),
    )


def _gemm(op: GraphOp) -> Pairing:
    attrs = op.attrs()
    left, right = ("m", "k"), ("k", "n")
    bias = ("m", "n")[2 - len(_shape(op.operands[2])) :] if len(op.operands) > 2 else ()
    return Pairing(
        left[::-1] if attrs["trans_a"] else left,
        right[::-1] if attrs["trans_b"] else right,
        ("m", "n"),
        bias,
    )


def _conv(op: GraphOp) -> Pairing | None:
    attrs = op.attrs()
    x, w = (_shape(o) for o in op.operands[:2])
    inner = ("",) * (len(x) - 2)

    def image(layout: str, channel: str) -> Labels:
        return ("m", channel, *inner) if attrs[layout] == "NCHW" else ("m", *inner, channel)

    left = image("x_layout", "k")
    oihw = attrs["w_layout"] == "OIHW"
    right = ("n", "k", *inner) if oihw else (*inner, "k", "n")
    spatial = [*zip(left, x, strict=True), *zip(right, w, strict=True)]
    single = all(size == 1 for label, size in spatial if not label)
    if not single or attrs["group"] != 1 or any(cast("tuple[int, ...]", attrs["pads"])):
        return None
    return Pairing(left, right, image("y_layout", "n"), ("n",) if len(op.operands) > 2 else ())


_PAIRINGS: dict[str, Callable[[GraphOp], Pairing | None]] = {
    "matmul": _matmul,
    "gemm": _gemm,
    "conv": _conv,
}
