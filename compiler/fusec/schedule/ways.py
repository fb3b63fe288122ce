"""What moves cost, for the inner loops of searches: the numbers of an engine looked up once.

In: a target, an engine, how many cores use it at once. Out: a `Way`, whose `cycles` are those of
`Target.transfer_cost` to the bit.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from fusec.hw import Target
from fusec.hw.target import BURST_BYTES


class Way(NamedTuple):
    """A move takes `head`, `burst` for each burst (`narrow` where bursts are shorter than the
    smallest piece), bytes / `rate`, times `unaligned` where runs do not start on a line of gm."""

    head: float
    burst: float
    narrow: float
    rate: float
    unaligned: float

    def cycles(self, size: int, bursts: int = 1, aligned: bool = True) -> float:
        """Cycles of a move of `size` bytes in so many runs."""
        if size <= 0:
            return 0.0
        each, least = self.burst, bursts * BURST_BYTES
        if least > size:
            each, size = self.narrow, least
        spent = size / self.rate
        return self.head + bursts * each + (spent if aligned else spent * self.unaligned)


@lru_cache(maxsize=4096)
def way_of(target: Target, engine: str, cores: int = 1) -> Way:
    """The way of an engine (`gm->ub`) with data in l2, whose bandwidth `cores` share."""
    found = target.transfer(engine)
    rate = min(found.rate, target.shared_rate("l2", cores)) if "gm" in engine else found.rate
    return Way(found.head, found.burst, found.burst + found.narrow, rate, found.unaligned)
