"""Offsets for buffers with live ranges in one memory, so that none overlaps while both are alive.

In: sizes and live ranges, any order. Out: an offset for each and the peak. Deterministic. The
problem is NP-hard (dynamic storage allocation): best fit by decreasing size, then a bounded
search that swaps buffers in that order until the peak is the lower bound or the budget is spent.
"""

from collections.abc import Sequence
from typing import NamedTuple

EFFORT_FITS = 1_500
"""Steps of the search once the plan fits; a step is one pair of buffers compared."""

EFFORT_OVERFLOW = 200_000
"""Steps of the search while the plan does not fit."""


class Request(NamedTuple):
    """`size` bytes, a multiple of the alignment, alive from `first` to `last`, both inclusive.

    A request with `at` keeps that offset.
    """

    size: int
    first: int
    last: int
    at: int | None = None


class Plan(NamedTuple):
    """An offset for each request, in their order; `peak` is the end of the highest one."""

    offsets: tuple[int, ...]
    peak: int
    lower_bound: int


def max_live(requests: Sequence[Request]) -> tuple[int, int]:
    """(bytes, position): the most that is alive at one position, and the first such position.

    No plan has a smaller peak.
    """
    events = sorted(
        [(r.first, r.size) for r in requests] + [(r.last + 1, -r.size) for r in requests]
    )
    best, where, now = 0, 0, 0
    for position, change in events:
        now += change
        if now > best:
            best, where = now, position
    return best, where


def allocate(requests: Sequence[Request], alignment: int, capacity: int) -> Plan:
    """Places all requests. The peak may exceed `capacity`, which only says how long to search."""
    bound, _ = max_live(requests)
    conflicts = _conflicts(requests)
    searched = [i for i, r in enumerate(requests) if r.at is None]
    by_size = sorted(searched, key=lambda i: (-requests[i].size, requests[i].first, i))
    by_area = sorted(
        searched,
        key=lambda i: (-requests[i].size * (requests[i].last - requests[i].first + 1), i),
    )
    best: Plan | None = None
    order = by_size
    for candidate in (by_size, by_area):
        plan = _best_fit(requests, conflicts, candidate, alignment, bound)
        if best is None or plan.peak < best.peak:
            best, order = plan, candidate
        if best.peak <= bound:
            return best
    return _search(requests, conflicts, order, alignment, capacity, best or Plan((), 0, bound))


def _search(
    requests: Sequence[Request],
    conflicts: Sequence[Sequence[int]],
    order: Sequence[int],
    alignment: int,
    capacity: int,
    best: Plan,
) -> Plan:
    """Swaps a buffer at the peak with another one in the order, as long as it does no harm.

    Which one is chosen by a linear congruential generator (Numerical Recipes), seeded the same way
    each time.
    """
    if len(order) < 3:
        return best
    cost = sum(map(len, conflicts)) + len(requests)
    current, spent, seed = list(order), 0, 1
    plan = best
    while best.peak > best.lower_bound:
        hopeful = best.lower_bound <= capacity < best.peak
        if spent > (EFFORT_OVERFLOW if hopeful else EFFORT_FITS):
            break
        spent += cost
        rank = {request: position for position, request in enumerate(current)}
        ends = (i for i in current if plan.offsets[i] + requests[i].size == plan.peak)
        top = next(ends, current[0])
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        near = [i for i in conflicts[top] if i in rank]
        among = near if near and seed & 1 << 31 else current
        other = among[(seed >> 8) % len(among)]
        trial = list(current)
        trial[rank[top]], trial[rank[other]] = other, top
        found = _best_fit(requests, conflicts, trial, alignment, best.lower_bound)
        if found.peak <= plan.peak:
            current, plan = trial, found
        if found.peak < best.peak:
            best = found
    return best


def _conflicts(requests: Sequence[Request]) -> list[list[int]]:
    """For each request those alive at a common position; time is linear in what it returns."""
    conflicts: list[list[int]] = [[] for _ in requests]
    alive: list[int] = []
    for i in sorted(range(len(requests)), key=lambda i: requests[i].first):
        first = requests[i].first
        alive = [j for j in alive if requests[j].last >= first]
        for j in alive:
            conflicts[i].append(j)
            conflicts[j].append(i)
        alive.append(i)
    return conflicts


def _best_fit(
    requests: Sequence[Request],
    conflicts: Sequence[Sequence[int]],
    order: Sequence[int],
    alignment: int,
    bound: int,
) -> Plan:
    """Each request of the order in the smallest gap between its neighbours that holds it."""
    offsets = [-1 if r.at is None else r.at for r in requests]
    peak = max((r.at + r.size for r in requests if r.at is not None), default=0)
    for i in order:
        size = requests[i].size
        taken = sorted(
            (offsets[j], offsets[j] + requests[j].size) for j in conflicts[i] if offsets[j] >= 0
        )
        best, smallest, free = -1, 0, 0
        for low, high in taken:
            gap = low - free
            if gap >= size and (best < 0 or gap < smallest):
                best, smallest = free, gap
            if high > free:
                free = -(-high // alignment) * alignment
        offsets[i] = best if best >= 0 else free
        peak = max(peak, offsets[i] + size)
    return Plan(tuple(offsets), peak, bound)
