"""The schedule of a mixed kernel: cube tiles, and the part of a tile that fits ub at a time.

In: a `MixedProblem`. Out: the `MixedSchedule` of least modelled time: the cube half and the two
vector cores behind it work on different tiles at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from math import inf, prod
from typing import ClassVar, NamedTuple

from fusec.hw import Target
from fusec.schedule.cube import CubeSearch, fair_tiles, too_small
from fusec.schedule.cube_schedule import CubeSchedule, check, round_up, tile_counts
from fusec.schedule.cube_time import EXACT, Tile
from fusec.schedule.mixed_problem import MixedProblem
from fusec.schedule.plan_tables import Tilings
from fusec.schedule.types import Refusal, RefusalError
from fusec.schedule.vector import reduced_axes
from fusec.schedule.vector_time import Spent
from fusec.schedule.ways import way_of
from fusec.schedule.work import Work, work_us


@dataclass(frozen=True)
class MixedSchedule(CubeSchedule):
    """As a cube schedule; the vector cores take `chunk` lines of a tile at a time (rows where a
    tile has several, columns otherwise), an even number unless it is all."""

    family: ClassVar[str] = "mixed"

    chunk: int = 1

    @property
    def lines(self) -> int:
        """What chunks cut: the rows of a tile if it has several, else its columns."""
        return self.rows if self.rows > 1 else self.m


def vector_tiles(problem: MixedProblem, s: MixedSchedule) -> tuple[int, ...] | None:
    """The part of a tile that is in ub at a time, along the program's axes."""
    if s.rows > 1:
        return problem.tiles(s.chunk, s.m, s.n)
    return problem.tiles(1, s.chunk, s.n)


Order = tuple[int, ...]
"""A candidate's place: its tile, its step in K."""


@dataclass(eq=False)
class Planner:
    """Plans of one problem by the shape of the tiles; what depends on the target."""

    problem: MixedProblem
    target: Target
    given: Tilings | None = None

    def __post_init__(self) -> None:
        self._cubes: dict[tuple[int, ...], Work] = {}
        self.search = CubeSearch(self.problem.cube, self.target)
        self.reduced = reduced_axes(self.problem.program)
        self.tilings = self.given or Tilings(self.problem.program, self.target)

    def misfit(self, s: MixedSchedule) -> Refusal | None:
        """Why the vector half of a schedule cannot be built."""
        tiles = vector_tiles(self.problem, s)
        if tiles is None:
            return Refusal("epilogue-tile", "a tile is no box of neighbours of the result")
        if any(tiles[axis] < self.problem.sizes[axis] for axis in self.reduced):
            return Refusal("epilogue-reduction", "a tile has only a part of an axis it reduces")
        tiling = self.tilings.at(tiles)
        if tiling is None:
            return self.tilings.refusal(tiles)
        need = tiling.need(tiles, s.copies)
        capacity = self.target.capacity("ub")
        if need > capacity:
            return Refusal(
                "capacity",
                f"ub holds {capacity} bytes, the epilogue of {s.chunk} x {s.n} elements needs "
                f"{need}; a smaller chunk or tile needs less",
                {"space": "ub", "capacity": capacity, "need": need},
            )
        return None

    def cube(self, s: CubeSchedule) -> Work:
        """The cube half, which does not depend on how much the vector half takes at once."""
        key = (s.rows, s.m, s.n, s.k, s.l0_k, s.blocks, s.copies)
        if key not in self._cubes:
            self._cubes[key] = self.search.time.work(s)
        return self._cubes[key]

    def least(self, s: CubeSchedule) -> float:
        """No schedule with this cube half takes less, in µs."""
        cube, target = self.cube(s), self.target
        count = prod(tile_counts(self.problem.cube, s))
        sync = -(-count // s.blocks) * 2 * target.sync.cross_core_cycles
        gm_bytes = cube.gm_bytes + count * s.tile_m * s.n * 4
        return work_us(Work("mixed", cube.cycles + sync, gm_bytes, cube.hbm_bytes), target)

    def least_of(self, tile: Tile) -> float:
        """No step in K makes this tile faster, in µs; its lines are even in number."""
        rows, m, n = tile
        even = Tile(round_up(rows, 2), m, n) if rows > 1 else Tile(rows, round_up(m, 2), n)
        blocks, time = self.search.blocks(tile), self.search.time
        count = time.tiles(even)
        cycles, gm_bytes = time.least_spent(even, blocks)
        cycles += -(-count // blocks) * 2 * self.target.sync.cross_core_cycles
        gm_bytes += count * even.rows * even.m * n * 4
        touched = self.problem.cube.operand_bytes
        return work_us(Work("mixed", cycles, gm_bytes, touched), self.target) * EXACT

    def us(self, s: MixedSchedule) -> float:
        """Modelled time; what tiles are compared by."""
        both, target = self._both(s), self.target
        hbm = both.touched / (target.hbm_gbps * 1e3)
        l2 = both.gm_bytes / (target.l2_gbps * 1e3)
        return target.launch_us["mixed"] + max(both.cycles / target.clock_mhz, hbm, l2)

    def work(self, s: MixedSchedule) -> Work:
        """All that the pipes of both cores do."""
        both, cube = self._both(s), self.cube(s)
        vector = {"v": both.vector.v, "mte2": both.vector.mte2, "mte3": both.vector.mte3}
        pipes = {**cube.pipes, **{f"vector.{k}": v for k, v in vector.items()}}
        return Work("mixed", both.cycles, both.gm_bytes, both.touched, pipes)

    def _both(self, s: MixedSchedule) -> _Both:
        """Both halves at once, and the filling of the pipeline by the first tile."""
        problem, target = self.problem, self.target
        cube = self.cube(s)
        tiles = vector_tiles(problem, s) or ()
        tiling = self.tilings.at(tiles)
        if tiling is None:
            refusal = self.tilings.refusal(tiles)
            raise RefusalError(refusal.reason, refusal.message, refusal.numbers)
        count = self.search.time.tiles(Tile(s.rows, s.m, s.n))
        waves = -(-count // s.blocks)
        cores = s.blocks * target.vector_per_cube
        vector = tiling.time.spent(tiles, cores, s.copies)
        size = s.rows * s.m * s.n * 4
        load = way_of(target, "gm->ub", cores).cycles(size // target.vector_per_cube)
        busy = vector.cycles + waves * load
        sync = waves * 2 * target.sync.cross_core_cycles
        cycles = max(cube.cycles, busy) + min(cube.cycles, busy) / waves + sync
        moved = cube.gm_bytes + count * size + vector.moved
        return _Both(cycles, moved, cube.hbm_bytes + tiling.time.touched, vector)


class _Both(NamedTuple):
    """What both cores of a mixed kernel take, and the vector half of it."""

    cycles: float
    gm_bytes: int
    touched: int
    vector: Spent


def schedule_mixed(problem: MixedProblem, target: Target) -> MixedSchedule | Refusal:
    """The candidate of least modelled time, or the reason of the last that failed."""
    return best(Planner(problem, target))


def least_us(planner: Planner) -> float:
    """No schedule takes less: the least of the bounds of all tiles."""
    tiles = (tile for group in planner.search.groups() for tile in group)
    return min(map(planner.least_of, tiles))


def fair_us(planner: Planner) -> float | None:
    """The time of some schedule that fits, found without a search; None where that is not easy."""
    search = planner.search
    for tile in fair_tiles(search):
        for depth in search.steps(tile)[:1]:
            made = with_chunk(planner, CubeSchedule(*tile, *depth), inf)
            if isinstance(made, MixedSchedule):
                return planner.us(made)
    return None


def best(planner: Planner) -> MixedSchedule | Refusal:
    """The candidate of least modelled time, or the reason of the last that failed."""
    problem, target = planner.problem, planner.target
    search = planner.search
    found: MixedSchedule | None = None
    score: tuple[float, int, tuple[int, int]] = (inf, 0, (0, 0))
    failed: tuple[Order, Refusal] | None = None
    for group in search.groups():
        bounds = [(planner.least_of(tile), number) for number, tile in enumerate(group)]
        for least, number in sorted(bounds):
            if round(least, 2) > score[0]:
                break
            for step, depth in enumerate(search.steps(group[number])):
                made = with_chunk(planner, CubeSchedule(*group[number], *depth), score[0])
                if isinstance(made, Refusal):
                    failed = max(failed or ((), made), ((number, step), made), key=_order)
                elif made is not None:
                    us = planner.us(made)
                    tiles = prod(tile_counts(problem.cube, made))
                    mine = (round(us, 2), tiles, (number, step))
                    if mine < score:
                        found, score = made, mine
        if found is not None or failed is not None:
            break
    if found is not None:
        return found
    return too_small(problem.cube, target) if failed is None else failed[1]


def _order(failed: tuple[Order, Refusal]) -> Order:
    return failed[0]


def with_chunk(planner: Planner, cube: CubeSchedule, us: float) -> MixedSchedule | Refusal | None:
    """The schedule with the longest chunk that fits, or why none does; None where it takes longer
    than `us`."""
    refusal: Refusal | None = None
    for candidate in _chunks(cube):
        first = refusal is None
        if first and round(planner.least(candidate), 2) > us:
            return None
        misfit = check(planner.problem.cube, candidate, planner.target)
        refusal = misfit or planner.misfit(candidate)
        if refusal is None:
            return candidate
    return refusal


def _chunks(cube: CubeSchedule) -> Iterator[MixedSchedule]:
    """A tile at once, then in halves. Lines are even in number, for the two vector cores: a tile of
    an odd number gets room for one more."""
    values = {f.name: getattr(cube, f.name) for f in fields(cube)}
    cut = "rows" if cube.rows > 1 else "m"
    values[cut] = round_up(values[cut], 2)
    lines = MixedSchedule(**values).lines
    chunk = lines
    while True:
        yield MixedSchedule(**values, chunk=chunk)
        if chunk <= 2:
            yield MixedSchedule(**values, chunk=1)
            return
        chunk = round_up(-(-chunk // 2), 2)


def check_mixed(problem: MixedProblem, s: MixedSchedule, target: Target) -> Refusal | None:
    """Why a schedule, perhaps written by hand, cannot be built; None if it can."""
    if not 1 <= s.chunk <= s.lines:
        return Refusal("schedule", f"'chunk' is {s.chunk}, expected 1 to {s.lines}")
    return check(problem.cube, s, target) or Planner(problem, target).misfit(s)


def mixed_work(problem: MixedProblem, s: MixedSchedule, target: Target) -> Work:
    """What the busiest cube core and its vector cores do."""
    return Planner(problem, target).work(s)
