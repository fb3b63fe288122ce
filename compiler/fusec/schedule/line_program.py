"""A vector program on lines of matrices that the cube core reads or wrote.

In: a region, the matrices in it, and the axes of a contraction. Out: a `LineProgram`: the program
and where the lines lie among its axes. Matrices are handed over through workspaces, line by line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import SSAValue

from fusec.schedule.contraction import Axis, Contraction
from fusec.schedule.expand import expand
from fusec.schedule.mixed_problem import Place
from fusec.schedule.ports import Port
from fusec.schedule.program import Program
from fusec.schedule.region import Region
from fusec.schedule.types import RefusalError
from fusec.schedule.vector import reduced_axes


@dataclass(frozen=True, eq=False)
class LineProgram:
    """What computes a matrix, its first output, or, if it `reads`, what follows some.

    `depths`: elements of a line, by matrix. `grid`, `row`, `col`: where the axes of the contraction
    lie in the program. A line is `step` positions of axis `line` (None where there is one line
    only) and all of the axes further in. `column`: the axis of the columns, where all matrices have
    the same ones and tiles may have a part of them; else a tile has whole lines.
    """

    program: Program
    depths: Mapping[SSAValue, int]
    reads: bool
    grid: tuple[Place | None, ...]
    row: Place | None
    col: Place | None
    line: int | None
    step: int
    column: int | None = None

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the program's axes."""
        return self.program.axes.sizes

    def matrix(self, port: Port) -> int | None:
        """Which matrix a port is, in the order of `depths`; None for what lies in gm."""
        if not self.reads:
            return 0 if port.output == 0 else None
        if port.output is not None or port.root not in self.depths:
            return None
        return list(self.depths).index(port.root)

    @cached_property
    def runs_on(self) -> bool:
        """Whether the lines of a row go on in the next row, along one axis."""
        if self.row is None or self.col is None:
            return True
        return self.row.axis == self.col.axis

    @cached_property
    def across(self) -> bool:
        """Whether something is reduced from line to line, so that a tile has all of them."""
        return self.line is not None and self.line in reduced_axes(self.program)

    def tiles(self, lines: int, columns: int) -> tuple[int, ...]:
        """A tile along the program's axes: of whole lines, or of `columns` where it may have a
        part. Other axes of lines have size 1."""
        placed = {place.axis for place in (*self.grid, self.row, self.col) if place is not None}
        found = [1 if axis in placed else size for axis, size in enumerate(self.sizes)]
        if self.line is not None:
            found[self.line] = min(lines * self.step, self.sizes[self.line])
        if self.column is not None:
            found[self.column] = min(columns, found[self.column])
        return tuple(found)


def line_program(
    part: Region,
    depths: Mapping[SSAValue, int],
    axes: Contraction,
    operand: int,
    *,
    reads: bool,
) -> LineProgram:
    """`part`: the operators of the program. `depths`: the length of a line of each matrix.
    `operand`: whose strides in `axes` are those of the first. RefusalError where the program does
    not run along lines."""
    program = expand(part, lines=tuple(depths.items()) if reads else ())
    known = program.axes
    if any(port.picked is not None for port in known.loads.values()):
        raise refused("rows that an index picks are loaded one by one")
    ports = [p for p in known.loads.values() if p.root in depths] if reads else [known.stores[0]]
    first, *_ = depths
    lead = next((port for port in ports if port.root is first or not reads), None)
    if lead is None:
        raise refused("nothing follows one of the products")
    place = _Places(operand, lead.strides, known.sizes)
    grid = tuple(place(axis) for axis in axes.grid)
    row, col = place(axes.row), place(axes.col)
    line = col or row
    inner = axes.col if col is not None else axes.row
    if line is not None and inner.strides[operand] != depths[first]:
        raise refused("its lines lie apart")
    steps: dict[int, int] = {}
    for each in (*grid, row, col):
        if each is not None:
            steps[each.axis] = min(each.step, steps.get(each.axis, each.step))
    lines = {axis: (lead.strides[axis], depths[first]) for axis in steps}
    for port in ports:
        _check_lines(port, lines, steps, known.sizes, depths[port.root if reads else first])
    found = LineProgram(
        program,
        depths,
        reads,
        grid,
        row,
        col,
        None if line is None else line.axis,
        1 if line is None else line.step,
        _column(ports, steps, depths, program) if reads else None,
    )
    _check_results(found)
    return found


def _check_results(found: LineProgram) -> None:
    """RefusalError for a result that several blocks, or several tiles, would store."""
    placed = {place.axis for place in (*found.grid, found.row, found.col) if place is not None}
    shared = placed - ({found.line} if found.across else set()) - reduced_axes(found.program)
    if found.column is not None:
        shared.add(found.column)
    for port in found.program.axes.stores:
        if not shared <= port.strides.keys():
            raise RefusalError(
                "results-apart",
                "a result does not vary along the lines of the product, so that several cores "
                "would store it; compute it in a kernel of its own",
            )


def _column(
    ports: Sequence[Port],
    lines: Mapping[int, int],
    depths: Mapping[SSAValue, int],
    program: Program,
) -> int | None:
    """The axis of the columns of all matrices, where tiles may have a part of it."""
    inner = {axis for port in ports for axis in port.strides if axis not in lines}
    if len(inner) != 1 or len(set(depths.values())) > 1:
        return None
    (axis,) = inner
    whole = program.axes.sizes[axis] == next(iter(depths.values()))
    return axis if whole and axis not in reduced_axes(program) else None


def _check_lines(
    port: Port,
    lines: Mapping[int, tuple[int, int]],
    steps: Mapping[int, int],
    sizes: Sequence[int],
    depth: int,
) -> None:
    """RefusalError where a port of a matrix has lines of its own, or runs over several. `lines`:
    the strides of their axes in the first one, and its depth; `steps`: of these axes, the fewest
    positions from one line to the next."""
    last = port.offset
    for axis, stride in port.strides.items():
        last += (steps.get(axis, sizes[axis]) - 1) * stride
    alike = all(port.strides.get(a) == s // d * depth for a, (s, d) in lines.items() if s >= d)
    same = all(port.strides.get(a) == s for a, (s, d) in lines.items() if s < d)
    if last >= depth or not alike or not same:
        raise refused("a part of it has lines of its own")


@dataclass(frozen=True)
class _Places:
    """Where axes of the contraction lie among axes with strides in the same matrix."""

    operand: int
    strides: Mapping[int, int]
    sizes: tuple[int, ...]

    def __call__(self, axis: Axis) -> Place | None:
        stride = axis.strides[self.operand]
        if axis.size == 1 or stride == 0:
            return None
        for at, step in self.strides.items():
            times = stride // step
            if stride % step == 0 and times * axis.size <= self.sizes[at]:
                return Place(at, times)
        raise refused("its axes are others than those of the product")


def refused(why: str) -> RefusalError:
    """A matrix that cannot be handed over between the cores."""
    return RefusalError(
        "operand-computed",
        "the vector core and the contraction of the group hand over a matrix row by row, which "
        f"cannot be done here: {why}; compute it in a kernel of its own",
    )
