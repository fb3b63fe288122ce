"""What of gm lies in L2: byte ranges, the least recently used ones leave first.

A range is (space, first byte, byte after the last); a space is any key, such as a buffer.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

Range: TypeAlias = tuple[Hashable, int, int]


class L2State:
    """At most `capacity` bytes. Ranges are kept disjoint, in the order of their last use."""

    def __init__(self, capacity: int):
        self.capacity = capacity
        self._ranges: list[Range] = []
        self._bytes = 0

    def resident(self, space: Hashable, low: int, high: int) -> int:
        """How many bytes of a range are in L2."""
        return sum(max(0, min(high, b) - max(low, a)) for s, a, b in self._ranges if s == space)

    def touch(self, space: Hashable, low: int, high: int) -> None:
        """The range is used now. Of one that is larger than L2, the end stays."""
        low = max(low, high - self.capacity)
        if high <= low:
            return
        self.drop(space, low, high)
        self._ranges.append((space, low, high))
        self._bytes += high - low
        self._ranges = self._evicted(self._ranges)

    def drop(self, space: Hashable, low: int, high: int) -> None:
        """The range leaves L2."""
        kept: list[Range] = []
        for entry in self._ranges:
            other, a, b = entry
            if other != space or b <= low or a >= high:
                kept.append(entry)
                continue
            self._bytes -= min(high, b) - max(low, a)
            if a < low:
                kept.append((space, a, low))
            if b > high:
                kept.append((space, high, b))
        self._ranges = kept

    def _evicted(self, ranges: list[Range]) -> list[Range]:
        gone = 0
        while self._bytes > self.capacity:
            space, a, b = ranges[gone]
            cut = min(b - a, self._bytes - self.capacity)
            self._bytes -= cut
            if cut < b - a:
                ranges[gone] = (space, a + cut, b)
            else:
                gone += 1
        return ranges[gone:]
