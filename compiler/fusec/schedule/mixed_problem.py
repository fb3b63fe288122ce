"""What a mixed kernel computes: a contraction on the cube core, the rest on tiles of its result.

In: a region. Out: a `MixedProblem`: the cube half, the vector program of the epilogue, and where
the axes of a tile lie among the program's axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import SSAValue

from fusec.schedule.contraction import Axis, Y
from fusec.schedule.cube_problem import NOTHING, CubeProblem, mixed_problem
from fusec.schedule.epilogue import epilogue_of
from fusec.schedule.expand import expand
from fusec.schedule.program import Program
from fusec.schedule.region import Region, once
from fusec.schedule.types import RefusalError
from fusec.schedule.views import checked, whole


@dataclass(frozen=True)
class Place:
    """An axis of the contraction in the vector program: `step` positions of axis `axis` each."""

    axis: int
    step: int


@dataclass(frozen=True, eq=False)
class MixedProblem:
    """`grid`, `row`, `col`, `n`: where the contraction's axes lie; None for those of size 1."""

    cube: CubeProblem
    program: Program
    grid: tuple[Place | None, ...]
    row: Place | None
    col: Place | None
    n: Place | None

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the program's axes."""
        return self.program.axes.sizes

    def frame(self, tiles: Sequence[int]) -> tuple[int, ...]:
        """The program's axes that a tile extends along."""
        return tuple(axis for axis, tile in enumerate(tiles) if tile > 1)

    def looped(self, tiles: Sequence[int]) -> frozenset[int]:
        """The program's axes of which a tile has only a part."""
        return frozenset(a for a, (n, t) in enumerate(zip(self.sizes, tiles, strict=True)) if t < n)

    def tiles(self, rows: int, columns: int, n: int) -> tuple[int, ...] | None:
        """The tile along the program's axes; None where it is not a box of neighbours."""
        found = [1] * len(self.sizes)
        for place, tile in ((self.row, rows), (self.col, columns), (self.n, n)):
            if place is None or tile == 1:
                continue
            if place.step != 1 or found[place.axis] != 1:
                return None
            found[place.axis] = tile
        return tuple(found)


@once
def problem_of(region: Region, given: frozenset[SSAValue] = NOTHING) -> MixedProblem:
    """The problem of a region; raises RefusalError where it has none. `given` as for
    `cube_problem`."""
    cube = mixed_problem(region, given)
    result = cube.anchor.results[0]
    program = expand(epilogue_of(region, result), resident=result)
    access = checked(whole(result))
    strides = [part.stride for parts in access.dims for part in parts]
    if len(strides) != len(program.axes.sizes):
        raise RefusalError(
            "epilogue-axes", "the epilogue does not run along the axes of the contraction's result"
        )
    if cube.axes.n.size > 1 and cube.axes.n.strides[Y] != 1:
        raise RefusalError("output-stride", "a tile of the result has no rows of neighbours")

    def place(axis: Axis) -> Place | None:
        if axis.size == 1:
            return None
        stride = axis.strides[Y]
        at = next(i for i, step in enumerate(strides) if stride % step == 0 and stride >= step)
        return Place(at, stride // strides[at])

    axes = cube.axes
    return MixedProblem(
        cube,
        program,
        tuple(place(axis) for axis in axes.grid),
        place(axes.row),
        place(axes.col),
        place(axes.n),
    )
