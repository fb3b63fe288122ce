"""A movement region as copies: which axes each piece has, and which of them a tile extends along.

In: a region of transposes, slices, pads, concats, expands, or a gather. Out: its copies. One keeps
its innermost axis, or swaps it for another by transposing in ub, or weaves a short one in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from xdsl.ir import SSAValue

from fusec.hw import DTYPE_BYTES
from fusec.schedule.axes import dtype_of
from fusec.schedule.footprint import BLOCK
from fusec.schedule.pieces import Piece, output_pieces
from fusec.schedule.region import Region, once
from fusec.schedule.types import RefusalError
from fusec.schedule.views import (
    Access,
    Part,
    Parts,
    checked,
    load_access,
    static_shape,
    store_access,
    stored,
)
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.shapes import normal_axis
from fusec_dialects.place import place

SHORT_STEP = 4
"""A load takes every n-th element of a row itself for n up to this; else elements go one by one."""

MOVED = frozenset({"f16", "bf16", "f32", "i64", "i32", "i8", "ui8", "i1"})

WOVEN_COLUMNS = 256
"""Where a woven copy has two axes only, the long one is cut into columns of at most this many."""

_NOTHING = Part(0, 0)


class Axis(NamedTuple):
    """`size` steps, of `source` elements in what is read and `dest` elements in what is written.
    A negative `source` reads backwards from the first position: tiles take one step of it.

    Where `picked` is not 0 the source moves by `source` times an index that is loaded, `picked`
    being the axis's stride in the tensor of indices.
    """

    size: int
    source: int
    dest: int
    picked: int = 0


@dataclass(frozen=True, eq=False)
class Copy:
    """One piece of an output. `axes` outermost first as they lie in the output.

    `root`: what is read, None for a fill with `value`. `columns`, `rows`: the axes of a tile, by
    number. `swapped`: the tile is transposed on the way. `woven`: a short axis, contiguous in the
    output, so that rows of it alone would be stored in pieces below a block; tiles have it whole,
    and it is woven into their columns by two transpositions. `indices`: of a gather, contiguous,
    with size and stride of the gathered axis.
    """

    output: int
    dtype: str
    axes: tuple[Axis, ...]
    source_offset: int
    dest_offset: int
    columns: int = 0
    rows: int = 0
    swapped: bool = False
    root: SSAValue | None = None
    value: float = 0.0
    indices: Access | None = None
    gathered: Part = _NOTHING
    woven: int | None = None


@once
def copies_of(region: Region) -> list[Copy]:
    """The copies that make up a movement region; RefusalError where it is none."""
    for value in region.outputs:
        if dtype_of(value) not in MOVED:
            raise RefusalError("type", f"{value.type}: {dtype_of(value)} cannot be moved")
    gathers = [op for op in region.compute_ops if op.op_name in ("gather", "gather_elements")]
    if gathers:
        return [_gather(region, gathers)]
    found: list[Copy] = []
    for number, pieces in enumerate(output_pieces(region)):
        target = checked(stored(region, region.outputs[number]))
        found += [_copy(piece, number, target) for piece in pieces]
    return found


def _copy(piece: Piece, output: int, target: Access) -> Copy:
    strides = [parts[0].stride if parts else 0 for parts in target.dims]
    dest_offset = sum(a * s for a, s in zip(piece.at, strides, strict=True))
    axes: list[Axis] = []
    source = piece.source
    for axis, size in enumerate(piece.sizes):
        parts = source.dims[axis] if isinstance(source, Access) else (Part(size, 0),)
        axes += _spread(parts, strides[axis])
    dtype = dtype_of(target.root)
    if not isinstance(source, Access):
        return _placed(Copy(output, dtype, tuple(axes), 0, dest_offset, value=source))
    copy = Copy(output, dtype, tuple(axes), source.offset, dest_offset, root=source.root)
    return _placed(copy)


def _spread(parts: Parts, stride: int) -> list[Axis]:
    """The axes of one dimension that lies in the output with one stride."""
    axes: list[Axis] = []
    for part in reversed(parts):
        axes.append(Axis(part.size, part.stride, stride))
        stride *= part.size
    return axes[::-1]


def _placed(copy: Copy) -> Copy:
    """The copy with neighbouring axes merged, and with the axes of its tiles chosen."""
    axes = sorted(copy.axes, key=lambda a: -a.dest)
    merged: list[Axis] = []
    for axis in axes:
        if axis.size == 1:
            continue
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.dest == axis.size * axis.dest
            and last.picked == axis.size * axis.picked
            and (axis.picked or last.source == axis.size * axis.source)
        ):
            merged[-1] = Axis(last.size * axis.size, axis.source, axis.dest, axis.picked)
        else:
            merged.append(axis)
    ahead = [i for i, a in enumerate(merged) if a.source >= 0 and not a.picked]
    inner = next((i for i in ahead if merged[i].dest == 1), None)
    if copy.root is None:
        near: int | None = inner
    else:
        near = next((i for i, a in enumerate(merged) if a.source == 1 and not a.picked), None)
    short = inner is not None and 1 < merged[inner].source <= SHORT_STEP and near is None
    near = inner if short else near
    swapped = inner != near
    if swapped and inner is not None and merged[inner].source == 0:
        raise RefusalError(
            "expand-innermost",
            "one element is repeated along the innermost axis: work for the vector unit",
        )
    if inner is None or (near is None and swapped):
        merged.append(Axis(1, 1, 1))
        unit = len(merged) - 1
        inner = unit if inner is None else inner
        near = unit if near is None else near
    if swapped and (woven := _woven(copy, merged, inner, cast(int, near))) is not None:
        return woven
    rows = cast(int, near) if swapped else _rows(merged, (inner,), copy.root is None)
    rows = inner if rows is None else rows
    return replace(copy, axes=tuple(merged), columns=inner, rows=rows, swapped=swapped)


def _woven(copy: Copy, axes: list[Axis], inner: int, near: int) -> Copy | None:
    """The copy with its innermost axis woven into the next one; None where that is not its form:
    short, followed in the output by the axis that is contiguous in the source."""
    short, long = axes[inner], axes[near]
    size = DTYPE_BYTES[copy.dtype]
    if not 1 < short.size < BLOCK // size or long.dest != short.size or short.picked:
        return None
    rows = _rows(axes, (inner, near), False)
    if rows is not None:
        return replace(copy, axes=tuple(axes), columns=near, rows=rows, woven=inner)
    cut = _divisor(long.size, BLOCK // size)
    if cut is None:
        return None
    outer = Axis(long.size // cut, cut, long.dest * cut)
    parts = [outer if i == near else a for i, a in enumerate(axes)]
    parts.append(Axis(cut, 1, long.dest))
    return replace(copy, axes=tuple(parts), columns=len(axes), rows=near, woven=inner)


def _divisor(size: int, block: int) -> int | None:
    """The largest divisor of up to WOVEN_COLUMNS, if possible one of whole blocks."""
    found = [d for d in range(block, WOVEN_COLUMNS + 1) if size % d == 0]
    return max(found, key=lambda d: (d % block == 0, d), default=None)


def _rows(axes: Sequence[Axis], taken: Sequence[int], filled: bool) -> int | None:
    """The axis that runs along the rows of a tile beside the axes `taken`: the longest that is
    loaded anew; None where there is no other."""
    others = [
        i
        for i, a in enumerate(axes)
        if i not in taken and not a.picked and (filled or a.source > 0)
    ]
    return max(others, key=lambda i: (axes[i].size, i), default=None)


def _gather(region: Region, gathers: list[GraphOp]) -> Copy:
    op = gathers[0]
    if len(gathers) > 1 or op.op_name != "gather":
        raise RefusalError(
            "gather",
            f"{place(op)}: a kernel gathers whole slices, along one axis, once; gather_elements "
            "and several gathers in one kernel are not done",
        )
    if len(region.outputs) != 1:
        raise RefusalError("gather", f"{place(op)}: a gather has one output in its kernel")
    value, target = checked(store_access(region, region.outputs[0]))
    if value is not op.results[0]:
        raise RefusalError("gather", f"{place(op)} is followed by more than views")
    data = checked(load_access(region, op.operands[0]))
    indices = checked(load_access(region, op.operands[1]))
    if region.producer(data.root) is not None or region.producer(indices.root) is not None:
        raise RefusalError("gather", f"{place(op)} gathers from what is computed in its kernel")
    if dtype_of(indices.root) not in ("i32", "i64") or not indices.contiguous:
        raise RefusalError("gather", f"{place(op)}: indices are i32 or i64, contiguous")
    axis = normal_axis(cast(int, op.attrs()["axis"]), len(data.dims))
    gathered, count = data.dims[axis], len(indices.dims)
    if len(gathered) > 1:
        raise RefusalError("gather", f"{place(op)}: the gathered axis has no single stride")
    stride = gathered[0].stride if gathered else 0
    axes: list[Axis] = []
    for dim, parts in enumerate(target.dims):
        if axis <= dim < axis + count:
            axes += _indexed(indices.dims[dim - axis], parts, stride)
            continue
        source = data.dims[dim if dim < axis else dim - count + 1]
        axes += _paired(op, source, parts)
    size = checked(static_shape(op.operands[0]))[axis]
    copy = Copy(0, dtype_of(data.root), tuple(axes), data.offset, target.offset, root=data.root)
    return _placed(replace(copy, indices=indices, gathered=Part(size, stride)))


def _indexed(indices: Parts, dest: Parts, stride: int) -> list[Axis]:
    """Axes of a dimension of indices, which lie contiguously."""
    step = indices[-1].stride if indices else 1
    axes: list[Axis] = []
    for part in reversed(dest):
        axes.append(Axis(part.size, stride, part.stride, step))
        step *= part.size
    return axes[::-1]


def _paired(op: GraphOp, source: Parts, dest: Parts) -> list[Axis]:
    """Axes of a dimension that has parts on both sides."""
    left, right = list(source), list(dest)
    axes: list[Axis] = []
    while left and right:
        a, b = left.pop(), right.pop()
        size = min(a.size, b.size)
        if a.size % size or b.size % size:
            raise RefusalError("reshape", f"{place(op)}: views cut a dimension unevenly")
        axes.append(Axis(size, a.stride, b.stride))
        if a.size > size:
            left.append(Part(a.size // size, a.stride * size))
        if b.size > size:
            right.append(Part(b.size // size, b.stride * size))
    return axes[::-1]
