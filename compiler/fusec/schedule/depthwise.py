"""The schedule of a depthwise convolution on the vector cores.

In: a `Depthwise`. Out: the `DepthwiseSchedule` of least modelled time whose buffers fit ub, or a
Refusal.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.depthwise_problem import Depthwise, depthwise_problem
from fusec.schedule.depthwise_schedule import (
    DepthwiseSchedule,
    conv_bytes,
    tile_counts,
    vector_tiles,
)
from fusec.schedule.depthwise_time import After, ConvTime
from fusec.schedule.footprint import BLOCK, REPEAT, footprint_of
from fusec.schedule.plan import Action, Plan, Sweep
from fusec.schedule.planner import make_plan
from fusec.schedule.region import Region
from fusec.schedule.types import Refusal, RefusalError, ScheduleError
from fusec.schedule.vector import reduced_axes
from fusec.schedule.vector_time import PlanTime, time_of
from fusec.schedule.work import Work
from fusec_dialects.place import place

FULL = REPEAT // DTYPE_BYTES["f32"]
"""Channels that fill a repeat."""

CAPACITY = "ub-capacity"
"""Why tiles are refused that do not fit ub."""

MOST_ROWS = 16
"""Rows of a tile that are tried."""


def _swept_once(plan: Plan) -> bool:
    """Whether one sweep over the rows of the result is all that reads them."""
    sweeps = [item for item in plan.grid if isinstance(item, Sweep)]
    others = (item for item in plan.grid if isinstance(item, Action))
    return len(sweeps) == 1 and not any(plan.resident in action.sources for action in others)


class Planner:
    """Plans of one problem's epilogue by the shape of the tiles; what depends on the target."""

    def __init__(self, conv: Depthwise, target: Target) -> None:
        self.conv = conv
        self.target = target
        self.time = ConvTime(conv, target)
        self._after: dict[tuple[int, ...], tuple[After, int]] = {}
        self._reduced = reduced_axes(conv.program)
        self._plans: dict[object, Plan | Refusal] = {}
        self._times: dict[object, PlanTime] = {}

    def plan(self, s: DepthwiseSchedule) -> Plan | Refusal:
        """The plan of the epilogue on the rows of a tile, or why there is none."""
        shape = self._shape(s)
        if shape not in self._plans:
            self._plans[shape] = self._make(*shape)
        return self._plans[shape]

    def _shape(self, s: DepthwiseSchedule) -> tuple[tuple[int, ...], frozenset[int]]:
        tiles = vector_tiles(self.conv, s)
        frame = tuple(axis for axis, tile in enumerate(tiles) if tile > 1)
        sizes = enumerate(zip(self.conv.sizes, tiles, strict=True))
        return frame, frozenset(axis for axis, (size, tile) in sizes if tile < size)

    def _make(self, frame: tuple[int, ...], looped: frozenset[int]) -> Plan | Refusal:
        if (self._reduced & looped) - {self.conv.swept}:
            return Refusal(
                "epilogue-reduction",
                f"{place(self.conv.op)}: a tile has only part of an axis that is reduced after it",
            )
        try:
            plan = make_plan(self.conv.program, frame, looped)
        except RefusalError as error:
            return error.refusal
        if self.conv.swept is not None and not _swept_once(plan):
            return Refusal(
                "epilogue-reduction",
                f"{place(self.conv.op)}: what is reduced after it is needed again afterwards; the "
                "rows of the result are computed only once",
            )
        return plan

    def need(self, plan: Plan, s: DepthwiseSchedule, copies: int) -> int:
        """The most bytes of ub that a tile takes, with this many copies of what moves."""
        epilogue = footprint_of(plan, copies).need(self.conv.sizes, vector_tiles(self.conv, s))
        return conv_bytes(self.conv, s, copies) + epilogue

    def misfit(self, s: DepthwiseSchedule, copies: int) -> Refusal | None:
        """Why tiles with this many copies of what moves cannot be built."""
        plan = self.plan(s)
        if isinstance(plan, Refusal):
            return plan
        need, capacity = self.need(plan, s, copies), self.target.capacity("ub")
        if need <= capacity:
            return None
        return Refusal(
            CAPACITY,
            f"{place(self.conv.op)}: a tile of {s.rows} x {s.columns} outputs and {s.channels} "
            f"channels takes {need} bytes of ub, {self.target.name} has {capacity}",
            {"need": need, "capacity": capacity},
        )

    def least(self, s: DepthwiseSchedule) -> float:
        """The convolution alone, in µs: whatever follows it, a tile takes no less."""
        return self.time.score(s, NOTHING, 0)[0]

    def work(self, s: DepthwiseSchedule) -> Work:
        """What the pipes of the busiest core do; raises RefusalError where there is no plan."""
        after = self._epilogue(s).work(vector_tiles(self.conv, s), s.blocks, s.copies)
        return self.time.work(s, after)

    def score(self, s: DepthwiseSchedule) -> tuple[float, int, int]:
        """What tiles are compared by: µs, hundreds of cycles, tiles. RefusalError as of `work`."""
        key = (s.columns, s.channels, s.blocks, s.copies)
        found = self._after.get(key)
        if found is None:
            epilogue = self._epilogue(s)
            spent = epilogue.spent(vector_tiles(self.conv, s), s.blocks, s.copies)
            after = After(spent.v, spent.mte2, spent.mte3, spent.moved)
            found = self._after[key] = after, epilogue.touched
        us, cycles = self.time.score(s, *found)
        return round(us, 1), round(cycles / 100), self.time.count(s)

    def _epilogue(self, s: DepthwiseSchedule) -> PlanTime:
        plan = self.plan(s)
        if isinstance(plan, Refusal):
            raise RefusalError(plan.reason, plan.message, plan.numbers)
        shape = self._shape(s)
        time = self._times.get(shape)
        if time is None:
            time = self._times[shape] = time_of(plan, self.conv.sizes, self.target)
        return time


NOTHING = After()
"""An epilogue that does not exist."""


def schedule_depthwise(region: Region, target: Target) -> DepthwiseSchedule | Refusal:
    """The tile of least modelled time, the largest of equals, or why there is none."""
    try:
        conv = depthwise_problem(region)
    except RefusalError as error:
        return error.refusal
    planner = Planner(conv, target)
    refusal: Refusal | None = None
    for copies in (2, 1):
        found: tuple[tuple[float, int, int], DepthwiseSchedule] | None = None
        for candidate in depthwise_candidates(conv, target, copies):
            if found is not None and round(planner.least(candidate), 1) > found[0][0]:
                continue
            misfit = planner.misfit(candidate, copies)
            if misfit is not None:
                if refusal is None or misfit.reason == CAPACITY:
                    refusal = misfit
                continue
            score = planner.score(candidate)
            if found is None or score < found[0]:
                found = (score, candidate)
        if found is not None:
            return found[1]
    return refusal or Refusal(CAPACITY, f"{place(conv.op)}: no tile fits {target.name}")


def depthwise_candidates(
    conv: Depthwise, target: Target, copies: int
) -> Iterator[DepthwiseSchedule]:
    cores = target.cores("vector")
    limit = min(conv.near.output, MOST_ROWS) if conv.joins_rows else 1
    for channels in _channel_tiles(conv.channels):
        for columns in _parts(conv.last.output, conv.last.output):
            for rows in _parts(conv.near.output, limit):
                draft = DepthwiseSchedule(rows, columns, channels, 1, copies)
                blocks = min(cores, prod(tile_counts(conv, draft)))
                yield DepthwiseSchedule(rows, columns, channels, blocks, copies)


def _parts(size: int, limit: int) -> list[int]:
    """Tiles of at most `limit` that cut `size` into nearly equal parts, the longest first."""
    least = -(-size // limit)
    counts = {least, *range(1, 9), *(1 << i for i in range(4, size.bit_length()))}
    counts |= {-(-size // tile) for tile in (1, 2, 3)}
    return sorted({-(-size // n) for n in counts if n >= least}, reverse=True)


def _channel_tiles(channels: int) -> Iterator[int]:
    """All channels, then parts in whole repeats, then in whole blocks."""
    yield channels
    found = channels
    for parts in range(2, -(-channels // FULL) + 1):
        tile = -(-channels // (parts * FULL)) * FULL
        if tile < found:
            yield tile
            found = tile
    least = BLOCK // 2
    while found > least:
        found = -(-found // (2 * least)) * least
        yield found


def depthwise_work(conv: Depthwise, s: DepthwiseSchedule, target: Target) -> Work:
    """What the pipes of the busiest core do."""
    return Planner(conv, target).work(s)


def check_depthwise(region: Region, s: DepthwiseSchedule, target: Target) -> Refusal | None:
    """Why a schedule, perhaps written by hand, is not one of this region; None if it is."""
    try:
        conv = depthwise_problem(region)
        _check(conv, s)
    except RefusalError as error:
        return error.refusal
    except ScheduleError as error:
        return Refusal("schedule", str(error))
    return Planner(conv, target).misfit(s, 1)


def _check(conv: Depthwise, s: DepthwiseSchedule) -> None:
    limits = {
        "rows": conv.near.output if conv.joins_rows else 1,
        "columns": conv.last.output,
        "channels": conv.channels,
    }
    for name, limit in limits.items():
        if not 1 <= getattr(s, name) <= limit:
            raise ScheduleError(f"'{name}' is {getattr(s, name)}, expected 1 to {limit}")
    tiles = prod(tile_counts(conv, s))
    if s.copies < 1 or not 1 <= s.blocks <= tiles:
        raise ScheduleError(
            f"{s.blocks} blocks, {s.copies} copies for {tiles} tiles: at least 1 of each, and no "
            "more blocks than tiles"
        )
