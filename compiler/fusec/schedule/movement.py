"""Schedules of movement kernels: the tiles of each copy.

In: a region of transposes, slices, pads, concats, expands, or a gather. Out: the `MovementSchedule`
of least modelled time, or a Refusal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.copies import Copy, copies_of
from fusec.schedule.footprint import BLOCK, padded
from fusec.schedule.region import Region
from fusec.schedule.types import Refusal, RefusalError, Schedule, ScheduleError
from fusec.schedule.work import Work, estimate_of

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
    cores = target.cores("vector")
    found: tuple[tuple[float, int, int], tuple[int, int]] | None = None
    for rows, columns in _candidates(copy, target):
        count = prod(tile_counts(copy, rows, columns))
        work = copies_work([copy], [(rows, columns)], min(cores, count), target)
        us = estimate_of(work, target).us
        score = (round(us, 1), round(sum(work.pipes.values()) / NEAR), count)
        if found is None or score < found[0]:
            found = (score, (rows, columns))
    if found is None:
        raise RefusalError("ub-capacity", "not even one element of each axis fits ub")
    return found[1]


def _candidates(copy: Copy, target: Target) -> Iterator[tuple[int, int]]:
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
        rounds = -(-prod(tile_counts(copy, rows, columns)) // blocks)
        load, transpose, store, size = _tile_cycles(copy, rows, columns, blocks, target)
        pipes["mte2"] += load * rounds
        pipes["v"] += transpose * rounds
        pipes["mte3"] += store * rounds
        moved += size * rounds * blocks
        first = max(first, int(load + transpose))
    cycles = max(pipes.values()) + first
    cycles += target.transfer("gm->ub").latency + target.transfer("ub->gm").latency
    touched = sum(2 * prod(a.size for a in c.axes) * DTYPE_BYTES[c.dtype] for c in copies)
    return Work("vector", cycles, moved, touched, pipes)


def _tile_cycles(
    copy: Copy, rows: int, columns: int, blocks: int, target: Target
) -> tuple[float, float, float, int]:
    """Cycles of loading, transposing and storing one tile, and the bytes that it moves."""
    rows = 1 if copy.rows == copy.columns else rows
    woven = 1 if copy.woven is None else copy.axes[copy.woven].size
    size = DTYPE_BYTES[copy.dtype]
    each = woven * rows * columns * size
    bursts = columns if copy.swapped else rows * woven
    if not copy.swapped and copy.axes[copy.columns].source > 1:
        bursts = rows * columns

    def transfer(engine: str, count: int) -> float:
        aligned = each // count % 512 == 0
        return target.transfer_cost(engine, each, bursts=count, aligned=aligned, cores=blocks)

    index = 0.0 if copy.indices is None else target.scalar_memory_cycles
    load = 0.0 if copy.root is None else transfer("gm->ub", bursts) + index
    moved = each if copy.root is None else 2 * each
    turns = 1 if copy.swapped else 0
    if copy.woven is not None:
        turns = 2
    transpose = turns * target.vector_cost("vtranspose", copy.dtype, woven * rows * columns)
    return load, transpose, transfer("ub->gm", rows), moved
