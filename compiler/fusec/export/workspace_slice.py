"""Which lines of an accumulator a load from the workspace reads.

The workspace of a block is the tile of the accumulator, row by row; the load sees it along the axes
of its destination, which may have more axes of size 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    """From line `line` x `factor` and column `column` on (as text), `sizes` lines and columns.

    `shape`: the same without sizes of 1 that the destination has no axis for. `axes`: which axes
    of the destination each of its dimensions becomes.
    """

    line: str
    factor: int
    column: str
    sizes: tuple[int, int]
    shape: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]


class _Axis(NamedTuple):
    """An axis of the destination, as it lies in the workspace."""

    place: int
    size: int
    offset: str
    extent: int
    stride: int | None


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
    axes = [axis for axis in _axes(op, dest, name_of) if axis.extent > 1]
    columns = [axis for axis in axes if axis.stride == 1 and width > 1]
    lines = [axis for axis in axes if axis not in columns]
    rows = prod(axis.size for axis in lines)
    if rows * prod(axis.size for axis in columns) != prod(dest) or not _in_order(
        lines, columns, width
    ):
        raise NotInHivm(op, "a tile is read along other axes than its lines and columns")
    line = lines[0].offset if lines else "0"
    if rows > height or (start is None and line != "0" and height % rows):
        raise NotInHivm(
            op, f"chunks of {rows} lines do not divide the {height} lines of a tile of the product"
        )
    split = columns[0].place if columns else len(dest)
    sizes = (rows, columns[0].size if columns else 1)
    groups = (tuple(range(split)), tuple(range(split, len(dest))))
    return Slice(
        start or line,
        (lines[0].stride or width) // width if lines else 1,
        columns[0].offset if columns else "0",
        sizes,
        tuple(size for size, group in zip(sizes, groups, strict=True) if group),
        tuple(group for group in groups if group),
    )


def line_axis(
    op: LoadOp, accumulator: tuple[int, ...], dest: tuple[int, ...]
) -> tuple[int, int] | None:
    """The axis of the destination that lines run along, outermost, and the lines of a step on it.

    None where it is one line, or does not begin with the first.
    """
    width = accumulator[1]
    axes = [axis for axis in _axes(op, dest, str) if axis.extent > 1]
    lines = [axis for axis in axes if axis.stride != 1 or width == 1]
    if not lines or lines[0].size == 1 or lines[0].offset != "0":
        return None
    return lines[0].place, (lines[0].stride or width) // width


def _axes(op: LoadOp, dest: tuple[int, ...], name_of: Callable[[SSAValue], str]) -> Iterator[_Axis]:
    view = op.source.owner
    source = memref_type(op.source.type)
    outer = memref_type(view.source.type) if isinstance(view, SubviewOp) else None
    if not isinstance(view, SubviewOp) or source is None or outer is None:
        raise NotInHivm(op, "the workspace of all blocks is read at once")
    layout = layout_of(outer)
    kept = kept_axes(selected_by(view, layout), layout_of(source)) or ()
    offsets = _texts(view, name_of)
    for place, (axis, size) in enumerate(zip(kept, dest, strict=True)):
        yield _Axis(place, size, offsets[axis], layout.shape[axis], layout.strides[axis])


def _in_order(lines: list[_Axis], columns: list[_Axis], width: int) -> bool:
    """Whether the axes are lines, outermost first and whole but for the outermost, then columns."""
    stride = width
    for axis in reversed(lines):
        whole = axis.offset == "0" and axis.size == axis.extent
        if axis.stride != stride or not (whole or axis is lines[0]):
            return False
        stride *= axis.extent
    places = [axis.place for axis in (*lines, *columns)]
    return len(columns) < 2 and places == sorted(places)


def _texts(view: SubviewOp, name_of: Callable[[SSAValue], str]) -> Sequence[str]:
    values = iter(view.offsets)
    return [
        name_of(next(values)) if int(offset) == DYNAMIC_INDEX else str(int(offset))
        for offset in view.static_offsets.get_values()
    ]
