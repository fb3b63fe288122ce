"""What the witness remembers of every byte of a memory: whose it is, who wrote and who read it
last.

Accesses are boxes of bytes; numpy works on each box as a whole, in units as large as all addresses
of the memory allow. Times are the item numbers of `clocks`, which only grow, so the latest of a box
is its maximum.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fusec.simulator.clocks import Clock
from fusec.simulator.numerics import Array
from fusec.simulator.stream import Region


class Box(NamedTuple):
    """A region without its start, in units: `shape` and `steps` of what is left after joining
    contiguous dimensions; it reaches from byte start + low to, exclusive, start + high."""

    shape: tuple[int, ...]
    steps: tuple[int, ...]
    low: int
    high: int


@lru_cache(maxsize=4096)
def box_of(
    sizes: tuple[int, ...], strides: tuple[int, ...], itemsize: int, unit: int
) -> Box | None:
    """The box of a region; None if it is empty. Raises ValueError for a negative size."""
    if any(size < 0 for size in sizes):
        raise ValueError(f"negative size in {list(sizes)}")
    if not all(sizes):
        return None
    each = itemsize // unit
    low = sum(min(0, (n - 1) * s) for n, s in zip(sizes, strides, strict=True)) * itemsize
    high = (
        sum(max(0, (n - 1) * s) for n, s in zip(sizes, strides, strict=True)) * itemsize + itemsize
    )
    shape: list[int] = [each]
    steps: list[int] = [1]
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size == 1 or stride == 0:
            continue
        if stride * each == shape[0] * steps[0]:
            shape[0] *= size
        else:
            shape.insert(0, size)
            steps.insert(0, stride * each)
    return Box(tuple(shape), tuple(steps), low, high)


class Tracks:
    """The bytes of one memory, or of one gm argument, in units of `unit` bytes."""

    def __init__(self, nbytes: int, unit: int):
        self.unit = unit
        self.units = -(-nbytes // unit)
        self.writes: dict[int, Array] = {}
        self.reads: dict[int, Array] = {}

    def part(self, array: Array, region: Region, box: Box) -> Array:
        """The units of a region; the caller has checked that they are inside."""
        item = array.itemsize
        start = region[0] // self.unit * item
        if len(box.shape) == 1:
            return np.ndarray(box.shape, array.dtype, array, start)
        return np.ndarray(
            box.shape, array.dtype, array, start, tuple(step * item for step in box.steps)
        )

    def unordered(
        self, times: dict[int, Array], region: Region, box: Box, known: Clock
    ) -> list[tuple[int, int]]:
        """The (agent, time) of each latest access among `times` that may not be finished."""
        found: list[tuple[int, int]] = []
        for agent, array in times.items():
            latest = int(self.part(array, region, box).max())
            if latest > known[agent]:
                found.append((agent, latest))
        return found

    def earlier(self, times: dict[int, Array], region: Region, box: Box, base: Clock) -> int | None:
        """An agent that accessed a part of the region in an earlier block."""
        for agent, array in times.items():
            if not base[agent]:
                continue
            part = self.part(array, region, box)
            if int(part.min()) > base[agent] or not part.any():
                continue
            if ((part > 0) & (part <= base[agent])).any():
                return agent
        return None

    def note(
        self, times: dict[int, Array], agent: int, region: Region, box: Box, time: int
    ) -> None:
        array = times.get(agent)
        if array is None:
            array = times[agent] = np.zeros(self.units, np.int32)
        self.part(array, region, box)[...] = time


class LocalTracks(Tracks):
    """A memory of the core: `owner` is the number of the buffer instance that wrote a unit last,
    negative where it only took the unit with its first write."""

    def __init__(self, nbytes: int, unit: int):
        super().__init__(nbytes, unit)
        self.owner: Array = np.zeros(self.units, np.int32)

    def foreign(self, region: Region, box: Box, instance: int) -> int | None:
        """None if `instance` wrote all of the region; else another that has units of it, or 0."""
        part = self.part(self.owner, region, box)
        other = part != instance
        if not other.any():
            return None
        owners = np.abs(part[other])
        return int(owners.max(initial=0, where=owners != instance))

    def take(self, start: int, nbytes: int, instance: int) -> None:
        """From its first write on all bytes of a buffer, padding too, are taken from others."""
        self.owner[start // self.unit : -(-(start + nbytes) // self.unit)] = -instance

    def own(self, region: Region, box: Box, instance: int) -> None:
        self.part(self.owner, region, box)[...] = instance


class GmTracks(Tracks):
    """A gm argument. `written`: by this launch; `exposed`: read before this launch wrote it;
    `shared`: read by more than one block. Times are kept only of arguments that are written."""

    def __init__(self, nbytes: int, unit: int, is_written: bool):
        super().__init__(nbytes, unit)
        self.is_written = is_written
        self.written: Array = np.zeros(self.units, np.bool_)
        self.exposed: Array = np.zeros(self.units, np.bool_)
        self.shared: Array = np.zeros(self.units, np.bool_) if is_written else np.zeros(0, np.bool_)

    def expose(self, region: Region, box: Box) -> bool:
        """Notes a read; says whether a part of it was not written before."""
        exposed = self.part(self.exposed, region, box)
        if not self.is_written:
            exposed[...] = True
            return True
        missing = ~self.part(self.written, region, box)
        exposed |= missing
        return bool(missing.any())

    def share(self, region: Region, box: Box, base: Clock) -> None:
        """Notes which units were already read in an earlier block."""
        for agent, array in self.reads.items():
            part = self.part(array, region, box)
            self.part(self.shared, region, box)[...] |= (part > 0) & (part <= base[agent])
