"""Running sums, sorting and determinants become operators that have kernels, where they are small.

cum_sum and cum_prod: a masked reduction over a triangle, or shifts by 1, 2, 4, ... positions;
top_k_indices: one search after another, each without what was found; det: of matrices up to 3 x 3.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import bf16, f16, f32, i64
from xdsl.ir import Attribute, SSAValue

from fusec.fusion.decompose_places import EXACT, constant, decompose_places
from fusec.graph.query import static
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import AttrValue, GraphOp
from fusec_dialects.graph.base import static_shape, tensor_type
from fusec_dialects.graph.indexed import CumProdOp, CumSumOp, DetOp, ScanOp, TopKIndicesOp
from fusec_dialects.graph.movement import GatherElementsOp
from fusec_dialects.graph.shapes import normal_axis

if TYPE_CHECKING:
    from fusec.fusion.decompose import Writer

TRIANGLE = 64
"""Positions up to which a running sum is a reduction over a triangle of them."""

MOST_FOUND = 16
"""Largest or smallest entries that are searched one after another."""

_NUMBERS = ("float16", "bfloat16", "float32", "int32")


def _numeric(x: SSAValue) -> bool:
    """Whether x has a static shape, entries, and a type that the vector unit computes."""
    shape = static(x)
    known = shape is not None and prod(shape) > 0
    return known and numpy_type(tensor_type(x).element_type).name in _NUMBERS


# Running sums and products


def _scan(write: Writer, op: ScanOp) -> SSAValue | None:
    if not _numeric(op.x):
        return None
    shape, element = static_shape(op.x), tensor_type(op.x).element_type
    axis = normal_axis(op.axis.value.data, len(shape))
    x = write.cast(op.x, f32) if element in (f16, bf16) else op.x
    steps = _triangle if shape[axis] <= TRIANGLE else _shifts
    return write.cast(steps(write, op, x, axis), element)


def _is_sum(op: ScanOp) -> bool:
    return isinstance(op, CumSumOp)


def _triangle(write: Writer, op: ScanOp, x: SSAValue, axis: int) -> SSAValue:
    """Each position reduces what stands before it, of all positions in a row."""
    shape = static_shape(x)
    n = shape[axis]
    seen = np.tri(n, n, -1 if op.exclusive.value.data else 0, dtype=np.bool_)
    if op.reverse.value.data:
        seen = seen.T
    mask = constant(write, seen.reshape(n, n, *(1,) * (len(shape) - axis - 1)))
    rows = write.seen(x, (*shape[:axis], 1, *shape[axis:]))
    neutral = write.scalar(0.0 if _is_sum(op) else 1.0, x)
    chosen = write.build("where", [mask, rows, neutral])
    name = "reduce_sum" if _is_sum(op) else "reduce_prod"
    return write.build(name, [chosen], {"axes": (axis + 1,), "keepdims": False})


def _shifts(write: Writer, op: ScanOp, x: SSAValue, axis: int) -> SSAValue:
    size, name = static_shape(x)[axis], "add" if _is_sum(op) else "mul"
    if op.exclusive.value.data:
        x = _shifted(write, op, x, axis, 1)
    distance = 1
    while distance < size:
        x = write.build(name, [x, _shifted(write, op, x, axis, distance)])
        distance *= 2
    return x


def _shifted(write: Writer, op: ScanOp, x: SSAValue, axis: int, by: int) -> SSAValue:
    """x moved along the axis, what comes in neutral."""
    shape = static_shape(x)
    size, backward = shape[axis], op.reverse.value.data
    first, last = (by, size) if backward else (0, size - by)
    part = write.build(
        "slice", [x], {"starts": (first,), "ends": (last,), "axes": (axis,), "steps": (1,)}
    )
    pads = [0] * (2 * len(shape))
    pads[axis + len(shape) if backward else axis] = by
    return write.build("pad", [part], {"pads": tuple(pads), "value": 0.0 if _is_sum(op) else 1.0})


# Sorting


def _top_k(write: Writer, op: TopKIndicesOp) -> SSAValue | None:
    """The places; gathers of the values at them become the extremes that were found."""
    x, k = op.x, op.k.value.data
    shape = static(x)
    if shape is None or not _numeric(x) or not 1 <= k <= MOST_FOUND:
        return None
    axis = normal_axis(op.axis.value.data, len(shape))
    size = shape[axis]
    if size > EXACT:
        return None
    dtype = numpy_type(tensor_type(x).element_type)
    largest = op.largest.value.data
    ends = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind == "i" else (-np.inf, np.inf)
    worst = write.scalar(float(ends[0] if largest else ends[1]), x)
    numbers = np.arange(size, dtype=np.float32).reshape(-1, *(1,) * (len(shape) - axis - 1))
    counted, past = constant(write, numbers), constant(write, np.array(size - 1, np.float32))
    reduced: dict[str, AttrValue | Attribute] = {"axes": (axis,), "keepdims": True}
    taken: SSAValue | None = None
    places: list[SSAValue] = []
    values: list[SSAValue] = []
    for _ in range(k):
        rest = x if taken is None else write.build("where", [taken, worst, x])
        best = write.build("reduce_max" if largest else "reduce_min", [rest], reduced)
        hit = write.build("equal", [rest, best])
        if taken is not None:
            hit = write.build("and", [hit, write.build("not", [taken])])
        place = write.build("reduce_min", [write.build("where", [hit, counted, past])], reduced)
        found = write.build("equal", [counted, place])
        taken = found if taken is None else write.build("or", [taken, found])
        places.append(place)
        values.append(best)
    indices = write.build("cast", [_joined(write, places, axis)], {"to": i64})
    gathers = [
        use.operation
        for use in op.y.uses
        if isinstance(use.operation, GatherElementsOp)
        and use.operation.x == x
        and normal_axis(use.operation.axis.value.data, len(shape)) == axis
    ]
    if gathers:
        extremes = _joined(write, values, axis)
        for gather in gathers:
            gather.results[0].replace_all_uses_with(extremes)
    return indices


def _joined(write: Writer, parts: list[SSAValue], axis: int) -> SSAValue:
    return write.build("concat", parts, {"axis": axis}) if len(parts) > 1 else parts[0]


# Determinants


def _det(write: Writer, op: DetOp) -> SSAValue | None:
    shape = static(op.x)
    if shape is None or not _numeric(op.x):
        return None
    n, lead, rank = shape[len(shape) - 1], shape[:-2], len(shape)
    if n > 3:
        return None

    def entry(row: int, column: int) -> SSAValue:
        cut = write.build(
            "slice",
            [op.x],
            {
                "starts": (row, column),
                "ends": (row + 1, column + 1),
                "axes": (rank - 2, rank - 1),
                "steps": (1, 1),
            },
        )
        return write.seen(cut, lead)

    def minor(rows: tuple[int, ...], columns: tuple[int, ...]) -> SSAValue:
        """The determinant of these rows and columns, by its first row."""
        terms: list[SSAValue] = []
        for i, column in enumerate(columns):
            term, others = entry(rows[0], column), (*columns[:i], *columns[i + 1 :])
            terms.append(write.build("mul", [term, minor(rows[1:], others)]) if others else term)
        total = terms[0]
        for i, term in enumerate(terms[1:]):
            total = write.build("add" if i % 2 else "sub", [total, term])
        return total

    return minor(tuple(range(n)), tuple(range(n)))


_RULES: dict[type[GraphOp], Callable[..., SSAValue | None]] = {
    CumSumOp: _scan,
    CumProdOp: _scan,
    TopKIndicesOp: _top_k,
    DetOp: _det,
}


def decompose_indexed(write: Writer, op: GraphOp) -> SSAValue | None:
    """The value that takes the place of op's result; None where op stays as it is."""
    rule = _RULES.get(type(op))
    return decompose_places(write, op) if rule is None else rule(write, op)
