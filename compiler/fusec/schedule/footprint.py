"""Bytes of ub that a plan needs for given tiles, and the longest tiles that fit.

Buffers count from their first to their last action; those that move data count twice over their
loop, so that two copies fit. Scratch is what Huawei's compiler takes for the same instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

from fusec.hw import DTYPE_BYTES
from fusec.schedule.plan import Buffer, Dims, Plan

BLOCK = 32
"""Rows of a buffer start on a block of this many bytes."""

REPEAT = 256
"""Bytes that one repeat of a vector instruction handles."""

SIDE_BYTES = 512
"""What instructions take on the side whatever the tile is: casts of masks, selects, divisions."""


@dataclass(frozen=True)
class Tiles:
    """Tile sizes by axis; `ragged` axes have a last tile that is smaller."""

    sizes: Mapping[int, int]
    ragged: frozenset[int]

    @staticmethod
    def of(axes: Sequence[int], tiles: Sequence[int]) -> Tiles:
        """From the sizes of all axes and of their tiles."""
        ragged = frozenset(i for i, (n, t) in enumerate(zip(axes, tiles, strict=True)) if n % t)
        return Tiles(dict(enumerate(tiles)), ragged)


def shape_of(buffer: Buffer, tiles: Tiles) -> tuple[int, ...]:
    """Capacity of a tile along the dimensions of a buffer, the innermost not padded yet."""
    return tuple(1 if axis is None else tiles.sizes[axis] for axis in buffer.dims)


def padded(elements: int, dtype: str) -> int:
    """Elements of a row with what fills up its last block."""
    each = max(1, BLOCK // DTYPE_BYTES[dtype])
    return -(-elements // each) * each


def elements_of(buffer: Buffer, tiles: Tiles) -> int:
    """Elements that a buffer, or a scratch buffer, holds.

    Scratch as Huawei's compiler takes it (read off its memory plan): a whole tile for reductions
    of outer dimensions, half a tile for sums, maxima and minima along rows, a block for each row of
    an inline broadcast; with a size that only the run knows, a whole tile (two for vbrc).
    """
    shape = shape_of(buffer, tiles)
    row = padded(shape[-1], buffer.dtype)
    rows, size = prod(shape[:-1]), DTYPE_BYTES[buffer.dtype]
    ragged = any(axis in tiles.ragged for axis in buffer.dims)
    return scratch_elements(buffer.scratch, size, rows, row, shape[-1], ragged)


def scratch_elements(
    scratch: str, size: int, rows: int, row: int, length: int, ragged: bool
) -> int:
    """Elements of `size` bytes that `rows` rows of `length`, padded to `row`, hold or ask for."""
    whole = rows * row
    if not scratch or scratch == "whole":
        return whole
    block, repeat = BLOCK // size, REPEAT // size
    match scratch:
        case "point":
            return block
        case "apart":
            return whole * block
        case "reduce":
            static = max(rows * repeat, whole // 2) if length > repeat else whole // 2
            static = max(static, block)
            return max(whole, static) if ragged else static
        case "prod":
            static = rows * (repeat + block) if length > repeat else 2 * whole
            return max(whole, static)
        case _:
            static = -(-rows // 8) * 8 * block
            factor = 2 if scratch == "spread" else 1
            return max(factor * whole, static) if ragged else static


class Buffers(NamedTuple):
    """What of a plan decides how much ub it needs."""

    buffers: list[Buffer]
    loops: dict[int, tuple[int, int]]


class Footprint:
    """How many bytes of ub a plan needs, as a function of the tiles; it holds no IR."""

    def __init__(self, plan: Plan | Buffers, copies: int) -> None:
        """`copies`: of a buffer that moves data in a loop."""
        kinds: dict[tuple[str, Dims, str], int] = {}
        changes: dict[int, dict[int, int]] = {}
        for buffer in plan.buffers:
            key = (buffer.dtype, buffer.dims, buffer.scratch)
            kind = kinds.setdefault(key, len(kinds))
            twice = buffer.moved and copies > 1
            first, last = plan.loops[buffer.home] if twice else (buffer.first, buffer.last)
            count = copies if twice else 1
            for at, change in ((first, count), (last + 1, -count)):
                here = changes.setdefault(at, {})
                here[kind] = here.get(kind, 0) + change
        self._peaks = _peaks(changes, len(kinds))
        self._kinds = [_Kind.of(*key) for key in kinds]

    def bytes(self, tiles: Tiles) -> int:
        """The most that is alive at one action."""
        ragged = tiles.ragged
        return self._most(tiles.sizes, lambda axes: any(a in ragged for a in axes))

    def need(self, axes: Sequence[int], tiles: Sequence[int]) -> int:
        """The same, from the sizes of all axes and of their tiles."""
        return self._most(tiles, lambda some: any(axes[a] % tiles[a] for a in some))

    def _most(
        self, tiles: Mapping[int, int] | Sequence[int], ragged: Callable[[tuple[int, ...]], bool]
    ) -> int:
        sizes: list[int] = []
        for outer, inner, axes, each, size, scratch in self._kinds:
            count = 1
            for axis in outer:
                count *= tiles[axis]
            length = 1 if inner is None else tiles[inner]
            row = -(-length // each) * each
            if scratch:
                count = scratch_elements(scratch, size, count, row, length, ragged(axes))
            else:
                count *= row
            sizes.append(-(-count * size // BLOCK) * BLOCK)
        most = 0
        for peak in self._peaks:
            total = 0
            for kind, count in peak:
                total += sizes[kind] * count
            if total > most:
                most = total
        return most + SIDE_BYTES


class _Kind(NamedTuple):
    """Buffers of one type and shape: `each` elements fill a block, `size` bytes are an element."""

    outer: tuple[int, ...]
    inner: int | None
    axes: tuple[int, ...]
    each: int
    size: int
    scratch: str

    @classmethod
    def of(cls, dtype: str, dims: Dims, scratch: str) -> _Kind:
        size = DTYPE_BYTES[dtype]
        outer = tuple(a for a in dims[:-1] if a is not None)
        axes = tuple(a for a in dims if a is not None)
        scratch = "" if scratch == "whole" else scratch
        return cls(outer, dims[-1], axes, max(1, BLOCK // size), size, scratch)


@lru_cache(maxsize=256)
def footprint_of(plan: Plan, copies: int) -> Footprint:
    """The footprint of a plan, found once for all tiles that are tried with it."""
    return Footprint(plan, copies)


def _peaks(changes: dict[int, dict[int, int]], kinds: int) -> list[list[tuple[int, int]]]:
    """Numbers of live buffers by kind, without those that another one covers."""
    alive = [0] * kinds
    found: set[tuple[int, ...]] = set()
    for at in sorted(changes):
        for kind, change in changes[at].items():
            alive[kind] += change
        found.add(tuple(alive))
    tops: list[tuple[int, ...]] = []
    for one in sorted(found, key=sum, reverse=True):
        if not any(all(a <= b for a, b in zip(one, top, strict=True)) for top in tops):
            tops.append(one)
    return [[(k, n) for k, n in enumerate(top) if n] for top in tops]
