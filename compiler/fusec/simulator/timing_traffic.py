"""What of a launch's traffic crosses to HBM: first touches, and what L2 could not keep.

In: the traffic of each argument, where it lies in gm, and what is in L2. Out: the part of each
argument's reads that misses L2, and bytes. L2 then holds what the launch has used.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from fusec.simulator.timing_l2 import L2State
from fusec.simulator.timing_launch import Traffic


@dataclass(frozen=True, slots=True)
class Place:
    """Where an argument lies: its space and the byte that it starts at."""

    space: Hashable
    start: int


@dataclass(frozen=True, slots=True)
class Misses:
    """`parts`: of the reads of each argument. `hbm_bytes`: read or written for the first time, or
    again after L2 has dropped them. `read_bytes` come from HBM during the launch and `written_back`
    go there, because they do not fit L2."""

    parts: tuple[float, ...]
    hbm_bytes: int
    read_bytes: float
    written_back: float


@dataclass(slots=True)
class _Region:
    """All arguments that lie in the same place."""

    space: Hashable
    low: int
    high: int
    reads: int
    writes: int
    is_workspace: bool

    @property
    def used(self) -> int:
        """Bytes of the region that are used at all, as far as is known."""
        return min(self.high - self.low, max(self.reads, self.writes))


def misses(
    traffic: Sequence[Traffic], places: Sequence[Place], workspaces: Sequence[bool], l2: L2State
) -> Misses:
    """Moves `l2` on by one launch.

    What is used again within the launch is still in L2 then, unless the argument alone is larger
    than L2. Of a launch that uses more than L2 holds, the end of each argument stays.
    """
    regions = _regions(traffic, places, workspaces)
    used = sum(region.used for region in regions.values())
    missed: dict[Hashable, float] = {}
    hbm = read = 0.0
    for key, region in regions.items():
        present = l2.resident(region.space, region.low, region.high)
        span = max(region.high - region.low, 1)
        hits = present * region.used / span
        first = _missed_reads(region, hits, l2.capacity)
        missed[key] = first / region.reads if region.reads else 0.0
        read += first
        hbm += first + _missed_writes(region, hits, first, l2.capacity)
    kept = min(1.0, l2.capacity / used) if used else 1.0
    for region in sorted(regions.values(), key=lambda r: r.writes > 0):
        l2.touch(region.space, region.high - round(region.used * kept), region.high)
    written = sum(min(region.used, region.writes) for region in regions.values())
    back = float(min(written, max(0, used - l2.capacity)))
    parts = tuple(missed[_key(t, p)] for t, p in zip(traffic, places, strict=True))
    return Misses(parts, round(hbm), read, back)


def _missed_reads(region: _Region, hits: float, capacity: int) -> float:
    if region.used > capacity:
        return float(region.reads)
    if region.is_workspace and region.writes:
        return 0.0
    return max(0.0, min(region.reads, region.used) - hits)


def _missed_writes(region: _Region, hits: float, read: float, capacity: int) -> float:
    """Written bytes that were in L2 neither before nor by being read."""
    if region.used > capacity:
        return float(region.writes)
    return max(0.0, min(region.writes, region.used) - hits - read)


def _key(traffic: Traffic, place: Place) -> Hashable:
    return place.space, place.start + traffic.low, place.start + traffic.high


def _regions(
    traffic: Sequence[Traffic], places: Sequence[Place], workspaces: Sequence[bool]
) -> dict[Hashable, _Region]:
    regions: dict[Hashable, _Region] = {}
    for moved, place, workspace in zip(traffic, places, workspaces, strict=True):
        key = _key(moved, place)
        low, high = place.start + moved.low, place.start + moved.high
        region = regions.setdefault(key, _Region(place.space, low, high, 0, 0, workspace))
        region.reads += moved.reads
        region.writes += moved.writes
    return regions
