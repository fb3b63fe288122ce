"""A vector program on rows that lie in a workspace: the softmax of attention, or what follows it.

In: the region of the program, and the value whose rows the cube core has made. Out: `Lines`: the
program, which loads them in f32, and where the axes of tiles lie among its axes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import SSAValue

from fusec.schedule.axes import find_axes
from fusec.schedule.contraction import Axis
from fusec.schedule.expand import Expander, Form
from fusec.schedule.mixed_problem import Place
from fusec.schedule.ports import Port
from fusec.schedule.program import Program
from fusec.schedule.region import Region
from fusec.schedule.types import RefusalError
from fusec.schedule.views import checked, whole


@dataclass(frozen=True, eq=False)
class Lines:
    """`source`: where rows of `length` elements are loaded from. `rows`: where the axes outside of
    a row lie in the program, by their strides in the scores; `row`: that of the axis along which a
    tile has several rows, 0 for none."""

    program: Program
    source: Port
    rows: dict[int, Place]
    row: int
    length: int

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the program's axes."""
        return self.program.axes.sizes

    @cached_property
    def along(self) -> tuple[int, ...]:
        """The program's axes that a row runs along, outermost first."""
        across = {where.axis for where in self.rows.values()}
        strides = self.source.strides
        return tuple(a for a in sorted(strides, key=lambda a: -strides[a]) if a not in across)

    @cached_property
    def row_axis(self) -> int | None:
        """The program's axis along which the rows of a tile follow each other."""
        return self.rows[self.row].axis if self.row else None

    def tiles(self, rows: int, columns: int) -> tuple[int, ...]:
        """Tile sizes along the program's axes: so many rows, so many columns of each."""
        found = [1] * len(self.sizes)
        for axis in self.along:
            found[axis] = self.sizes[axis]
        if columns < self.length:
            found[self.along[0]] = columns
        if self.row_axis is not None:
            found[self.row_axis] = rows
        return tuple(found)


def program_on(region: Region, value: SSAValue) -> tuple[Port, Program]:
    """The program of a region whose operand `value` lies in a workspace, and where it loads it."""
    axes = find_axes(region, value)
    strides: dict[int, int] = {}
    for ids, parts in zip(axes.dims[value], checked(whole(value)).dims, strict=True):
        step = parts[0].stride if parts else 1
        for axis in reversed(ids):
            strides[axis] = step
            step *= axes.sizes[axis]
    source = Port(value, value, 0, strides)
    expander = Expander(region, axes)
    loaded = expander.program.step("load", "f32", axes.of(value), (), port=source)
    expander.forms[value] = Form(wide=loaded)
    return source, expander.expand(None)


def lines_of(
    program: Program,
    source: Port,
    axes: Iterable[Axis],
    operands: tuple[int, int],
    row: Axis,
    length: int,
) -> Lines:
    """`axes`: those outside of a row. `operands`: by the strides of which one they are called, and
    by those of which they lie in the source."""
    name, lie = operands
    rows = {a.strides[name]: _place(a.size, a.strides[lie], source, program) for a in axes}
    return Lines(program, source, rows, row.strides[name] if row.size > 1 else 0, length)


def _place(size: int, stride: int, source: Port, program: Program) -> Place:
    """The program's axis that holds an axis of the source, with so many positions a step."""
    for at, step in source.strides.items():
        if stride % step == 0 and stride * size <= step * program.axes.sizes[at]:
            return Place(at, stride // step)
    raise RefusalError("epilogue-axes", "a vector program does not run along the axes of its rows")
