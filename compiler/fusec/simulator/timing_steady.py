"""Which turns of a loop are played: until every time grows by the same each turn, and then on from
the end of the turns that are alike.

A block is a system of maxima and sums: if all its times have grown by constant amounts over two
windows of turns, and those that grow by different amounts are far apart and do not meet, then they
go on like that for as long as the turns cost the same. A window is a whole number of rotations of
the loop's buffers, and of periods of its labels (a narrow tile at the end of each row, say).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, lcm
from typing import Protocol

from fusec.simulator.form import AGENTS
from fusec.simulator.timing_program import Label, LoopInfo

LONGEST_PERIOD = 16
"""Of the labels of a loop; a longer one is played through."""
SPANS = (1, 2)
"""Growth is compared over this many windows, the fewest first."""
NOISE = 1e-6
"""Cycles, relative, by which two growths that are the same may differ."""


@dataclass(frozen=True, slots=True)
class State:
    """`times`: of all agents free, then done, of all events, of all cross-core flags, whose numbers
    are `counts`."""

    times: list[float]
    counts: tuple[int, ...]
    sums: list[float]


class SteadyMachine(Protocol):
    @property
    def is_held(self) -> bool: ...
    def state(self) -> State: ...
    def forward(self, times: list[float], sums: list[float], turns: int) -> None: ...


def steady_turns(
    machine: SteadyMachine, info: LoopInfo, span: range, label: Label | None
) -> Iterator[int]:
    """The values of the loop's variable to be played. Between two of them the machine may have been
    moved forward past the turns left out."""
    count = len(span)
    if count <= 3 * info.period:
        yield from span
        return
    labels = None if label is None else [label(value) for value in span]
    period, breaks = (1, []) if labels is None else _period(labels, info.period)
    window = lcm(info.period, period)
    history: list[State] = []
    regular_from = turn = 0
    while turn < count:
        if (turn - regular_from) % window == 0 and count - turn >= window:
            history = [*history[-2 * SPANS[-1] :], machine.state()]
            at = bisect_left(breaks, turn)
            until = breaks[at] if at < len(breaks) else count
            skipped = 0
            if not machine.is_held:
                skipped = _skip(machine, info, history, window, (until - turn) // window)
            if skipped:
                turn += skipped * window
                history = []
                continue
        yield span[turn]
        turn += 1
        if breaks and _broken(breaks, turn - 1):
            history, regular_from = [], turn


def _broken(breaks: list[int], turn: int) -> bool:
    at = bisect_left(breaks, turn)
    return at < len(breaks) and breaks[at] == turn


def _period(labels: Sequence[Hashable], rotation: int) -> tuple[int, list[int]]:
    """The period with which the labels repeat best, and the turns at which they do not."""
    best, chosen = inf, (1, list[int]())
    for period in range(1, min(LONGEST_PERIOD, len(labels) // 4) + 1):
        breaks = [t for t in range(period, len(labels)) if labels[t] != labels[t - period]]
        played = (len(breaks) // period + 1) * 3 * lcm(period, rotation)
        if played < best:
            best, chosen = played, (period, breaks)
        if len(breaks) <= 1:
            break
    return chosen


def _skip(
    machine: SteadyMachine, info: LoopInfo, history: list[State], window: int, most: int
) -> int:
    """Moves the machine forward by as many windows as are certain, at most `most`; how many."""
    for span in SPANS:
        if most < span or len(history) <= 2 * span:
            continue
        growth = _growth(history[-1], history[-1 - span], history[-1 - 2 * span])
        if growth is None:
            continue
        spans = int(min(most // span, _room(history[-1].times, growth, info.agents)))
        if spans < 1:
            continue
        before, now = history[-1 - span].sums, history[-1].sums
        machine.forward(growth, [b - a for a, b in zip(before, now, strict=True)], spans)
        return spans * span
    return 0


def _growth(now: State, before: State, earlier: State) -> list[float] | None:
    """By how much each time has grown, if it was the same amount twice."""
    if not now.counts == before.counts == earlier.counts:
        return None
    growth = [b - a for a, b in zip(before.times, now.times, strict=True)]
    for a, b, g in zip(earlier.times, before.times, growth, strict=True):
        if abs(b - a - g) > NOISE * (1 + abs(g)):
            return None
    return growth


def _room(times: list[float], growth: list[float], agents: tuple[int, ...]) -> float:
    """How often the times can grow before one comes so close to one that grows by another amount
    that the order of their items in a turn may change.

    Within a window an item lies behind the time that it depends on by at most what each pipe can
    add on the way: the largest growth and the tail of a result.
    """
    count = len(AGENTS)
    own = {*agents, *(agent + count for agent in agents)}
    live = sorted(
        (time, grows)
        for index, (time, grows) in enumerate(zip(times, growth, strict=True))
        if time > 0 and (index in own or (index >= 2 * count and grows))
    )
    tail = max((times[a + count] - times[a] for a in agents), default=0.0)
    near = len(agents) * (max(growth, default=0.0) + max(tail, 0.0))
    room = inf
    for at, (behind, grows) in enumerate(live):
        for ahead, other in live[at + 1 :]:
            nearer = grows - other
            if abs(nearer) <= NOISE * (1 + abs(grows)):
                continue
            gap = ahead - behind - near
            if gap <= 0:
                return 0
            room = min(room, gap // nearer) if nearer > 0 else room
    return room
