"""The schedule of a mixed kernel: cube tiles, and the part of a tile that fits ub at a time.

In: a `MixedProblem`. Out: the `MixedSchedule` of least modelled time: the cube half and the two
vector cores behind it work on different tiles at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from math import prod
from typing import ClassVar

from fusec.hw import Target
from fusec.schedule.cube import candidates, too_small
from fusec.schedule.cube_schedule import CubeSchedule, check, round_up, tile_counts
from fusec.schedule.cube_time import cube_work
from fusec.schedule.footprint import Tiles, footprint_of
from fusec.schedule.mixed_problem import MixedProblem
from fusec.schedule.plan import Plan
from fusec.schedule.planner import make_plan
from fusec.schedule.types import Refusal, RefusalError
from fusec.schedule.vector import reduced_axes
from fusec.schedule.vector_time import PlanTime
from fusec.schedule.work import Work, work_us

Shape = tuple[tuple[int, ...], frozenset[int]]


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


@dataclass(eq=False)
class Planner:
    """Plans of one problem by the shape of the tiles; what depends on the target."""

    problem: MixedProblem
    target: Target

    def __post_init__(self) -> None:
        self._plans: dict[Shape, Plan | Refusal] = {}
        self._times: dict[Shape, PlanTime] = {}
        self._cubes: dict[CubeSchedule, Work] = {}
        self.reduced = reduced_axes(self.problem.program)

    def plan(self, tiles: Sequence[int]) -> Plan | Refusal:
        """The plan of tiles, or why there is none."""
        shape = (self.problem.frame(tiles), self.problem.looped(tiles))
        if shape not in self._plans:
            try:
                self._plans[shape] = make_plan(self.problem.program, *shape)
            except RefusalError as error:
                self._plans[shape] = error.refusal
        return self._plans[shape]

    def misfit(self, s: MixedSchedule) -> Refusal | None:
        """Why the vector half of a schedule cannot be built."""
        tiles = vector_tiles(self.problem, s)
        if tiles is None:
            return Refusal("epilogue-tile", "a tile is no box of neighbours of the result")
        cut = self.reduced & self.problem.looped(tiles)
        if cut:
            return Refusal("epilogue-reduction", "a tile has only a part of an axis it reduces")
        plan = self.plan(tiles)
        if isinstance(plan, Refusal):
            return plan
        need = footprint_of(plan, s.copies).bytes(Tiles.of(self.problem.sizes, tiles))
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
        key = CubeSchedule(*(getattr(s, f.name) for f in fields(CubeSchedule)))
        if key not in self._cubes:
            self._cubes[key] = cube_work(self.problem.cube, key, self.target)
        return self._cubes[key]

    def least(self, s: CubeSchedule) -> float:
        """No schedule with this cube half takes less, in µs."""
        cube, target = self.cube(s), self.target
        count = prod(tile_counts(self.problem.cube, s))
        sync = -(-count // s.blocks) * 2 * target.sync.cross_core_cycles
        gm_bytes = cube.gm_bytes + count * s.tile_m * s.n * 4
        return work_us(Work("mixed", cube.cycles + sync, gm_bytes, cube.hbm_bytes), target)

    def work(self, s: MixedSchedule) -> Work:
        """Both halves at once, and the filling of the pipeline by the first tile."""
        problem, target = self.problem, self.target
        cube = self.cube(s)
        tiles = vector_tiles(problem, s) or ()
        plan = self.plan(tiles)
        if isinstance(plan, Refusal):
            raise RefusalError(plan.reason, plan.message, plan.numbers)
        shape = (problem.frame(tiles), problem.looped(tiles))
        time = self._times.get(shape)
        if time is None:
            time = self._times[shape] = PlanTime(plan, problem.sizes, target)
        count = prod(tile_counts(problem.cube, s))
        waves = -(-count // s.blocks)
        cores = s.blocks * target.vector_per_cube
        vector = time.work(Tiles.of(problem.sizes, tiles), cores, s.copies)
        size = s.tile_m * s.n * 4
        load = target.transfer_cost("gm->ub", size // target.vector_per_cube, cores=cores)
        busy = vector.cycles + waves * load
        sync = waves * 2 * target.sync.cross_core_cycles
        cycles = max(cube.cycles, busy) + min(cube.cycles, busy) / waves + sync
        pipes = {**cube.pipes, **{f"vector.{k}": v for k, v in vector.pipes.items()}}
        return Work(
            kind="mixed",
            cycles=cycles,
            gm_bytes=cube.gm_bytes + count * size + vector.gm_bytes,
            hbm_bytes=cube.hbm_bytes + vector.hbm_bytes,
            pipes=pipes,
        )


def schedule_mixed(problem: MixedProblem, target: Target) -> MixedSchedule | Refusal:
    """The candidate of least modelled time, or the reason of the last that failed."""
    planner = Planner(problem, target)
    found: tuple[tuple[float, int], MixedSchedule] | None = None
    refusal: Refusal | None = None
    for cube in candidates(problem.cube, target):
        for number, candidate in enumerate(_chunks(cube)):
            if found is not None and not number and _is_worse(planner, candidate, found[0][0]):
                break
            misfit = check(problem.cube, candidate, target) or planner.misfit(candidate)
            if misfit is not None:
                refusal = misfit
                continue
            us = work_us(planner.work(candidate), target)
            score = (round(us, 2), prod(tile_counts(problem.cube, candidate)))
            if found is None or score < found[0]:
                found = (score, candidate)
            break
    if found is None:
        return refusal or too_small(problem.cube, target)
    return found[1]


def _is_worse(planner: Planner, candidate: MixedSchedule, us: float) -> bool:
    return round(planner.least(candidate), 2) > us


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
