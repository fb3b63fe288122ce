"""What each output of a movement region is made of: boxes copied from inputs, boxes of one value.

In: a region of views, pad, concat, split. Out: for each output disjoint pieces that cover it, each
with the access of its source or the value that fills it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import cast

from xdsl.ir import SSAValue

from fusec.schedule.region import Region
from fusec.schedule.types import RefusalError
from fusec.schedule.views import Access, Part, Parts, apply, checked, split, static_shape, stored
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.shapes import normal_axis, slice_bounds
from fusec_dialects.place import place


@dataclass(frozen=True)
class Piece:
    """The box `at`, `sizes` of a value: a copy of what `source` accesses, or filled with a number.

    The dimensions of the access are those of the box.
    """

    at: tuple[int, ...]
    sizes: tuple[int, ...]
    source: Access | float


def output_pieces(region: Region) -> list[list[Piece]]:
    """The pieces of each output; RefusalError for operators that do not just place elements."""
    values: dict[SSAValue, list[Piece]] = {}

    def pieces(value: SSAValue) -> list[Piece]:
        found = values.get(value)
        if found is None:
            access = checked(stored(region, value))
            found = values[value] = [Piece((0,) * len(access.dims), access.sizes, access)]
        return found

    for op in region.compute_ops:
        for value in (*op.operands, *op.results):
            checked(static_shape(value))
        if op.op_name == "split":
            values.update(zip(op.results, _split(op, pieces(op.operands[0])), strict=True))
        else:
            values[op.results[0]] = _moved(op, [pieces(o) for o in op.operands])
    return [pieces(output) for output in region.outputs]


def _moved(op: GraphOp, operands: list[list[Piece]]) -> list[Piece]:
    first = operands[0] if operands else []
    match op.op_name:
        case "transpose":
            perm = _ints(op, "perm")
            return [
                Piece(
                    tuple(piece.at[p] for p in perm),
                    tuple(piece.sizes[p] for p in perm),
                    _viewed(op, piece.source),
                )
                for piece in first
            ]
        case "slice":
            return _slice(op, first)
        case "pad":
            return _pad(op, first)
        case "concat":
            return _concat(op, operands)
        case "constant_of_shape":
            shape = checked(static_shape(op.results[0]))
            return [Piece((0,) * len(shape), shape, cast(float, op.attrs()["value"]))]
        case "expand":
            return [_expanded(op, piece) for piece in first]
        case "reshape" | "squeeze" | "unsqueeze" | "flatten" | "identity":
            return [_reshaped(op, piece) for piece in first]
        case _:
            raise RefusalError("operator", f"{place(op)} computes, it does not move elements")


def _viewed(op: GraphOp, source: Access | float) -> Access | float:
    return checked(apply(op, source)) if isinstance(source, Access) else source


def _cut(piece: Piece, axis: int, taken: range) -> Piece | None:
    """The part of a piece that lies on some indices of a dimension, placed where these go."""
    begin, end = piece.at[axis], piece.at[axis] + piece.sizes[axis]
    if taken.step < 0:
        at = (*piece.at[:axis], 0, *piece.at[axis + 1 :])
        sizes = (*piece.sizes[:axis], len(taken), *piece.sizes[axis + 1 :])
        source = piece.source
        source = _sliced(source, axis, taken) if isinstance(source, Access) else source
        return Piece(at, sizes, source) if taken else None
    kept = [i for i in (_first(taken, begin), _last(taken, end)) if i is not None]
    if len(kept) < 2 or kept[0] > kept[1]:
        return None
    inside = range(taken[kept[0]] - begin, taken[kept[1]] - begin + 1, taken.step)
    at = (*piece.at[:axis], kept[0], *piece.at[axis + 1 :])
    sizes = (*piece.sizes[:axis], len(inside), *piece.sizes[axis + 1 :])
    source = piece.source
    if isinstance(source, Access):
        source = _sliced(source, axis, inside)
    return Piece(at, sizes, source)


def _first(taken: range, begin: int) -> int | None:
    """Position of the first index from `begin` on."""
    at = max(0, -(-(begin - taken.start) // taken.step))
    return at if at < len(taken) else None


def _last(taken: range, end: int) -> int | None:
    """Position of the last index before `end`."""
    at = min(len(taken) - 1, (end - 1 - taken.start) // taken.step)
    return at if at >= 0 else None


def _sliced(source: Access, axis: int, taken: range) -> Access:
    """Some indices of one dimension of an access; RefusalError where they have no stride."""
    parts = source.dims[axis]
    if not parts or taken == range(prod(p.size for p in parts)):
        return source
    stride = parts[0].stride
    if len(parts) > 1:
        length = prod(p.size for p in parts[1:])
        even = taken.step == 1 and taken.start % length == 0 and len(taken) % length == 0
        if not even:
            raise RefusalError(
                "slice",
                "a slice or split cuts through what a reshape merged; a copy has to be made "
                "before it",
            )
        taken = range(taken.start // length, taken.stop // length)
    cut: Parts = (Part(len(taken), stride * taken.step),) if len(taken) > 1 else ()
    dims = (*source.dims[:axis], (*cut, *parts[1:]), *source.dims[axis + 1 :])
    return Access(source.root, source.offset + taken.start * stride, dims)


def _slice(op: GraphOp, pieces: list[Piece]) -> list[Piece]:
    shape = checked(static_shape(op.operands[0]))
    keys = ("axes", "starts", "ends", "steps")
    for axis, start, end, step in zip(*(_ints(op, k) for k in keys), strict=True):
        axis = normal_axis(axis, len(shape))
        taken = slice_bounds(shape[axis], start, end, step)
        if step < 1 and any(piece.sizes[axis] != shape[axis] for piece in pieces):
            raise RefusalError(
                "negative-step", f"{place(op)} with step {step} reverses what is put together here"
            )
        cuts = [_cut(piece, axis, taken) for piece in pieces]
        pieces = [piece for piece in cuts if piece is not None]
    return pieces


def _split(op: GraphOp, pieces: list[Piece]) -> list[list[Piece]]:
    axis = normal_axis(cast(int, op.attrs()["axis"]), len(pieces[0].at))
    ends = [0]
    for size in _ints(op, "sizes"):
        ends.append(ends[-1] + size)
    return [
        [cut for piece in pieces if (cut := _cut(piece, axis, range(a, b))) is not None]
        for a, b in pairwise(ends)
    ]


def _shifted(piece: Piece, by: Sequence[int]) -> Piece:
    at = tuple(a + b for a, b in zip(piece.at, by, strict=True))
    return Piece(at, piece.sizes, piece.source)


def _concat(op: GraphOp, operands: list[list[Piece]]) -> list[Piece]:
    rank = len(operands[0][0].at)
    axis = normal_axis(cast(int, op.attrs()["axis"]), rank)
    found: list[Piece] = []
    begin = 0
    for value, pieces in zip(op.operands, operands, strict=True):
        by = [begin if a == axis else 0 for a in range(rank)]
        found += [_shifted(piece, by) for piece in pieces]
        begin += checked(static_shape(value))[axis]
    return found


def _pad(op: GraphOp, pieces: list[Piece]) -> list[Piece]:
    """The value, cut where a pad is negative, moved to its place, and boxes of the pad's number."""
    shape, result = (checked(static_shape(v)) for v in (op.operands[0], op.results[0]))
    rank = len(shape)
    pads, number = _ints(op, "pads"), cast(float, op.attrs()["value"])
    inner: list[tuple[int, int]] = []
    for axis in range(rank):
        begin, end = pads[axis], pads[rank + axis]
        taken = range(max(0, -begin), shape[axis] + min(0, end))
        cuts = [_cut(piece, axis, taken) for piece in pieces]
        pieces = [piece for piece in cuts if piece is not None]
        inner.append((max(0, begin), len(taken)))
    found = [_shifted(piece, [begin for begin, _ in inner]) for piece in pieces]
    for axis, (begin, size) in enumerate(inner):
        before = inner[:axis]
        lead, widths = [b for b, _ in before], [s for _, s in before]
        rest = result[axis + 1 :]
        for low, high in ((0, begin), (begin + size, result[axis])):
            if high > low:
                at = (*lead, low, *(0 for _ in rest))
                found.append(Piece(at, (*widths, high - low, *rest), number))
    return found


def _expanded(op: GraphOp, piece: Piece) -> Piece:
    shape = checked(static_shape(op.results[0]))
    lead = len(shape) - len(piece.at)
    source = checked(static_shape(op.operands[0]))
    at, sizes = [0] * lead, list(shape[:lead])
    for axis, (begin, size) in enumerate(zip(piece.at, piece.sizes, strict=True)):
        grown = source[axis] == 1
        at.append(begin)
        sizes.append(shape[lead + axis] if grown else size)
    if not isinstance(piece.source, Access):
        return Piece(tuple(at), tuple(sizes), piece.source)
    old: list[Parts] = [()] * lead + list(piece.source.dims)
    dims = [
        parts if parts or size == 1 else (Part(size, 0),)
        for parts, size in zip(old, sizes, strict=True)
    ]
    access = Access(piece.source.root, piece.source.offset, tuple(dims))
    return Piece(tuple(at), tuple(sizes), access)


def _reshaped(op: GraphOp, piece: Piece) -> Piece:
    """A box under another shape: cut or merged dimensions must lie in it whole."""
    old, new = (checked(static_shape(v)) for v in (op.operands[0], op.results[0]))
    at: list[int] = []
    sizes: list[int] = []
    for group, targets in _groups(old, new):
        placed = _regrouped(
            [old[d] for d in group],
            [piece.at[d] for d in group],
            [piece.sizes[d] for d in group],
            [new[d] for d in targets],
        )
        if placed is None:
            raise RefusalError(
                "reshape", f"{place(op)} cuts a part of a value that is put together here"
            )
        at += placed[0]
        sizes += placed[1]
    if not isinstance(piece.source, Access):
        return Piece(tuple(at), tuple(sizes), piece.source)
    source = piece.source
    groups = split([p for parts in source.dims for p in parts], sizes)
    if groups is None:
        raise RefusalError("reshape", f"{place(op)}: the elements have no strides in this shape")
    return Piece(tuple(at), tuple(sizes), Access(source.root, source.offset, tuple(groups)))


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Smallest runs of dimensions of both shapes with one number of elements."""
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        left: list[int] = []
        right: list[int] = []
        a = b = 1
        while not (left or right) or a != b:
            if (a <= b and i < len(old)) or j >= len(new):
                a *= old[i]
                left.append(i)
                i += 1
            else:
                b *= new[j]
                right.append(j)
                j += 1
        found.append((left, right))
    return found


def _regrouped(
    old: list[int], at: list[int], sizes: list[int], new: list[int]
) -> tuple[list[int], list[int]] | None:
    """Place and sizes of a box of shape `old` in shape `new`; None where it is no box there.

    The box must be whole but for its outermost dimension, whose range must be one of whole slices.
    """
    if at == [0] * len(at) and sizes == old:
        return [0] * len(new), list(new)
    real = [i for i, n in enumerate(old) if n > 1]
    if not real or any(sizes[i] != old[i] for i in real[1:]):
        return None
    inner = prod(old[i] for i in real[1:])
    begin, length = at[real[0]] * inner, sizes[real[0]] * inner
    result_at, result_sizes = [0] * len(new), [1] * len(new)
    outer = next((i for i, n in enumerate(new) if n > 1), None)
    if outer is None:
        return result_at, result_sizes
    slice_size = prod(new[outer + 1 :])
    if begin % slice_size or length % slice_size:
        return None
    result_at[outer], result_sizes[outer] = begin // slice_size, length // slice_size
    result_sizes[outer + 1 :] = new[outer + 1 :]
    return result_at, result_sizes


def _ints(op: GraphOp, key: str) -> tuple[int, ...]:
    return cast("tuple[int, ...]", op.attrs()[key])
