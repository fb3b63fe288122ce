"""Beam search over covers: the best few ways to group everything up to an operator.

Units are taken in order. In every state the next one stays alone, joins one cluster that it reads
or reads with, or joins all that it reads; legality is asked in the order of a lower bound, while a
candidate could still be among the best. Of states that look alike to whatever comes later only the
best is kept, so that a chain is grouped best where the beam is as wide as the largest group and
reaches as far. Merges that do not pay yet are kept as well, while their state is among the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from fusec.fusion.objective import Score
from fusec.fusion.strategies.greedy import merge_runs
from fusec.fusion.strategies.units import Cluster, Plan, Units, better_than_greedy

if TYPE_CHECKING:
    from fusec.fusion.group import Group
    from fusec.fusion.planner import Planner

FAR = 256
"""Clusters that a search for a cycle looks at; farther apart than that, two are not merged."""


@dataclass(frozen=True)
class Beam:
    """The strategy; `width` states are kept, and what is `lag` units back is decided for good.
    Where time counts, a merge that leaves a state `reach` µs behind the best one is not looked at:
    the launch of one kernel is what a later merge may bring back.

    The plan is never worse than that of `greedy`, which is made first and kept where time is out.
    """

    width: int = 4
    lag: int = 24
    reach: float = 5.0

    def __call__(self, planner: Planner) -> None:
        better_than_greedy(planner, self._plan)

    def _plan(self, planner: Planner) -> Plan | None:
        merge_runs(planner)
        units = Units(planner)
        found = _Search(units, self).run()
        return None if found is None else (units, found)


@dataclass(frozen=True, eq=False)
class _State:
    """Clusters that changed since what is decided, by leader; `link` leads from a joined leader to
    the one that it joined. `recent` are the leaders touched by each of the last units."""

    score: Score
    clusters: dict[int, Cluster]
    link: dict[int, int]
    recent: tuple[tuple[int, ...], ...]


_Move: TypeAlias = "tuple[Score, int, tuple[int, ...], Group | None]"
"""A lower bound, the state's number, leaders of what the unit joins, the merged group."""


class _Search:
    def __init__(self, units: Units, limits: Beam) -> None:
        self.units = units
        self.width = limits.width
        self.lag = limits.lag
        self.reach = limits.reach if units.planner.objective == "time" else inf
        self.decided: dict[int, Cluster] = {}
        self.links: dict[int, int] = {}
        self.states = [_State(Score(0.0, 0.0), {}, {}, ())]
        self.frontier: list[int] = []

    def run(self) -> list[Cluster] | None:
        """The clusters of the best state; None where time was out before."""
        for t in range(len(self.units)):
            if self.units.planner.out_of_time:
                return None
            self.frontier = [u for u in self.frontier if self.units.last_reader[u] > t]
            if self.units.last_reader[t] > t:
                self.frontier.append(t)
            self.states = self._step(t)
            self._decide()
        best = self.states[0]
        leaders = (t for t in range(len(self.units)) if self._leader(best, t) == t)
        return [self._cluster(best, t) for t in leaders]

    def _leader(self, state: _State, t: int) -> int:
        while True:
            found = state.link.get(t)
            if found is None:
                found = self.links.get(t)
            if found is None:
                return t
            t = found

    def _cluster(self, state: _State, leader: int) -> Cluster:
        return state.clusters.get(leader) or self.decided[leader]

    def _step(self, t: int) -> list[_State]:
        alone = self.units.alone[t]
        moves: list[_Move] = []
        for number, state in enumerate(self.states):
            moves.append((_after(state.score, (), alone.score), number, (), None))
            for leaders in self._choices(state, t):
                parts = [self._cluster(state, k) for k in leaders]
                group = self.units.join((*parts, alone))
                if group is not None:
                    bound = _after(state.score, parts, self.units.least(group))
                    moves.append((bound, number, leaders, group))
        moves.sort(key=lambda move: (move[0], move[1], move[2]))
        kept: dict[tuple[frozenset[int], ...], _State] = {}
        for bound, number, leaders, group in moves:
            scores = [s.score for s in kept.values()]
            if len(scores) >= self.width and bound > max(scores):
                break
            if scores and bound.first > min(scores).first + self.reach:
                break
            made = self._made(self.states[number], t, leaders, group)
            if made is None:
                continue
            look = tuple(self._cluster(made, self._leader(made, u)).owned for u in self.frontier)
            if look not in kept or made.score < kept[look].score:
                kept[look] = made
        return sorted(kept.values(), key=lambda s: s.score)[: self.width]

    def _choices(self, state: _State, t: int) -> Iterator[tuple[int, ...]]:
        """Leaders of the clusters that a unit could join, one or several at once."""
        read = [self._leaders(state, path) for path in self.units.joins[t]]
        every = tuple(dict.fromkeys(leader for path in read for leader in path))
        siblings = (self._leaders(state, (u,)) for u in self.units.siblings[t])
        yield from dict.fromkeys((*read, *((every,) if every else ()), *siblings))

    def _leaders(self, state: _State, units: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self._leader(state, u) for u in units))

    def _made(
        self, state: _State, t: int, leaders: tuple[int, ...], group: Group | None
    ) -> _State | None:
        """The state after a move; None where it is not legal."""
        alone = self.units.alone[t]
        if group is None:
            clusters = {**state.clusters, t: alone}
            score = _after(state.score, (), alone.score)
            return _State(score, clusters, state.link, (*state.recent, (t,)))
        parts = [self._cluster(state, k) for k in leaders]
        if self._waits(state, t, leaders, parts):
            return None
        joined = self.units.cluster((*parts, alone), group, self.reach)
        if joined is None:
            return None
        first, *others = sorted(leaders)
        link = {**state.link, t: first}
        link.update(dict.fromkeys(others, first))
        clusters = {k: c for k, c in state.clusters.items() if k not in others}
        clusters[first] = joined
        score = _after(state.score, parts, joined.score)
        return _State(score, clusters, link, (*state.recent, (first, t, *others)))

    def _waits(
        self, state: _State, t: int, leaders: tuple[int, ...], parts: Sequence[Cluster]
    ) -> bool:
        """Whether a path leaves the merged clusters and comes back to them."""
        merged = set(leaders)
        begin = min(c.units[0] for c in parts)
        stack = [u for c in parts for v in c.units for u in self.units.before[v]]
        stack += self.units.before[t]
        seen: set[int] = set()
        while stack:
            leader = self._leader(state, stack.pop())
            if leader in merged or leader in seen:
                continue
            cluster = self._cluster(state, leader)
            if cluster.units[-1] < begin:
                continue
            seen.add(leader)
            if len(seen) > FAR:
                return True
            for v in cluster.units:
                for u in self.units.before[v]:
                    if self._leader(state, u) in merged:
                        return True
                    stack.append(u)
        return False

    def _decide(self) -> None:
        """What is `lag` units back is taken from the best state; states that differ there go."""
        while len(self.states[0].recent) > self.lag:
            touched = self.states[0].recent[0]
            same = [s for s in self.states if s.recent[0] == touched]
            later = [{k for step in s.recent[1:] for k in step} for s in same]
            for state, open_ in zip(same, later, strict=True):
                for k in touched:
                    if k not in open_ and k in state.clusters:
                        self.decided[k] = state.clusters[k]
                    if k not in open_ and k in state.link:
                        self.links[k] = state.link[k]
            self.states = [
                _State(
                    state.score,
                    {k: c for k, c in state.clusters.items() if k not in touched or k in open_},
                    {k: c for k, c in state.link.items() if k not in touched or k in open_},
                    state.recent[1:],
                )
                for state, open_ in zip(same, later, strict=True)
            ]


def _after(score: Score, without: Sequence[Cluster], plus: Score) -> Score:
    first = score.first + plus.first - sum(c.score.first for c in without)
    second = score.second + plus.second - sum(c.score.second for c in without)
    return Score(first, second)
