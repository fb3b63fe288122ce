"""Schedules of movement kernels: the tiles of each copy.

In: a region of transposes, slices, pads, concats, expands, or a gather. Out: the `MovementSchedule`
of least modelled time, or a Refusal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.copies import Copy, copies_of
from fusec.schedule.footprint import BLOCK, padded
from fusec.schedule.region import Region
from fusec.schedule.types import Refusal, RefusalError, Schedule, ScheduleError
from fusec.schedule.ways import way_of
from fusec.schedule.work import Work

NEAR = 100
"""Cycles by which two tilings may differ before the one with fewer tiles is worse."""

ROW_LIMIT = 4096
"""The DMA engine moves at most this many rows at a time (a 12-bit count)."""


@dataclass(frozen=True)
class MovementSchedule(Schedule):
    """`tiles`: rows and columns of the tiles of each copy, one pair after another."""

    family: ClassVar[str] = "movement"

    tiles: tuple[int, ...]
    blocks: int
    copies: int = 2

    def tile(self, number: int) -> tuple[int, int]:
        """Rows and columns of copy `number`."""
        return self.tiles[2 * number], self.tiles[2 * number + 1]


def tile_bytes(copy: Copy, rows: int, columns: int) -> int:
    """Bytes of ub of one tile: two buffers where it is transposed, three where it is woven."""
    size = DTYPE_BYTES[copy.dtype]
    if copy.woven is not None:
        each = copy.axes[copy.woven].size
        turned = each * columns * padded(rows, copy.dtype)
        loaded = each * rows * padded(columns, copy.dtype)
        return (loaded + turned + rows * padded(each * columns, copy.dtype)) * size
    dest = rows * padded(columns, copy.dtype) * size
    if not copy.swapped:
        apart = copy.root is not None and copy.axes[copy.columns].source > 1
        return dest + (rows * columns * BLOCK if apart else 0)
    return dest + columns * padded(rows, copy.dtype) * size


def tile_counts(copy: Copy, rows: int, columns: int) -> list[int]:
    """Tiles along each axis of a copy."""
    lengths = {copy.rows: rows, copy.columns: columns}
    if copy.woven is not None:
        lengths[copy.woven] = copy.axes[copy.woven].size
    return [-(-axis.size // lengths.get(i, 1)) for i, axis in enumerate(copy.axes)]


def check_movement(region: Region, schedule: MovementSchedule, target: Target) -> Refusal | None:
    """Why a schedule, perhaps written by hand, is not one of this region; None if it is."""
    try:
        _check(copies_of(region), schedule, target)
    except RefusalError as error:
        return error.refusal
    except ScheduleError as error:
        return Refusal("schedule", str(error))
    return None


def _check(copies: Sequence[Copy], schedule: MovementSchedule, target: Target) -> None:
    if len(schedule.tiles) != 2 * len(copies):
        raise ScheduleError(
            f"tiles has {len(schedule.tiles)} numbers; rows and columns for each of "
            f"{len(copies)} copies are needed"
        )
    if schedule.copies < 1 or schedule.blocks < 1:
        raise ScheduleError("blocks and copies are at least 1")
    if schedule.blocks > most_tiles(copies, schedule):
        raise ScheduleError(
            f"{schedule.blocks} blocks for {most_tiles(copies, schedule)} tiles; use no more"
        )
    for number, copy in enumerate(copies):
        rows, columns = schedule.tile(number)
        row_axis, column_axis = copy.axes[copy.rows], copy.axes[copy.columns]
        if not (1 <= rows <= row_axis.size and 1 <= columns <= column_axis.size):
            raise ScheduleError(
                f"copy {number} has tiles of {rows} x {columns}; at most "
                f"{row_axis.size} x {column_axis.size} are possible"
            )
        if copy.rows == copy.columns and rows != columns:
            raise ScheduleError(f"copy {number} has one axis: give the tile's length twice")
        need = tile_bytes(copy, 1 if copy.rows == copy.columns else rows, columns)
        if need > target.capacity("ub"):
            raise RefusalError(
                "ub-capacity",
                f"copy {number}: a tile of {rows} x {columns} takes {need} bytes of ub, "
                f"{target.name} has {target.capacity('ub')}",
                {"need": need, "capacity": target.capacity("ub")},
            )


def most_tiles(copies: Sequence[Copy], schedule: MovementSchedule) -> int:
    """Tiles of the copy with most of them: more blocks would have nothing to do."""
    return max(prod(tile_counts(c, *schedule.tile(n))) for n, c in enumerate(copies))


def schedule_movement(region: Region, target: Target) -> MovementSchedule | Refusal:
    """The tiles of least modelled time for each copy, or why there are none."""
    try:
        copies = copies_of(region)
        tiles = [_best_tile(copy, target) for copy in copies]
    except RefusalError as error:
        return error.refusal
    draft = MovementSchedule(tuple(n for tile in tiles for n in tile), 1)
    blocks = min(target.cores("vector"), most_tiles(copies, draft))
    return MovementSchedule(draft.tiles, blocks)


def _best_tile(copy: Copy, target: Target) -> tuple[int, int]:
    time = CopyTime(copy, target)
    found: tuple[tuple[float, int, int], tuple[int, int]] | None = None
    for rows, columns in movement_candidates(copy, target):
        score = time.score(rows, columns)
        if found is None or score < found[0]:
            found = (score, (rows, columns))
    if found is None:
        raise RefusalError("ub-capacity", "not even one element of each axis fits ub")
    return found[1]


def movement_candidates(copy: Copy, target: Target) -> Iterator[tuple[int, int]]:
    """Rows and columns that fit ub twice."""
    room = target.capacity("ub") // 2
    wide, long = copy.axes[copy.columns].size, copy.axes[copy.rows].size
    least = 1 if copy.woven is not None else BLOCK // DTYPE_BYTES[copy.dtype]
    enough = 4 * target.cores("vector")
    for columns in _lengths(wide, least):
        if copy.rows == copy.columns:
            if tile_bytes(copy, 1, columns) <= room:
                yield columns, columns
            continue
        turned = copy.swapped or copy.woven is not None
        if turned and columns > ROW_LIMIT:
            continue
        for rows in _lengths(min(long, ROW_LIMIT), least if turned else 1):
            if tile_bytes(copy, rows, columns) <= room:
                yield rows, columns
                if prod(tile_counts(copy, rows, columns)) >= enough:
                    break


def _lengths(size: int, least: int) -> Iterator[int]:
    """The whole length, then halves of it in multiples of `least`."""
    yield size
    while size > least:
        size = -(-size // (2 * least)) * least
        yield size


def movement_work(region: Region, schedule: MovementSchedule, target: Target) -> Work:
    """What the pipes of the busiest core do."""
    copies = copies_of(region)
    tiles = [schedule.tile(n) for n in range(len(copies))]
    return copies_work(copies, tiles, schedule.blocks, target)


def copies_work(
    copies: Sequence[Copy], tiles: Sequence[tuple[int, int]], blocks: int, target: Target
) -> Work:
    """Loads, transpositions and stores of all tiles on the busiest core, overlapped."""
    pipes = {"mte2": 0.0, "v": 0.0, "mte3": 0.0}
    moved = first = 0
    for copy, (rows, columns) in zip(copies, tiles, strict=True):
        spent = CopyTime(copy, target).spent(rows, columns, blocks)
        pipes["mte2"] += spent.load * spent.rounds
        pipes["v"] += spent.transpose * spent.rounds
        pipes["mte3"] += spent.store * spent.rounds
        moved += spent.size * spent.rounds * blocks
        first = max(first, int(spent.load + spent.transpose))
    cycles = max(pipes.values()) + first
    cycles += target.transfer("gm->ub").latency + target.transfer("ub->gm").latency
    touched = sum(2 * prod(a.size for a in c.axes) * DTYPE_BYTES[c.dtype] for c in copies)
    return Work("vector", cycles, moved, touched, pipes)


class Spent(NamedTuple):
    """Cycles of one tile, the bytes that it moves, and how many tiles the busiest core has."""

    load: float
    transpose: float
    store: float
    size: int
    rounds: int


class CopyTime:
    """The time of one copy as a function of its tiles."""

    def __init__(self, copy: Copy, target: Target) -> None:
        self._copy = copy
        self._target = target
        self._size = DTYPE_BYTES[copy.dtype]
        self._sizes = [axis.size for axis in copy.axes]
        self._woven = 1 if copy.woven is None else copy.axes[copy.woven].size
        self._turns = 2 if copy.woven is not None else 1 if copy.swapped else 0
        self._apart = not copy.swapped and copy.axes[copy.columns].source > 1
        self._index = 0.0 if copy.indices is None else target.scalar_memory_cycles
        self._cores = target.cores("vector")
        self._touched = 2 * prod(self._sizes) * self._size
        self._latency = target.transfer("gm->ub").latency + target.transfer("ub->gm").latency

    def count(self, rows: int, columns: int) -> int:
        """How many tiles the copy has."""
        copy, found = self._copy, 1
        for axis, size in enumerate(self._sizes):
            if axis == copy.woven:
                continue
            if axis == copy.columns:
                size = -(-size // columns)
            elif axis == copy.rows:
                size = -(-size // rows)
            found *= size
        return found

    def spent(self, rows: int, columns: int, blocks: int) -> Spent:
        """What a tile takes with so many cores at work."""
        copy, target, size = self._copy, self._target, self._size
        rounds = -(-self.count(rows, columns) // blocks)
        rows = 1 if copy.rows == copy.columns else rows
        woven = self._woven
        each = woven * rows * columns * size
        bursts = columns if copy.swapped else rows * woven
        if self._apart:
            bursts = rows * columns
        load, moved = 0.0, each
        if copy.root is not None:
            way = way_of(target, "gm->ub", blocks)
            load = way.cycles(each, bursts, each // bursts % 512 == 0) + self._index
            moved = 2 * each
        transpose = 0.0
        if self._turns:
            elements = woven * rows * columns
            transpose = self._turns * target.vector_cost("vtranspose", copy.dtype, elements)
        store = way_of(target, "ub->gm", blocks).cycles(each, rows, each // rows % 512 == 0)
        return Spent(load, transpose, store, moved, rounds)

    def score(self, rows: int, columns: int) -> tuple[float, int, int]:
        """What tiles are compared by: µs, cycles of all pipes in steps of NEAR, tiles."""
        target = self._target
        count = self.count(rows, columns)
        blocks = min(self._cores, count)
        load, transpose, store, size, rounds = self.spent(rows, columns, blocks)
        busy = load * rounds, transpose * rounds, store * rounds
        cycles = max(busy) + int(load + transpose) + self._latency
        hbm = self._touched / (target.hbm_gbps * 1e3)
        l2 = size * rounds * blocks / (target.l2_gbps * 1e3)
        us = target.launch_us["vector"] + max(cycles / target.clock_mhz, hbm, l2)
        us = max(us, target.floor_us["vector"])
        return round(us, 1), round(sum(busy) / NEAR), count
