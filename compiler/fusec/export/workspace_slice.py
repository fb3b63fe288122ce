"""Which lines of an accumulator a load from the workspace reads.

The workspace of a block is the tile of the accumulator, row by row; the load sees it along the axes
of its destination, which may have more axes of size 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.memref import SubviewOp
from xdsl.ir import SSAValue

from fusec.export.reason import NotInHivm
from fusec.npu.views import kept_axes, layout_of, selected_by
from fusec_dialects.npu.attrs import memref_type
from fusec_dialects.npu.move import LoadOp


@dataclass(frozen=True)
class Slice:
    """From column `column` on, and from the line that `lines` add up to: offsets as text, each
    times a number. `sizes`: how many lines and columns.

    `shape`: the same without sizes of 1 that the destination has no axis for. `axes`: which axes
    of the destination each of its dimensions becomes.
    """

    lines: tuple[tuple[str, int], ...]
    column: str
    sizes: tuple[int, int]
    shape: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]


class _Axis(NamedTuple):
    """An axis of a block's workspace, as the load sees it. `place` and `size`: in the destination,
    None and 1 where the view drops it."""

    place: int | None
    size: int
    offset: str
    extent: int
    stride: int


def workspace_slice(
    op: LoadOp,
    accumulator: tuple[int, ...],
    dest: tuple[int, ...],
    name_of: Callable[[SSAValue], str],
    start: str | None = None,
) -> Slice:
    """`accumulator`, `dest`: their shapes; `start`: the first line of a core's share.

    NotInHivm for what is no run of whole chunks.
    """
    height, width = accumulator
    axes = _axes(op, dest, name_of)
    lines = [axis for axis in axes if axis.stride % width == 0 and axis.place is not None]
    columns = [axis for axis in axes if axis.stride % width and axis.place is not None]
    dropped = [axis for axis in axes if axis.place is None and axis.offset != "0"]
    rows, across = prod(axis.size for axis in lines), prod(axis.size for axis in columns)
    if rows * across != prod(dest) or not _in_order(lines, columns, width):
        raise NotInHivm(op, "a tile is read along other axes than its lines and columns")
    if any(axis.stride % width for axis in dropped) or rows > height:
        raise NotInHivm(op, "a part of the columns of a tile is read")
    terms = [(axis.offset, axis.stride // width) for axis in dropped]
    if lines and (start or lines[0].offset) != "0":
        terms.append((start or lines[0].offset, lines[0].stride // width))
    split = columns[0].place if columns else len(dest)
    groups = (tuple(range(split or 0)), tuple(range(split or 0, len(dest))))
    return Slice(
        tuple(terms),
        columns[0].offset if columns else "0",
        (rows, across),
        tuple(size for size, group in zip((rows, across), groups, strict=True) if group),
        tuple(group for group in groups if group),
    )


def lines_needed(op: LoadOp, accumulator: tuple[int, ...], dest: tuple[int, ...]) -> int:
    """The lines that an accumulator needs so that every chunk, from a multiple of its size on, lies
    inside of it."""
    width = accumulator[1]
    for axis in _axes(op, dest, str):
        if axis.place is not None and axis.stride % width == 0:
            chunks = 1 if axis.offset == "0" else -(-axis.extent // axis.size)
            return chunks * axis.size * (axis.stride // width)
    return 1


def line_axis(op: LoadOp, accumulator: tuple[int, ...], dest: tuple[int, ...]) -> int | None:
    """The axis of the destination that lines run along, outermost.

    None where it is one line, does not begin with the first, or has no room for an even number.
    """
    width = accumulator[1]
    axes = _axes(op, dest, str)
    lines = [axis for axis in axes if axis.stride % width == 0 and axis.place is not None]
    if not lines or lines[0].size == 1 or lines[0].offset != "0":
        return None
    room = 2 * -(-lines[0].size // 2) * (lines[0].stride // width)
    return None if room > accumulator[0] else lines[0].place


def _axes(op: LoadOp, dest: tuple[int, ...], name_of: Callable[[SSAValue], str]) -> list[_Axis]:
    """The axes above size 1 behind the first, which is the blocks'."""
    view = op.source.owner
    source = memref_type(op.source.type)
    outer = memref_type(view.source.type) if isinstance(view, SubviewOp) else None
    if not isinstance(view, SubviewOp) or source is None or outer is None:
        raise NotInHivm(op, "the workspace of all blocks is read at once")
    layout = layout_of(outer)
    kept = kept_axes(selected_by(view, layout), layout_of(source)) or ()
    offsets = _texts(view, name_of)
    found: list[_Axis] = []
    for axis, (extent, stride) in enumerate(zip(layout.shape, layout.strides, strict=True)):
        if axis > 0 and extent > 1 and stride is not None:
            place = kept.index(axis) if axis in kept else None
            size = 1 if place is None else dest[place]
            found.append(_Axis(place, size, offsets[axis], extent, stride))
    return found


def _in_order(lines: list[_Axis], columns: list[_Axis], width: int) -> bool:
    """Whether the axes are lines one behind the other, outermost first, and then columns."""
    stride = width if any(axis.size > 1 for axis in lines) or not lines else lines[-1].stride
    for axis in reversed(lines):
        whole = axis.offset == "0" and axis.size == axis.extent
        if axis.stride != stride or not (whole or axis is lines[0]):
            return False
        stride *= axis.extent
    places = [axis.place or 0 for axis in (*lines, *columns)]
    return len(columns) < 2 and places == sorted(places)


def _texts(view: SubviewOp, name_of: Callable[[SSAValue], str]) -> Sequence[str]:
    values = iter(view.offsets)
    return [
        name_of(next(values)) if int(offset) == DYNAMIC_INDEX else str(int(offset))
        for offset in view.static_offsets.get_values()
    ]
