"""Dynamic programming over a line of units: the best way to cut it into groups.

The line is a depth-first order in which each unit comes after those that it reads, so that what
lies side by side on it waits for nothing outside: every cut is a plan, and the best one is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fusec.fusion.objective import Score, added
from fusec.fusion.strategies.greedy import merge_runs
from fusec.fusion.strategies.units import Cluster, Units, better_than_greedy

if TYPE_CHECKING:
    from fusec.fusion.planner import Planner

PATIENCE = 3
"""Refusals in a row after which no longer group that ends there is tried."""


@dataclass(frozen=True)
class Intervals:
    """The strategy; a group has `longest` units at most. Never worse than `greedy`."""

    longest: int = 12

    def __call__(self, planner: Planner) -> None:
        better_than_greedy(planner, self._plan)

    def _plan(self, planner: Planner) -> tuple[Units, list[Cluster]] | None:
        merge_runs(planner)
        units = Units(planner)
        line = _line(units)
        best = [Score(0.0, 0.0)]
        cut: list[Cluster] = []
        for end in range(1, len(line) + 1):
            if planner.out_of_time:
                return None
            found: tuple[Score, Cluster] | None = None
            for cluster in self._ending(units, line, end):
                score = added((best[end - len(cluster.units)], cluster.score))
                if found is None or score.below(found[0]):
                    found = (score, cluster)
            if found is None:
                raise ValueError("a unit is a group by itself at least")
            best.append(found[0])
            cut.append(found[1])
        clusters: list[Cluster] = []
        end = len(line)
        while end:
            clusters.append(cut[end - 1])
            end -= len(cut[end - 1].units)
        return units, clusters[::-1]

    def _ending(self, units: Units, line: list[int], end: int) -> list[Cluster]:
        """The groups that end at a place of the line, the shortest first."""
        last = line[end - 1]
        found = [units.alone[last]]
        parts: dict[int, int] = {last: last}
        pieces, refused = 1, 0
        for t in reversed(line[max(0, end - self.longest) : end - 1]):
            if units.stays(t) or units.stays(last) or refused >= PATIENCE:
                break
            near = {parts[u] for u in units.near[t] if u in parts}
            parts = {u: t if p in near else p for u, p in parts.items()}
            parts[t] = t
            pieces += 1 - len(near)
            if pieces > 1:
                continue
            together = [units.alone[u] for u in parts]
            group = units.join(together)
            cluster = None if group is None else units.cluster(together, group)
            refused = refused + 1 if cluster is None else 0
            if cluster is not None:
                found.append(cluster)
        return found


def _line(units: Units) -> list[int]:
    """Units so that each comes after those that it reads, the readers of the last one first."""
    waiting = [len(b) for b in units.before]
    after: list[list[int]] = [[] for _ in waiting]
    for t, before in enumerate(units.before):
        for u in before:
            after[u].append(t)
    stack = [t for t in reversed(range(len(waiting))) if not waiting[t]]
    line: list[int] = []
    while stack:
        t = stack.pop()
        line.append(t)
        for u in reversed(after[t]):
            waiting[u] -= 1
            if not waiting[u]:
                stack.append(u)
    return line
