"""What a search joins: the groups that stand when it begins, in an order in which each comes after
those that it reads.

In: a planner. Out: units by position, which earlier ones each could join, merged groups with their
costs. A unit that stays by itself (an own fusion, a movement, what is settled) joins nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from fusec.fusion.group import Group
from fusec.fusion.legality import Cost
from fusec.fusion.objective import NO_KERNEL, Score, affordable, clearly_better, score
from fusec.fusion.strategies.greedy import greedy, sources
from fusec.fusion.strategies.named import merge_named
from fusec.schedule.types import Refusal
from fusec.semantics.classes import FusionClass

if TYPE_CHECKING:
    from fusec.fusion.planner import Planner

MOST_SIBLINGS = 2
"""Earlier readers of a value that one more reader is tried with."""

_WIDE = frozenset({FusionClass.WINDOW, FusionClass.OPAQUE})
"""Classes of operators that have tiles of their own, so that siblings cannot share them."""


@dataclass(frozen=True, eq=False)
class Cluster:
    """Units that are one group, by position; `us` is 0 for what is no kernel alone."""

    units: tuple[int, ...]
    group: Group
    owned: frozenset[int]
    score: Score
    us: float


class Units:
    """`alone[t]` is unit t by itself; `before[t]` the units that it reads; `joins[t]` those that it
    may join because it reads them, each with the movements between, which are `carried` along;
    `siblings[t]` those before it that read a value that it reads too; `near[t]` its neighbours by
    either; `last_reader[t]` the last unit that reads it, else itself."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner
        self.keys = planner.cover.order()
        position = {key: t for t, key in enumerate(self.keys)}
        cover, dag = planner.cover, planner.dag
        self.alone = [self._alone(t) for t in range(len(self.keys))]
        self.before: list[list[int]] = []
        self.joins: list[list[tuple[int, ...]]] = []
        self.carried: set[int] = set()
        self.siblings: list[list[int]] = []
        self.near: list[list[int]] = []
        self.last_reader = list(range(len(self.keys)))
        readers: dict[int, list[int]] = {}
        for t, key in enumerate(self.keys):
            owned = sorted(cover.groups[key].owned)
            units = (position[cover.owner[s]] for i in owned for s in cover.sources(i))
            self.before.append([u for u in dict.fromkeys(units) if u != t])
            for u in self.before[t]:
                self.last_reader[u] = t
            near = (
                tuple(position[cover.owner[s]] for s in found)
                for i in owned
                for found in sources(dag, cover, i)
            )
            fixed = self.is_fixed(t)
            joined = [path for path in dict.fromkeys(near) if not fixed and t not in path]
            self.joins.append([path for path in joined if not self.is_fixed(path[0])])
            self.siblings.append([] if fixed else self._siblings(t, readers))
            self.near.append([])
            for path in (*self.joins[t], *((u,) for u in self.siblings[t])):
                self.carried.update(path[1:])
                for one, other in pairwise((path[0], *path[:0:-1], t)):
                    self.near[one].append(other)
                    self.near[other].append(one)

    def __len__(self) -> int:
        return len(self.keys)

    def _alone(self, t: int) -> Cluster:
        key = self.keys[t]
        group = self.planner.cover.groups[key]
        cost = self.planner.rough_cost(group)
        us = cost.us if isinstance(cost, Cost) else 0.0
        return Cluster((t,), group, frozenset(group.owned), score(self.planner.objective, cost), us)

    def is_fixed(self, t: int) -> bool:
        """Whether a unit stays by itself."""
        group, cover = self.alone[t].group, self.planner.cover
        lone = next(iter(group.owned)) if len(group.owned) == 1 else -1
        access = lone >= 0 and self.planner.dag.is_access(lone)
        return group.closed or access or cover.is_settled(group)

    def stays(self, t: int) -> bool:
        """Whether a unit is fixed and goes along with nothing either."""
        return t not in self.carried and self.is_fixed(t)

    def _siblings(self, t: int, readers: dict[int, list[int]]) -> list[int]:
        """Earlier units that read a varying value that this one reads, the latest ones."""
        dag, owned = self.planner.dag, self.alone[t].owned
        if any(dag.classes[i] in _WIDE for i in owned):
            return []
        found: dict[int, None] = {}
        for i in sorted(owned):
            for owner, value in dag.reads[i]:
                if owner in owned or (owner >= 0 and dag.is_constant(owner)):
                    continue
                known = readers.setdefault(value, [])
                found.update(dict.fromkeys(u for u in known[-MOST_SIBLINGS:] if u != t))
                if not known or known[-1] != t:
                    known.append(t)
        read = {path[0] for path in self.joins[t]}
        return [u for u in found if u not in read]

    def join(self, clusters: Iterable[Cluster]) -> Group | None:
        """The merged group, unless a limit of the planner or quick legality refuses it."""
        planner = self.planner
        group = planner.merged(c.group for c in clusters)
        if planner.permits(group) is not None or isinstance(planner.bounds(group), Refusal):
            return None
        return group

    def cluster(
        self, clusters: Iterable[Cluster], group: Group, reach: float = inf
    ) -> Cluster | None:
        """The clusters as one, if it is legal and not too dear; not asked where an equal one of
        near sizes lost by more than `reach` µs."""
        parts = tuple(clusters)
        groups = [c.group for c in parts]
        if reach < inf and self.planner.needs_search(group):
            loss = self.planner.near_loss(groups, group)
            if loss is not None and loss.fused > loss.apart + reach:
                return None
        cost = self.planner.rough_cost(group)
        if not isinstance(cost, Cost):
            return None
        objective = self.planner.objective
        whole = all(c.score is not NO_KERNEL for c in parts)
        apart = sum(c.us for c in parts)
        if whole:
            self.planner.learn_loss(groups, group, cost.us, apart)
        if whole and objective != "time" and not affordable(objective, cost.us, apart):
            return None
        units = tuple(sorted(t for c in parts for t in c.units))
        owned = frozenset(group.owned)
        return Cluster(units, group, owned, score(objective, cost), cost.us)

    def least(self, group: Group) -> Score:
        """What the group costs at least, by the objective."""
        planner = self.planner
        bounds = planner.bounds(group)
        us = 0.0 if isinstance(bounds, Refusal) else bounds.least
        if planner.objective == "time":
            return Score(us, 0.0)
        moved = planner.objective == "bytes"
        return Score(planner.cover.boundary_bytes(group) if moved else 1.0, us)


Plan: TypeAlias = tuple[Units, list[Cluster]]


def better_than_greedy(planner: Planner, search: Callable[[Planner], Plan | None]) -> None:
    """Makes the plan of `greedy`, then that of a search, and keeps the better one; a search gives
    None where time was out.

    Where time counts, the search begins with single operators: a named pattern may be in the way
    of a better group. Where bytes or kernels count it begins with named patterns, which make groups
    at once that cannot grow in legal steps.
    """
    start = planner.snapshot()
    greedy(planner)
    planner.finish()
    made, worth = planner.snapshot(), planner.total()
    planner.restore(start)
    if planner.objective != "time":
        merge_named(planner)
    if (found := search(planner)) is not None:
        units, clusters = found
        for cluster in clusters:
            if len(cluster.units) > 1:
                planner.replace([units.keys[t] for t in cluster.units], cluster.group)
        planner.finish()
    if found is None or not clearly_better(planner.objective, planner.total(), worth):
        planner.restore(made)
        return
    refused = made.remarks[len(start.remarks) :]
    planner.remarks += [r for r in refused if r.kind == "refused"]
