"""Reading and writing at places that are data becomes gathers of rows and comparisons of places.

gather_nd, gather_elements, reverse_sequence, where on i64: one gather of rows by a flat number,
computed in i32; scatter_nd, scatter_elements: each update is chosen where its place is, or, where
nothing is combined, a gather from old and new rows. Numbers in f32 stay below 2^24, exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import f32, i32, i64
from xdsl.ir import SSAValue

from fusec.graph.query import static
from fusec.semantics.interpreter import constant_array
from fusec.semantics.types import numpy_type, tensor_of
from fusec_dialects.graph import ConstantOp, GraphOp
from fusec_dialects.graph.base import static_shape, tensor_type
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.elementwise import WhereOp
from fusec_dialects.graph.indexed import (
    GatherNDOp,
    ReverseSequenceOp,
    ScatterElementsOp,
    ScatterNDOp,
    ScatterOp,
)
from fusec_dialects.graph.movement import GatherElementsOp
from fusec_dialects.graph.shapes import normal_axis

if TYPE_CHECKING:
    from fusec.fusion.decompose import Writer
    from fusec.semantics.dtypes import Array

EXACT = 1 << 24
"""Whole numbers up to here are exact in f32."""

MOST_UPDATES = 64
"""Updates that are put in place one after another."""

MOST_PAIRS = 1 << 22
"""Pairs of a row and an update that are compared."""

MOST_CHOSEN = 1 << 16
"""Entries of i64 that are chosen one by one."""

_COMBINE = {"add": "add", "mul": "mul", "max": "max", "min": "min"}
_NUMBERS = ("float16", "bfloat16", "float32", "int32")


def constant(write: Writer, array: Array) -> SSAValue:
    """An inline constant."""
    content = np.ascontiguousarray(array)
    return write.add(ConstantOp(dense(tensor_of(array.dtype, array.shape), content.tobytes())))


class _Numbers:
    """Whole numbers that are known, or computed in i32."""

    def __init__(self, write: Writer, value: SSAValue | Array) -> None:
        self.write = write
        if isinstance(value, SSAValue) and isinstance(value.owner, ConstantOp):
            value = constant_array(value.owner).astype(np.int64)
        self.known = value if isinstance(value, np.ndarray) else None
        self._value = write.cast(value, i32) if isinstance(value, SSAValue) else None

    @property
    def value(self) -> SSAValue:
        if self._value is None:
            known = np.zeros(()) if self.known is None else self.known
            self._value = constant(self.write, known.astype(np.int32))
        return self._value

    def part(self, axis: int, place: int) -> _Numbers:
        """One place of an axis, without the axis."""
        if self.known is not None:
            return _Numbers(self.write, self.known.take(place, axis))
        shape = static_shape(self.value)
        cut = self.write.build(
            "slice",
            [self.value],
            {"starts": (place,), "ends": (place + 1,), "axes": (axis,), "steps": (1,)},
        )
        return _Numbers(self.write, self.write.seen(cut, (*shape[:axis], *shape[axis + 1 :])))

    def wrapped(self, size: int) -> _Numbers:
        """Negative ones counted from the end."""
        if self.known is not None:
            return _Numbers(self.write, np.where(self.known < 0, self.known + size, self.known))
        write, x = self.write, self.value
        below = write.build("cast", [write.build("less", [x, write.scalar(0, x)])], {"to": i32})
        more = write.build("mul", [below, write.scalar(size, x)])
        return _Numbers(write, write.build("add", [x, more]))

    def times(self, factor: int) -> _Numbers:
        if self.known is not None:
            return _Numbers(self.write, self.known * factor)
        x = self.value
        return _Numbers(self.write, self.write.build("mul", [x, self.write.scalar(factor, x)]))

    def plus(self, other: _Numbers) -> _Numbers:
        if self.known is not None and other.known is not None:
            return _Numbers(self.write, self.known + other.known)
        return _Numbers(self.write, self.write.build("add", [self.value, other.value]))

    def floats(self, shape: Sequence[int]) -> SSAValue:
        """In f32, in another shape."""
        if self.known is not None:
            return constant(self.write, self.known.astype(np.float32).reshape(shape))
        return self.write.cast(self.write.seen(self.value, shape), f32)


def _rows(write: Writer, x: SSAValue, count: int) -> SSAValue:
    """x as `count` rows."""
    total = prod(static_shape(x))
    return write.seen(x, (count, total // count))


def _picked(write: Writer, rows: SSAValue, flat: _Numbers, shape: Sequence[int]) -> SSAValue:
    """The rows of these numbers, in a shape."""
    if flat.known is not None:
        places = constant(write, flat.known.astype(np.int64).reshape(-1))
    else:
        places = write.seen(flat.value, (prod(static_shape(flat.value)),))
    return write.seen(write.build("gather", [rows, places], {"axis": 0}), shape)


def _flat(write: Writer, indices: SSAValue, sizes: Sequence[int]) -> _Numbers:
    """Index vectors along the last axis as row-major numbers over axes of `sizes`."""
    numbers = _Numbers(write, indices)
    last = len(static_shape(indices)) - 1
    total: _Numbers | None = None
    for axis, size in enumerate(sizes):
        part = numbers.part(last, axis).wrapped(size).times(prod(sizes[axis + 1 :]))
        total = part if total is None else total.plus(part)
    return _Numbers(write, np.zeros((), np.int64)) if total is None else total


def _usable(op: GraphOp) -> bool:
    """Static, with elements, and needed by something."""
    shapes = [static(value) for value in (*op.operands, *op.results)]
    small = all(shape is not None and 0 < prod(shape) < 1 << 31 for shape in shapes)
    return small and op.results[0].first_use is not None


def _gather_nd(write: Writer, op: GatherNDOp) -> SSAValue | None:
    x, indices = static_shape(op.x), static_shape(op.indices)
    batch, depth = op.batch_dims.value.data, indices[len(indices) - 1]
    sizes = x[batch : batch + depth]
    flat = _flat(write, op.indices, sizes)
    if batch:
        numbers = np.arange(prod(x[:batch]), dtype=np.int64) * prod(sizes)
        shape = (*x[:batch], *(1,) * (len(indices) - 1 - batch))
        first = np.broadcast_to(numbers.reshape(shape), indices[:-1])
        flat = flat.plus(_Numbers(write, first))
    rows = _rows(write, op.x, prod(x[: batch + depth]))
    return _picked(write, rows, flat, static_shape(op.y))


def _gather_elements(write: Writer, op: GatherElementsOp) -> SSAValue | None:
    x, shape = static_shape(op.x), static_shape(op.indices)
    axis = normal_axis(op.axis.value.data, len(x))
    strides = [prod(x[i + 1 :]) for i in range(len(x))]
    first = np.zeros(shape, np.int64)
    for i, grid in enumerate(np.ogrid[tuple(slice(size) for size in shape)]):
        first = first if i == axis else first + grid * strides[i]
    flat = _Numbers(write, op.indices).wrapped(x[axis]).times(strides[axis])
    rows = write.seen(op.x, (prod(x),))
    return _picked(write, rows, flat.plus(_Numbers(write, first)), shape)


def _reverse_sequence(write: Writer, op: ReverseSequenceOp) -> SSAValue | None:
    """Rows of a batch entry and a time; time n - 1 - t below the length n."""
    x = static_shape(op.x)
    batch, time = (normal_axis(a.value.data, len(x)) for a in (op.batch_axis, op.time_axis))
    if {batch, time} != {0, 1}:
        return None
    lengths = _Numbers(write, op.lengths)
    steps = np.arange(x[time], dtype=np.int64)
    if lengths.known is not None:
        ends = lengths.known.reshape(-1, 1)
        turned = _Numbers(write, np.where(steps < ends, ends - 1 - steps, steps))
    else:
        ends = lengths.floats((x[batch], 1))
        here = constant(write, steps.astype(np.float32)[None])
        back = write.build("sub", [ends, constant(write, steps.astype(np.float32)[None] + 1)])
        inside = write.build("less", [here, ends])
        turned = _Numbers(write, write.build("where", [inside, back, here]))
    first = np.broadcast_to(np.arange(x[batch], dtype=np.int64)[:, None], (x[batch], x[time]))
    if batch == 0:
        flat = turned.plus(_Numbers(write, first * x[time]))
    else:
        flat = turned.times(x[batch]).plus(_Numbers(write, first))
        flat = _turned(write, flat)
    return _picked(write, _rows(write, op.x, x[0] * x[1]), flat, x)


def _turned(write: Writer, numbers: _Numbers) -> _Numbers:
    if numbers.known is not None:
        return _Numbers(write, numbers.known.T)
    return _Numbers(write, write.build("transpose", [numbers.value], {"perm": (1, 0)}))


# Choosing and writing


def _where(write: Writer, op: WhereOp) -> SSAValue | None:
    """Of i64, which the vector unit cannot choose from: a gather from both, entry by entry."""
    shape = static_shape(op.y)
    if tensor_type(op.y).element_type != i64 or prod(shape) > MOST_CHOSEN:
        return None
    counts = [prod(static_shape(v)) for v in (op.a, op.b)]
    first, second = (
        np.broadcast_to(np.arange(n, dtype=np.int64).reshape(static_shape(v)) + start, shape)
        for v, n, start in ((op.a, counts[0], 0), (op.b, counts[1], counts[0]))
    )
    if isinstance(op.condition.owner, ConstantOp):
        flat = _Numbers(write, np.where(constant_array(op.condition.owner), first, second))
    else:
        sides = [constant(write, side.astype(np.float32)) for side in (first, second)]
        flat = _Numbers(write, write.build("where", [op.condition, *sides]))
    both = [write.seen(v, (n, 1)) for v, n in zip((op.a, op.b), counts, strict=True)]
    return _picked(write, write.build("concat", both, {"axis": 0}), flat, shape)


def _scatter_nd(write: Writer, op: ScatterNDOp) -> SSAValue | None:
    x, indices = static_shape(op.x), static_shape(op.indices)
    sizes = x[: indices[len(indices) - 1]]
    count, updates = prod(sizes), prod(indices[:-1])
    flat = _flat(write, op.indices, sizes)
    old, new = _rows(write, op.x, count), _rows(write, op.updates, updates)
    if op.reduction.data == "none":
        return _replaced(write, old, new, flat, x)
    if not _numeric(op) or updates > MOST_UPDATES or count >= EXACT:
        return None
    places = flat.floats((updates, 1))
    rows = constant(write, np.arange(count, dtype=np.float32)[:, None])
    return write.seen(_combined(write, op, old, rows, places, new, 0), x)


def _replaced(
    write: Writer, old: SSAValue, new: SSAValue, flat: _Numbers, shape: Sequence[int]
) -> SSAValue | None:
    """A gather from old and new rows together; of several updates of a row the last counts."""
    count, updates = static_shape(old)[0], static_shape(new)[0]
    if flat.known is not None:
        source = np.arange(count)
        source[flat.known.reshape(-1)] = count + np.arange(updates)
        chosen = _Numbers(write, source)
    elif count * updates > MOST_PAIRS or count + updates >= EXACT:
        return None
    else:
        rows = constant(write, np.arange(count, dtype=np.float32)[:, None])
        later = constant(write, np.arange(count, count + updates, dtype=np.float32)[None])
        hit = write.build("equal", [flat.floats((1, updates)), rows])
        pairs = write.build("where", [hit, later, rows])
        best = write.build("reduce_max", [pairs], {"axes": (1,), "keepdims": False})
        chosen = _Numbers(write, best)
    both = write.build("concat", [old, new], {"axis": 0})
    return _picked(write, both, chosen, shape)


def _scatter_elements(write: Writer, op: ScatterElementsOp) -> SSAValue | None:
    """Each place along the axis of updates in its turn, where the numbers along the axis agree."""
    x, shape = static_shape(op.x), static_shape(op.indices)
    axis = normal_axis(op.axis.value.data, len(x))
    if not _numeric(op) or shape[axis] > MOST_UPDATES or x[axis] >= EXACT:
        return None
    places = _Numbers(write, op.indices).wrapped(x[axis]).floats(shape)
    new = op.updates
    ends = [0 if i == axis else x[i] - shape[i] for i in range(len(x))]
    if any(ends):
        pads = (*(0,) * len(x), *ends)
        places = write.build("pad", [places], {"pads": pads, "value": -1.0})
        new = write.build("pad", [new], {"pads": pads, "value": 0.0})
    numbers = np.arange(x[axis], dtype=np.float32).reshape(-1, *(1,) * (len(x) - axis - 1))
    return _combined(write, op, op.x, constant(write, numbers), places, new, axis)


def _combined(
    write: Writer,
    op: ScatterOp,
    old: SSAValue,
    rows: SSAValue,
    places: SSAValue,
    new: SSAValue,
    axis: int,
) -> SSAValue:
    """old, with update after update of `new` along the axis combined where its place is a row."""
    kind = _COMBINE.get(op.reduction.data)
    element = tensor_type(old).element_type
    wide = f32 if kind in ("add", "mul") and element != i32 else element
    result, new = write.cast(old, wide), write.cast(new, wide)
    for number in range(static_shape(new)[axis]):
        cut = {"starts": (number,), "ends": (number + 1,), "axes": (axis,), "steps": (1,)}
        place, update = (write.build("slice", [v], dict(cut)) for v in (places, new))
        hit = write.build("equal", [place, rows])
        combined = update if kind is None else write.build(kind, [result, update])
        result = write.build("where", [hit, combined, result])
    return write.cast(result, element)


def _numeric(op: ScatterOp) -> bool:
    return numpy_type(tensor_type(op.x).element_type).name in _NUMBERS


_RULES: dict[type[GraphOp], Callable[..., SSAValue | None]] = {
    GatherNDOp: _gather_nd,
    GatherElementsOp: _gather_elements,
    ReverseSequenceOp: _reverse_sequence,
    WhereOp: _where,
    ScatterNDOp: _scatter_nd,
    ScatterElementsOp: _scatter_elements,
}


def decompose_places(write: Writer, op: GraphOp) -> SSAValue | None:
    """The value that takes the place of op's result; None where op stays as it is."""
    rule = _RULES.get(type(op))
    return None if rule is None or not _usable(op) else rule(write, op)
