"""Bytes of ub that a plan needs for given tiles, and the longest tiles that fit.

Buffers count from their first to their last action; those that move data count twice over their
loop, so that two copies fit. Scratch is what Huawei's compiler takes for the same instruction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from fusec.hw import DTYPE_BYTES
from fusec.schedule.plan import Buffer, Plan

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
    whole = rows * row
    if not buffer.scratch or buffer.scratch == "whole":
        return whole
    ragged = any(axis in tiles.ragged for axis in buffer.dims)
    block, repeat = BLOCK // size, REPEAT // size
    match buffer.scratch:
        case "point":
            return block
        case "apart":
            return whole * block
        case "reduce":
            static = max(rows * repeat, whole // 2) if shape[-1] > repeat else whole // 2
            static = max(static, block)
            return max(whole, static) if ragged else static
        case "prod":
            static = rows * (repeat + block) if shape[-1] > repeat else 2 * whole
            return max(whole, static)
        case _:
            static = -(-rows // 8) * 8 * block
            factor = 2 if buffer.scratch == "spread" else 1
            return max(factor * whole, static) if ragged else static


def bytes_of(buffer: Buffer, tiles: Tiles) -> int:
    """Bytes of one copy, rounded up to whole blocks."""
    size = elements_of(buffer, tiles) * DTYPE_BYTES[buffer.dtype]
    return -(-size // BLOCK) * BLOCK


class Footprint:
    """How many bytes of ub a plan needs, as a function of the tiles."""

    def __init__(self, plan: Plan, copies: int) -> None:
        """`copies`: of a buffer that moves data in a loop."""
        kinds: dict[tuple[object, ...], int] = {}
        self._samples: list[Buffer] = []
        changes: dict[int, dict[int, int]] = {}
        for buffer in plan.buffers:
            key = (buffer.dtype, buffer.dims, buffer.scratch)
            kind = kinds.setdefault(key, len(kinds))
            if kind == len(self._samples):
                self._samples.append(buffer)
            twice = buffer.moved and copies > 1
            first, last = plan.loops[buffer.home] if twice else (buffer.first, buffer.last)
            count = copies if twice else 1
            for at, change in ((first, count), (last + 1, -count)):
                here = changes.setdefault(at, {})
                here[kind] = here.get(kind, 0) + change
        self._peaks = _peaks(changes, len(kinds))

    def bytes(self, tiles: Tiles) -> int:
        """The most that is alive at one action."""
        sizes = [bytes_of(buffer, tiles) for buffer in self._samples]
        most = max((sum(sizes[k] * n for k, n in peak) for peak in self._peaks), default=0)
        return most + SIDE_BYTES


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
