"""Schedules of vector kernels: tiles along the axes of a region, blocks, copies of moving buffers.

In: a region of elementwise operators, reductions and norms. Out: the `VectorSchedule` of least
modelled time among tiles that fit ub, or a Refusal. The emitter does what the schedule says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import ClassVar, NamedTuple, TypeAlias

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.expand import expand
from fusec.schedule.footprint import BLOCK, REPEAT, Footprint, Tiles
from fusec.schedule.plan import Plan
from fusec.schedule.plan_tables import Tiling, Tilings
from fusec.schedule.planner import make_plan
from fusec.schedule.program import Program
from fusec.schedule.region import Region
from fusec.schedule.slots import Slots, frames, slots_of
from fusec.schedule.types import Refusal, RefusalError, Schedule, ScheduleError
from fusec.schedule.work import Work

NEAR = 100
"""Cycles by which two tilings may differ before the one with fewer tiles is worse."""

GOOD_RUN = 512
"""Bytes of gm that a move should take at a time (see hw: alignment of gm)."""


@dataclass(frozen=True)
class VectorSchedule(Schedule):
    """`axes`: sizes of the region's axes, outermost first, as the compiler finds them; `tiles`: how
    much of each a tile takes. A tile shorter than an axis that is reduced makes sweeps over it."""

    family: ClassVar[str] = "vector"

    axes: tuple[int, ...]
    tiles: tuple[int, ...]
    blocks: int
    copies: int = 2

    @property
    def frame(self) -> tuple[int, ...]:
        """The axes that tiles extend along."""
        return tuple(i for i, tile in enumerate(self.tiles) if tile > 1)

    @property
    def looped(self) -> frozenset[int]:
        """The axes with several tiles."""
        return frozenset(i for i, n in enumerate(self.axes) if self.tiles[i] < n)


def reduced_axes(program: Program) -> frozenset[int]:
    """The axes that some step reduces."""
    return frozenset(a for s in program.steps if s.kind == "vreduce" for a in s.axes)


def grid_axes(program: Program, schedule: VectorSchedule) -> tuple[int, ...]:
    """The axes whose tiles are shared among blocks, outermost first."""
    return tuple(sorted(schedule.looped - reduced_axes(program)))


def tile_count(program: Program, schedule: VectorSchedule) -> int:
    """How many tiles the blocks share."""
    return prod(-(-schedule.axes[a] // schedule.tiles[a]) for a in grid_axes(program, schedule))


def plan_of(program: Program, schedule: VectorSchedule) -> Plan:
    """The plan of a scheduled program; RefusalError where tiles make none."""
    return make_plan(program, schedule.frame, schedule.looped)


def check(program: Program, schedule: VectorSchedule, target: Target) -> None:
    """ScheduleError unless the schedule, perhaps written by hand, is one of this program;
    RefusalError where it does not fit ub."""
    sizes = program.axes.sizes
    if schedule.axes != sizes:
        raise ScheduleError(f"the region has axes {list(sizes)}, not {list(schedule.axes)}")
    if len(schedule.tiles) != len(sizes) or not all(
        1 <= tile <= size for tile, size in zip(schedule.tiles, sizes, strict=False)
    ):
        raise ScheduleError(
            f"tiles {list(schedule.tiles)}: give one for each of the axes {list(sizes)}, "
            "at least 1 and no longer than the axis"
        )
    if schedule.copies < 1:
        raise ScheduleError(f"copies is {schedule.copies}, at least 1 is needed")
    tiles = tile_count(program, schedule)
    if not 1 <= schedule.blocks <= tiles:
        raise ScheduleError(f"{schedule.blocks} blocks for {tiles} tiles; use 1 to {tiles}")
    try:
        plan = plan_of(program, schedule)
    except RefusalError as error:
        raise ScheduleError(str(error.refusal)) from error
    need = Footprint(plan, 1).bytes(Tiles.of(sizes, schedule.tiles))
    if need > target.capacity("ub"):
        raise RefusalError(
            "ub-capacity",
            f"tiles {list(schedule.tiles)} need {need} bytes of ub, {target.name} has "
            f"{target.capacity('ub')}; make them shorter",
            {"need": need, "capacity": target.capacity("ub")},
        )


def schedule_vector(region: Region, target: Target) -> VectorSchedule | Refusal:
    """The schedule of a region, or why there is none."""
    try:
        return schedule_program(expand(region), target)
    except RefusalError as error:
        return error.refusal


def vector_work(program: Program, schedule: VectorSchedule, target: Target) -> Work:
    """What the pipes of the busiest core do."""
    tiling = Tilings(program, target).at(schedule.tiles)
    if tiling is None:
        plan_of(program, schedule)
        raise ValueError("tiles with a plan and without one")
    return tiling.time.work(schedule.tiles, schedule.blocks, schedule.copies)


def schedule_program(program: Program, target: Target) -> VectorSchedule:
    """The schedule of least modelled time; RefusalError where no tile fits."""
    return VectorSearch(program, target).best().schedule


_Candidate: TypeAlias = tuple[Tiling, tuple[int, ...], int, int]
"""Tiles with their plan, blocks, copies."""


class Found(NamedTuple):
    """The best tiles of a search, and what they take."""

    schedule: VectorSchedule
    work: Work


class VectorSearch:
    """The tiles of one program that are worth a look."""

    def __init__(self, program: Program, target: Target, tilings: Tilings | None = None) -> None:
        """`tilings`: those of other sizes than the program's own."""
        self.program = program
        self.target = target
        self.tilings = tilings or Tilings(program, target)
        self.sizes = self.tilings.sizes
        self.reduced = reduced_axes(program)
        self.capacity = target.capacity("ub")
        self.cores = target.cores("vector")
        self.width = min((DTYPE_BYTES[v.dtype] for v in program.vals), default=4)
        self.block = BLOCK // self.width
        self.run = GOOD_RUN // self.width

    def best(self) -> Found:
        """The tiles of least modelled time; RefusalError where none fit."""
        found: tuple[tuple[float, int, int], _Candidate, float] | None = None
        for copies in (2, 1):
            for tiles, _ in self.candidates(copies):
                scored = self.score(tiles, copies)
                if scored is not None and (found is None or scored[0] < found[0]):
                    found = scored
            if found is not None and not self._sweeps(found[1][1]):
                break
        if found is not None:
            tiling, tiles, blocks, copies = found[1]
            work = tiling.time.work(tiles, blocks, copies)
            return Found(VectorSchedule(self.sizes, tiles, blocks, copies), work)
        refusal = self._misfit()
        raise RefusalError(refusal.reason, refusal.message, refusal.numbers)

    def candidates(self, copies: int = 2) -> Iterator[tuple[tuple[int, ...], int]]:
        """All tiles that fit and are worth a look, with the copies."""
        for frame in self._frames():
            for tiles in self._tiles(frame, copies):
                yield tiles, copies

    def least_us(self) -> float:
        """No tiles take less: a launch, and all ports once through HBM."""
        launch, touched = self.target.launch_us["vector"], self.tilings.touched()
        return max(launch + touched / (self.target.hbm_gbps * 1e3), self.target.floor_us["vector"])

    def fair_us(self) -> float | None:
        """The time of some tiles that fit, found without a search: whole rows, so many that every
        core has a share. None where such tiles do not fit."""
        frame = next(iter(self._frames()))
        if len(slots_of(frame, self.program.axes.spaces)) < len(frame):
            return None
        tiles = [1] * len(self.sizes)
        for axis in frame[1:]:
            tiles[axis] = self.sizes[axis]
        if frame:
            others = prod(n for axis, n in enumerate(self.sizes) if axis not in frame)
            size, parts = self.sizes[frame[0]], max(1, self.cores // others)
            whole = -(-size // parts)
            tiles[frame[0]] = min(size, self._rounded(whole)) if len(frame) == 1 else whole
        while frame and not self._fits(tiles, 2):
            if tiles[frame[0]] < 2 or frame[0] in self.reduced:
                return None
            tiles[frame[0]] //= 2
        scored = self.score(tuple(tiles), 2)
        if scored is None:
            return None
        return scored[2]

    def _sweeps(self, tiles: Sequence[int]) -> bool:
        return any(tiles[axis] < self.sizes[axis] for axis in self.reduced)

    def _misfit(self) -> Refusal:
        """Why the last tiles that were tried do not do."""
        if self.tilings.unfit is None:
            return Refusal("capacity", "no tile fits ub")
        tiles, need = self.tilings.unfit
        if need is None:
            return self.tilings.refusal(tiles)
        return Refusal(
            "ub-capacity",
            f"tiles {list(tiles)} of axes {list(self.sizes)} need {need} bytes of ub, "
            f"{self.target.name} has {self.capacity}",
            {"need": need, "capacity": self.capacity},
        )

    def _frames(self) -> Iterator[tuple[int, ...]]:
        """Axes that tiles may extend along: the innermost with one more and all that never occur
        together with one of them; with two more where nothing is reduced, or where the innermost
        is so short that rows of it alone fill no instruction."""
        count = len(self.sizes)
        if count < 2:
            yield tuple(range(count))
            return
        yield from frames(count, self.program.axes.spaces)
        if count > 2 and not self.reduced:
            yield (count - 3, count - 2, count - 1)
        elif self.sizes[-1] < REPEAT // self.width:
            for outer in combinations(range(count - 1), 2):
                yield (*outer, count - 1)

    def _fits(self, tiles: Sequence[int], copies: int) -> bool:
        """Whether tiles need no more than ub; remembers the last that did not."""
        tiling = self.tilings.at(tiles)
        if tiling is None:
            return False
        need = tiling.need(tiles, copies)
        if need > self.capacity:
            self.tilings.unfit = tuple(tiles), need
        return need <= self.capacity

    def _longest(self, tiles: Sequence[int], axis: int, copies: int) -> int:
        """The longest tile of an axis that fits beside the other tiles; 0 if none does."""
        trial = list(tiles)

        def fits(length: int) -> bool:
            trial[axis] = length
            return self._fits(trial, copies)

        if fits(self.sizes[axis]):
            return self.sizes[axis]
        low, high = 0, self.sizes[axis]
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def _tiles(self, frame: tuple[int, ...], copies: int) -> Iterator[tuple[int, ...]]:
        """Tiles along a frame that fit, worth a look: every width with every length beside it."""
        tiles = [1] * len(self.sizes)
        if not frame:
            yield tuple(tiles)
            return
        slots = slots_of(frame, self.program.axes.spaces)
        if len(slots) == 2 < len(frame):
            yield from self._shared(slots, copies)
            return
        for axis in frame[1:-1]:
            tiles[axis] = self.sizes[axis]
        first, last = frame[0], frame[-1]
        widths = [1] if first == last else self._widths(last)
        for width in widths:
            tiles[last] = width
            for length in self._lengths(tiles, first, copies):
                yield tuple(length if a == first else tile for a, tile in enumerate(tiles))

    def _shared(self, slots: Slots, copies: int) -> Iterator[tuple[int, ...]]:
        """Tiles where axes share dimensions: rows as wide as they fit, then each outer axis in turn
        beside the longest of the others."""
        rows, (*others, last) = slots
        for width in self._widths(last):
            tiles = [1] * len(self.sizes)
            tiles[last] = width
            for axis in others:
                tiles[axis] = max(1, self._longest(tiles, axis, copies))
            for first in rows:
                trial = list(tiles)
                for axis in rows:
                    if axis != first:
                        trial[axis] = max(1, self._longest(trial, axis, copies))
                for length in self._lengths(trial, first, copies):
                    yield tuple(length if a == first else tile for a, tile in enumerate(trial))

    def _widths(self, axis: int) -> Iterator[int]:
        """The innermost axis whole, and in halves of good runs of gm, or of blocks below that."""
        size = width = self.sizes[axis]
        yield size
        while width > 2 * self.block:
            each = self.run if width > self.run else self.block
            width = -(-width // (2 * each)) * each
            if width < size:
                yield width

    def _lengths(self, tiles: Sequence[int], axis: int, copies: int) -> list[int]:
        """Tile lengths of an axis that fit: the longest, and those that share the tiles evenly
        among the cores."""
        size = self.sizes[axis]
        longest = self._longest(tiles, axis, copies)
        if longest == 0:
            return []
        if axis in self.reduced:
            return [longest]
        fewest = -(-size // longest)
        others = prod(
            -(-n // t)
            for a, (n, t) in enumerate(zip(self.sizes, tiles, strict=True))
            if a != axis and a not in self.reduced
        )
        cores = self.target.cores("vector")
        even = {max(1, waves * cores // others) for waves in range(1, 5)}
        whole = {n for n in range(fewest, min(size, fewest + 8) + 1) if size % n == 0}
        counts = {n for n in (fewest, *even, *whole) if fewest <= n <= size}
        innermost = axis == len(self.sizes) - 1
        lengths = {self._rounded(-(-size // n)) if innermost else -(-size // n) for n in counts}
        return sorted({min(length, longest) for length in lengths}, reverse=True)

    def _rounded(self, length: int) -> int:
        """An innermost tile up to whole runs of gm, or whole blocks where it is shorter."""
        each = self.run if length > self.run else self.block
        return -(-length // each) * each

    def score(
        self, tiles: tuple[int, ...], copies: int
    ) -> tuple[tuple[float, int, int], _Candidate, float] | None:
        """What tiles are compared by, and their µs; None where no plan has their shape."""
        tiling = self.tilings.at(tiles)
        if tiling is None:
            return None
        count = 1
        for axis in tiling.shape[1]:
            if axis not in self.reduced:
                count *= -(-self.sizes[axis] // tiles[axis])
        blocks = min(self.cores, count)
        us, cycles = tiling.time.score(tiles, blocks, copies)
        return (round(us, 1), round(cycles / NEAR), count), (tiling, tiles, blocks, copies), us
