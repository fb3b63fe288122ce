"""Schedules of movement kernels: each piece of each output is a copy with its own tiles.

In: a region of transposes, slices, pads, concats, expands, or a gather. Out: a `MovementSchedule`,
or a Refusal. A copy keeps its innermost axis, or swaps it for another one by transposing in ub.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple, cast

from xdsl.ir import SSAValue

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.axes import dtype_of
from fusec.schedule.footprint import BLOCK, padded
from fusec.schedule.pieces import Piece, output_pieces
from fusec.schedule.region import Region
from fusec.schedule.types import Refusal, RefusalError, Schedule, ScheduleError
from fusec.schedule.views import (
    Access,
    Part,
    Parts,
    checked,
    load_access,
    static_shape,
    store_access,
    whole,
)
from fusec.schedule.work import Work, estimate_of
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.shapes import normal_axis
from fusec_dialects.place import place

SHORT_STEP = 4
"""A load takes every n-th element of a row itself for n up to this; else elements go one by one."""

MOVED = frozenset({"f16", "bf16", "f32", "i64", "i32", "i8", "i1"})

NEAR = 100
"""Cycles by which two tilings may differ before the one with fewer tiles is worse."""

ROW_LIMIT = 4096
"""The DMA engine moves at most this many rows at a time (a 12-bit count)."""


_NOTHING = Part(0, 0)


class Axis(NamedTuple):
    """`size` steps, of `source` elements in what is read and `dest` elements in what is written.

    Where `picked` is not 0 the source moves by `source` times an index that is loaded, `picked`
    being the axis's stride in the tensor of indices.
    """

    size: int
    source: int
    dest: int
    picked: int = 0


@dataclass(frozen=True, eq=False)
class Copy:
    """One piece of an output. `axes` outermost first as they lie in the output.

    `root`: what is read, None for a fill with `value`. `columns`, `rows`: the axes of a tile, by
    number; the tile is transposed where `swapped`. `indices`: of a gather, contiguous, with size
    and stride of the gathered axis.
    """

    output: int
    dtype: str
    axes: tuple[Axis, ...]
    source_offset: int
    dest_offset: int
    columns: int
    rows: int
    swapped: bool
    root: SSAValue | None = None
    value: float = 0.0
    indices: Access | None = None
    gathered: Part = _NOTHING


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


def copies_of(region: Region) -> list[Copy]:
    """The copies that make up a movement region; RefusalError where it is none."""
    for value in region.outputs:
        if dtype_of(value) not in MOVED:
            raise RefusalError("type", f"{value.type}: {dtype_of(value)} cannot be moved")
    gathers = [op for op in region.compute_ops if op.op_name in ("gather", "gather_elements")]
    if gathers:
        return [_gather(region, gathers)]
    found: list[Copy] = []
    for number, pieces in enumerate(output_pieces(region)):
        target = checked(whole(region.outputs[number]))
        found += [_copy(piece, number, target) for piece in pieces]
    return found


def _copy(piece: Piece, output: int, target: Access) -> Copy:
    strides = [parts[0].stride if parts else 0 for parts in target.dims]
    dest_offset = sum(a * s for a, s in zip(piece.at, strides, strict=True))
    axes: list[Axis] = []
    source = piece.source
    for axis, size in enumerate(piece.sizes):
        parts = source.dims[axis] if isinstance(source, Access) else (Part(size, 0),)
        axes += _spread(parts, strides[axis])
    dtype = dtype_of(target.root)
    if not isinstance(source, Access):
        return _placed(Copy(output, dtype, tuple(axes), 0, dest_offset, 0, 0, False, None, source))
    return _placed(
        Copy(output, dtype, tuple(axes), source.offset, dest_offset, 0, 0, False, source.root)
    )


def _spread(parts: Parts, stride: int) -> list[Axis]:
    """The axes of one dimension that lies in the output with one stride."""
    axes: list[Axis] = []
    for part in reversed(parts):
        axes.append(Axis(part.size, part.stride, stride))
        stride *= part.size
    return axes[::-1]


def _placed(copy: Copy) -> Copy:
    """The copy with neighbouring axes merged, and with the axes of its tiles chosen."""
    axes = sorted(copy.axes, key=lambda a: -a.dest)
    merged: list[Axis] = []
    for axis in axes:
        if axis.size == 1:
            continue
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.dest == axis.size * axis.dest
            and last.picked == axis.size * axis.picked
            and (axis.picked or last.source == axis.size * axis.source)
        ):
            merged[-1] = Axis(last.size * axis.size, axis.source, axis.dest, axis.picked)
        else:
            merged.append(axis)
    inner = next((i for i, a in enumerate(merged) if a.dest == 1 and not a.picked), None)
    if copy.root is None:
        near: int | None = inner
    else:
        near = next((i for i, a in enumerate(merged) if a.source == 1 and not a.picked), None)
    short = inner is not None and 1 < merged[inner].source <= SHORT_STEP and near is None
    near = inner if short else near
    swapped = inner != near
    if swapped and inner is not None and merged[inner].source == 0:
        raise RefusalError(
            "expand-innermost",
            "one element is repeated along the innermost axis: work for the vector unit",
        )
    if inner is None or (near is None and swapped):
        merged.append(Axis(1, 1, 1))
        unit = len(merged) - 1
        inner = unit if inner is None else inner
        near = unit if near is None else near
    if swapped:
        columns, rows = inner, cast(int, near)
    else:
        columns, rows = inner, _rows(merged, inner, copy.root is None)
    return Copy(
        copy.output,
        copy.dtype,
        tuple(merged),
        copy.source_offset,
        copy.dest_offset,
        columns,
        rows,
        swapped,
        copy.root,
        copy.value,
        copy.indices,
        copy.gathered,
    )


def _rows(axes: Sequence[Axis], columns: int, filled: bool) -> int:
    """The axis that runs along the rows of a tile beside its columns: the longest that is loaded
    anew; the columns themselves where there is no other."""
    others = [
        i for i, a in enumerate(axes) if i != columns and not a.picked and (filled or a.source != 0)
    ]
    return max(others, key=lambda i: (axes[i].size, i), default=columns)


def _gather(region: Region, gathers: list[GraphOp]) -> Copy:
    op = gathers[0]
    if len(gathers) > 1 or op.op_name != "gather":
        raise RefusalError(
            "gather",
            f"{place(op)}: a kernel gathers whole slices, along one axis, once; gather_elements "
            "and several gathers in one kernel are not done",
        )
    if len(region.outputs) != 1:
        raise RefusalError("gather", f"{place(op)}: a gather has one output in its kernel")
    value, target = checked(store_access(region, region.outputs[0]))
    if value is not op.results[0]:
        raise RefusalError("gather", f"{place(op)} is followed by more than views")
    data = checked(load_access(region, op.operands[0]))
    indices = checked(load_access(region, op.operands[1]))
    if region.producer(data.root) is not None or region.producer(indices.root) is not None:
        raise RefusalError("gather", f"{place(op)} gathers from what is computed in its kernel")
    if dtype_of(indices.root) not in ("i32", "i64") or not indices.contiguous:
        raise RefusalError("gather", f"{place(op)}: indices are i32 or i64, contiguous")
    axis = normal_axis(cast(int, op.attrs()["axis"]), len(data.dims))
    gathered, count = data.dims[axis], len(indices.dims)
    if len(gathered) > 1:
        raise RefusalError("gather", f"{place(op)}: the gathered axis has no single stride")
    stride = gathered[0].stride if gathered else 0
    axes: list[Axis] = []
    for dim, parts in enumerate(target.dims):
        if axis <= dim < axis + count:
            axes += _indexed(indices.dims[dim - axis], parts, stride)
            continue
        source = data.dims[dim if dim < axis else dim - count + 1]
        axes += _paired(op, source, parts)
    size = checked(static_shape(op.operands[0]))[axis]
    return _placed(
        Copy(
            0,
            dtype_of(data.root),
            tuple(axes),
            data.offset,
            target.offset,
            0,
            0,
            False,
            data.root,
            0.0,
            indices,
            Part(size, stride),
        )
    )


def _indexed(indices: Parts, dest: Parts, stride: int) -> list[Axis]:
    """Axes of a dimension of indices, which lie contiguously."""
    step = indices[-1].stride if indices else 1
    axes: list[Axis] = []
    for part in reversed(dest):
        axes.append(Axis(part.size, stride, part.stride, step))
        step *= part.size
    return axes[::-1]


def _paired(op: GraphOp, source: Parts, dest: Parts) -> list[Axis]:
    """Axes of a dimension that has parts on both sides."""
    left, right = list(source), list(dest)
    axes: list[Axis] = []
    while left and right:
        a, b = left.pop(), right.pop()
        size = min(a.size, b.size)
        if a.size % size or b.size % size:
            raise RefusalError("reshape", f"{place(op)}: views cut a dimension unevenly")
        axes.append(Axis(size, a.stride, b.stride))
        if a.size > size:
            left.append(Part(a.size // size, a.stride * size))
        if b.size > size:
            right.append(Part(b.size // size, b.stride * size))
    return axes[::-1]


# Tiles


def tile_bytes(copy: Copy, rows: int, columns: int) -> int:
    """Bytes of ub of one tile: two buffers where it is transposed."""
    size = DTYPE_BYTES[copy.dtype]
    dest = rows * padded(columns, copy.dtype) * size
    if not copy.swapped:
        step = copy.axes[copy.columns].source if copy.root is not None else 1
        return dest * max(1, step)
    return dest + columns * padded(rows, copy.dtype) * size


def tile_counts(copy: Copy, rows: int, columns: int) -> list[int]:
    """Tiles along each axis of a copy."""
    lengths = {copy.rows: rows, copy.columns: columns}
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
            raise ScheduleError(
                f"copy {number}: a tile of {rows} x {columns} takes {need} bytes of ub, "
                f"{target.name} has {target.capacity('ub')}"
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
    least = BLOCK // DTYPE_BYTES[copy.dtype]
    enough = 4 * target.cores("vector")
    for columns in _lengths(wide, least):
        if copy.rows == copy.columns:
            if tile_bytes(copy, 1, columns) <= room:
                yield columns, columns
            continue
        if copy.swapped and columns > ROW_LIMIT:
            continue
        for rows in _lengths(min(long, ROW_LIMIT), least if copy.swapped else 1):
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
    size = DTYPE_BYTES[copy.dtype]
    each = rows * columns * size
    bursts = columns if copy.swapped else rows
    if not copy.swapped and copy.axes[copy.columns].source > 1:
        bursts = rows * columns

    def transfer(engine: str, count: int) -> float:
        aligned = each // count % 512 == 0
        return target.transfer_cost(engine, each, bursts=count, aligned=aligned, cores=blocks)

    index = 0.0 if copy.indices is None else target.scalar_memory_cycles
    load = 0.0 if copy.root is None else transfer("gm->ub", bursts) + index
    moved = each if copy.root is None else 2 * each
    transpose = target.vector_cost("vtranspose", copy.dtype, rows * columns) * copy.swapped
    return load, transpose, transfer("ub->gm", rows), moved
