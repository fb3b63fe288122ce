"""The schedule of a depthwise convolution on the vector cores.

In: a `Depthwise`. Out: the `DepthwiseSchedule` of least modelled time whose buffers fit ub, or a
Refusal. A tile is some rows of the output, part of their columns, part of the channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.depthwise_problem import Depthwise, depthwise_problem, spread
from fusec.schedule.footprint import BLOCK, REPEAT, Footprint, Tiles, padded
from fusec.schedule.plan import Action, Plan, Sweep
from fusec.schedule.planner import make_plan
from fusec.schedule.region import Region
from fusec.schedule.types import Refusal, RefusalError, Schedule, ScheduleError
from fusec.schedule.vector import reduced_axes
from fusec.schedule.vector_time import PlanTime
from fusec.schedule.work import Work, estimate_of
from fusec_dialects.place import place

PRODUCTS = 7
"""At most so many products, each of a kernel position, are alive at once: with the accumulator they
are added in pairs, so that an addition seldom waits for the one before it."""

FULL = REPEAT // DTYPE_BYTES["f32"]
"""Channels that fill a repeat."""

CAPACITY = "ub-capacity"
"""Why tiles are refused that do not fit ub."""

MOST_ROWS = 16
"""Rows of a tile that are tried."""


@dataclass(frozen=True)
class DepthwiseSchedule(Schedule):
    """A tile is `rows` outputs along the axis before the last, `columns` along the last, with
    `channels` channels. Its rows are computed one by one from input rows that are loaded once.

    Where the rows are reduced after the convolution, a tile has all rows, `rows` at a time."""

    family: ClassVar[str] = "depthwise"

    rows: int
    columns: int
    channels: int
    blocks: int
    copies: int = 2


def tile_counts(conv: Depthwise, s: DepthwiseSchedule) -> tuple[int, ...]:
    """Tiles along batch, spatial axes, channels."""
    return (
        conv.batch,
        *(axis.output for axis in conv.far),
        1 if conv.swept is not None else -(-conv.near.output // s.rows),
        -(-conv.last.output // s.columns),
        -(-conv.channels // s.channels),
    )


def input_rows(conv: Depthwise, s: DepthwiseSchedule) -> int:
    """Input rows of a tile: one for each kernel position, or a run of rows for several outputs."""
    near = conv.near
    return near.inputs_of(s.rows) if s.rows > 1 else min(near.kernel, near.size)


def vector_tiles(conv: Depthwise, s: DepthwiseSchedule) -> tuple[int, ...]:
    """What is in ub at a time of the result, along the program's axes: a row of a tile."""
    tiles = [1] * len(conv.sizes)
    for axis, tile in zip(conv.places[-2:], (s.columns, s.channels), strict=True):
        if axis is not None:
            tiles[axis] = tile
    return tuple(tiles)


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
        tiles = Tiles.of(self.conv.sizes, vector_tiles(self.conv, s))
        return _conv_bytes(self.conv, s, copies) + Footprint(plan, copies).bytes(tiles)

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

    def work(self, s: DepthwiseSchedule) -> Work:
        """What the pipes of the busiest core do; raises RefusalError where there is no plan."""
        plan = self.plan(s)
        if isinstance(plan, Refusal):
            raise RefusalError(plan.reason, plan.message, plan.numbers)
        shape = self._shape(s)
        time = self._times.get(shape)
        if time is None:
            time = self._times[shape] = PlanTime(plan, self.conv.sizes, self.target)
        tiles = Tiles.of(self.conv.sizes, vector_tiles(self.conv, s))
        after = time.work(tiles, s.blocks, s.copies)
        return _joined(self.conv, s, self.target, after)


def products(conv: Depthwise) -> int:
    """Kernel positions along a row that are done at once."""
    return min(conv.last.kernel, PRODUCTS)


def _conv_bytes(conv: Depthwise, s: DepthwiseSchedule, copies: int) -> int:
    """Bytes of ub beside the epilogue: input rows and filters, their f32 forms, products."""
    width = {dtype: padded(s.channels, dtype) * DTYPE_BYTES[dtype] for dtype in ("f32", conv.dtype)}
    rows, inputs = input_rows(conv, s), spread(conv.last, s.columns)
    filters = conv.taps + (conv.bias is not None)
    kept = copies if s.channels < conv.channels else 1
    if conv.dtype == "f32":
        total = (copies * rows * inputs + kept * filters) * width["f32"]
    else:
        loaded = rows * conv.last.inputs_of(s.columns)
        total = (copies * loaded + kept * filters) * width[conv.dtype]
        total += (rows * inputs + filters) * width["f32"]
    return total + products(conv) * s.columns * width["f32"]


def _joined(conv: Depthwise, s: DepthwiseSchedule, target: Target, after: Work) -> Work:
    """The epilogue's work and that of the convolution; borders count as the middle does."""
    size, columns, channels = DTYPE_BYTES[conv.dtype], s.columns, s.channels
    rounds = -(-prod(tile_counts(conv, s)) // s.blocks)
    rounds *= 1 if conv.swept is None else -(-conv.near.output // s.rows)
    far = prod(axis.kernel for axis in conv.far)
    rows, inputs = input_rows(conv, s), conv.last.inputs_of(columns)
    whole = channels == conv.channels
    aligned = conv.channels * size % 512 == 0

    def load(lines: int, each: int) -> float:
        bursts = lines if whole else lines * each
        total = lines * each * channels * size
        return target.transfer_cost("gm->ub", total, bursts=bursts, aligned=aligned, cores=s.blocks)

    filters = load(1, conv.taps) + (load(1, 1) if conv.bias is not None else 0.0)
    block = far * load(rows, inputs)
    product, total = target.vector_row("vmul", "f32"), target.vector_row("vadd", "f32")
    run = -(-channels * 4 // REPEAT)
    edge = target.vector.partial_repeat if channels * 4 % REPEAT else 0.0
    repeats = target.repeats("f32", columns * padded(channels, "f32"))
    tap = edge + product.repeat * columns * run
    tap += total.repeat * repeats * target.vector.bank_conflict
    groups = -(-conv.last.kernel // products(conv))
    waits = conv.taps // conv.last.kernel * groups * (1 + products(conv).bit_length())
    row = conv.taps * tap + waits * total.head + target.vector_row("vbrc", "f32").repeat * repeats
    casts = filter_casts = 0.0
    if conv.dtype != "f32":
        casts = far * target.vector_cost("vcast", "f32", rows * inputs * padded(channels, "f32"))
        filter_casts = target.vector_cost("vcast", "f32", conv.taps * padded(channels, "f32"))
    often = 1 if whole else -(-prod(tile_counts(conv, s)) // s.blocks)
    pipes = {
        "mte2": after.pipes["mte2"] + rounds * block + often * filters,
        "v": after.pipes["v"] + rounds * (s.rows * row + casts) + often * filter_casts,
        "mte3": after.pipes["mte3"],
    }
    longest, sequence = max(pipes.values()), sum(pipes.values())
    first = filters + block + target.transfer("gm->ub").latency
    overlapped = s.copies > 1 and rounds > 1
    cycles = min(sequence, longest + first) if overlapped else sequence + first - filters - block
    moved = rounds * s.blocks * far * rows * inputs * channels * size
    return Work(
        kind="vector",
        cycles=cycles + target.transfer("ub->gm").latency,
        gm_bytes=after.gm_bytes + moved + often * s.blocks * conv.taps * channels * size,
        hbm_bytes=after.hbm_bytes + (prod(conv.source.sizes) + conv.taps * conv.channels) * size,
        pipes=pipes,
    )


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
        for candidate in _candidates(conv, target, copies):
            misfit = planner.misfit(candidate, copies)
            if misfit is not None:
                if refusal is None or misfit.reason == CAPACITY:
                    refusal = misfit
                continue
            work = planner.work(candidate)
            us = round(estimate_of(work, target).us, 1)
            score = (us, round(work.cycles / 100), prod(tile_counts(conv, candidate)))
            if found is None or score < found[0]:
                found = (score, candidate)
        if found is not None:
            return found[1]
    return refusal or Refusal(CAPACITY, f"{place(conv.op)}: no tile fits {target.name}")


def _candidates(conv: Depthwise, target: Target, copies: int) -> Iterator[DepthwiseSchedule]:
    cores = target.cores("vector")
    limit = min(conv.near.output, MOST_ROWS) if conv.joins_rows else 1
    for channels in _channel_tiles(conv.channels):
        for columns in _parts(conv.last.output, conv.last.output):
            for rows in _parts(conv.near.output, limit):
                draft = DepthwiseSchedule(rows, columns, channels, 1, copies)
                blocks = min(cores, prod(tile_counts(conv, draft)))
                yield DepthwiseSchedule(rows, columns, channels, blocks, copies)


def _parts(size: int, limit: int) -> Iterator[int]:
    """Tiles of at most `limit` that cut `size` into nearly equal parts, the longest first."""
    found = 0
    for parts in range(-(-size // limit), size + 1):
        tile = -(-size // parts)
        if tile != found and (parts <= 8 or tile < 4 or parts & (parts - 1) == 0):
            yield tile
        found = tile


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
