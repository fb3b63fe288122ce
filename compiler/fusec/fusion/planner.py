"""Decides the groups of a function: own fusions and named patterns, a strategy, then views.

Patterns propose, legality permits, cost decides. Every step works on numbers; a merge that is tried
and not taken leaves a remark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import NamedTuple, TypeAlias

from fusec.config.fusion_options import FusionOptions
from fusec.fusion.absorb import MAX_VIEWS, absorb_movements
from fusec.fusion.by_node import merge_nodes
from fusec.fusion.dag import Dag
from fusec.fusion.group import Cover, Group, imported_ops
from fusec.fusion.legality import Cost, Legality
from fusec.fusion.losses import CLEARLY, Loss, Losses, cut_of
from fusec.fusion.objective import Score, affordable, not_profitable, score_of
from fusec.fusion.patterns import matches_at
from fusec.fusion.recompute import recompute_cheap
from fusec.fusion.remarks import Remark
from fusec.fusion.siblings import merge_siblings
from fusec.fusion.strategies import STRATEGIES
from fusec.fusion.strategies.named import merge_own
from fusec.fusion.weigh import UNDECIDED, decide, weigh
from fusec.schedule.templates import Bounds
from fusec.schedule.types import Refusal
from fusec_dialects.graph import OWN as OPERATORS

ROUGH = 5.0
"""A fair schedule this many µs over the least possible says too little: a launch's worth."""


class Snapshot(NamedTuple):
    """A plan: groups by key, the key of each operator's group, and remarks."""

    groups: dict[int, Group]
    owner: dict[int, int]
    remarks: list[Remark]


_Ops: TypeAlias = tuple[frozenset[int], frozenset[int]]
"""What makes a group the kernel that it is: the operators that it owns and that it borrows."""


class Planner:
    """One plan for one function. `cover` and `remarks` are the result."""

    def __init__(self, dag: Dag, legality: Legality, options: FusionOptions) -> None:
        self.dag = dag
        self.cover = Cover.unfused(dag)
        self.remarks: list[Remark] = []
        self.options = options
        self._legality = legality
        self._asked: dict[_Ops, Cost | Refusal] = {}
        self._bounded: dict[_Ops, Bounds | Refusal] = {}
        self._losses = Losses()
        self._deadline = perf_counter() + options.time_budget if options.time_budget else None
        self._picky = bool(options.disable) or options.only is not None

    @property
    def objective(self) -> str:
        """What a plan is judged by: "time", "bytes" or "kernels"."""
        return self.options.objective

    @property
    def enabled(self) -> bool:
        """Whether anything is fused."""
        return self.options.enabled

    @property
    def automatic(self) -> bool:
        """Whether groups may grow beyond named patterns."""
        return self.options.automatic

    @property
    def out_of_time(self) -> bool:
        """Whether the time for planning is over; what is planned then is the plan."""
        return self._deadline is not None and perf_counter() > self._deadline

    def run(self) -> Cover:
        """Decide; without `enabled` every imported operator stays the kernel that it is."""
        if not self.options.enabled:
            merge_nodes(self)
        else:
            merge_own(self)
            STRATEGIES[self.options.strategy if self.automatic else "patterns"](self)
            self.finish()
            self._name()
        return self.cover

    def _name(self) -> None:
        """Groups that grew without a pattern's name get the name of what they are."""
        for group in self.cover.groups.values():
            if not group.name:
                group.name = self.name_of(group.owned)
                self.note("fused", group.owned, group.name)

    def finish(self) -> None:
        """What follows a strategy: equal readers joined, groups too small taken apart, movements
        absorbed, what is cheap computed again by its readers. Once done, nothing more changes."""
        if self.automatic:
            merge_siblings(self)
        self._take_apart()
        absorb_movements(self)
        if self.automatic:
            recompute_cheap(self)

    def _take_apart(self) -> None:
        """Groups of less than the wanted number of operators are no groups."""
        for key, group in list(self.cover.groups.items()):
            if len(group.owned) == 1 or (few := imported_ops(self.dag, group)) == 1:
                continue
            if few < self.options.min_ops:
                message = f"{few} operators, wanted {self.options.min_ops} at least"
                self.note("refused", group.owned, group.name, Refusal("min-ops", message))
                self.cover.split(key)

    def note(
        self, kind: str, ops: Iterable[int], name: str, refusal: Refusal | None = None
    ) -> None:
        """A remark: "fused", "recomputed" (in each reader), or "refused" with the reason."""
        places = self.dag.named(ops)
        if refusal is None:
            self.remarks.append(Remark(kind, name, places))
            return
        reason = (refusal.reason, refusal.message, refusal.numbers)
        self.remarks.append(Remark(kind, name, places, *reason))

    # Groups that stand

    def name_of(self, owned: Iterable[int]) -> str:
        """The named pattern that a group of these operators is, else their names joined."""
        ops = sorted(owned)
        for anchor in ops:
            for match in matches_at(self.dag, anchor):
                if list(match.ops) == ops:
                    return match.name
        return self._joined(ops)

    def _joined(self, owned: Iterable[int]) -> str:
        names = [self.dag.names[i] for i in sorted(owned)]
        return "_".join(names) if len(names) <= 4 else f"auto_{names[0]}_{names[-1]}_{len(names)}"

    def cost_of(self, key: int) -> Cost | Refusal:
        """Cost of a group as it is."""
        return self.legal_cost(self.cover.groups[key])

    def hosted(self, *, own_only: bool = False) -> set[int]:
        """Operators, each a group by itself, that no kernel computes; `own_only`: of users'."""
        found: set[int] = set()
        if own_only and not OPERATORS:
            return found
        for key, group in self.cover.groups.items():
            if own_only and not any(self.dag.names[i] in OPERATORS for i in group.owned):
                continue
            alone = len(group.owned) == 1 and not self.cover.is_settled(group)
            if alone and isinstance(self.cost_of(key), Refusal):
                found |= group.owned
        return found

    def total(self) -> Score:
        """What the objective says of the whole plan; where time only decides between equals, that
        of fair schedules will do."""
        if self.objective == "time":
            return score_of(self.objective, map(self.cost_of, self.cover.groups))
        return score_of(self.objective, map(self.rough_cost, self.cover.groups.values()))

    def snapshot(self) -> Snapshot:
        """The plan as it stands, to come back to."""
        return Snapshot(dict(self.cover.groups), dict(self.cover.owner), list(self.remarks))

    def restore(self, taken: Snapshot) -> None:
        """Back to a plan that stood before."""
        self.cover.groups, self.cover.owner = dict(taken.groups), dict(taken.owner)
        self.remarks[:] = taken.remarks

    def replace(self, keys: Iterable[int], group: Group) -> None:
        """A group takes the place of those that hold its operators, all of them."""
        first, *others = sorted(keys)
        for key in others:
            del self.cover.groups[key]
        self.cover.groups[first] = group
        self.cover.owner.update(dict.fromkeys(group.owned, first))

    def take_views(self, key: int, group: Group, views: set[int]) -> bool:
        """Views behind a group's result become its own, one of them having been a kernel, where
        that is worth its time."""
        merged = replace(group, owned=group.owned | views, borrowed=group.borrowed - views)
        cost = self.legal_cost(merged)
        if isinstance(cost, Refusal):
            return False
        others = {self.cover.owner[i] for i in views if i in self.cover.owner}
        parts = [self.cost_of(k) for k in {key, *others}]
        before = sum(part.us if isinstance(part, Cost) else inf for part in parts)
        if not self.affordable(cost.us, before):
            return False
        for other in others - {key}:
            del self.cover.groups[other]
        self.replace([key], merged)
        return True

    # Groups that could be

    def merged(
        self, groups: Iterable[Group], name: str = "", borrowed: Iterable[int] = ()
    ) -> Group:
        """One group of several, with the views that lead from one to another."""
        owned: set[int] = set()
        inside = set(borrowed)
        for group in groups:
            owned |= group.owned
            inside |= group.borrowed
        inside |= self._views_between(owned)
        return Group(owned, name, inside - owned)

    def _views_between(self, owned: set[int]) -> set[int]:
        """The free views that lead from one of these operators to another: without them inside,
        the group would wait for its own result."""
        found: set[int] = set()
        for i in owned:
            for source in self.dag.operands[i]:
                if source in owned or self.dag.root(source) not in owned:
                    continue
                while source not in owned:
                    found.add(source)
                    source = self.dag.operands[source][0]
        return found

    def legal_cost(self, group: Group) -> Cost | Refusal:
        """Cost of a group, whether it stands in the cover or not; asked once for each."""
        key = _ops(group)
        if (known := self._asked.get(key)) is None:
            known = self._asked[key] = self._legality.cost(self.cover, group)
        return known

    def rough_cost(self, group: Group) -> Cost | Refusal:
        """Cost of a group with the time of a fair schedule, where that needs no search."""
        if (known := self._asked.get(_ops(group))) is not None:
            return known
        bounds = self.bounds(group)
        if isinstance(bounds, Refusal) or (most := _fair(bounds)) is None:
            return self.legal_cost(group)
        return Cost(most, 0, self.cover.boundary_bytes(group))

    def needs_search(self, group: Group) -> bool:
        """Whether `rough_cost` would search for a schedule."""
        bounds = self.bounds(group)
        return not isinstance(bounds, Refusal) and _fair(bounds) is None

    def bounds(self, group: Group) -> Bounds | Refusal:
        """What a group takes at least and at most in µs, or why it is no kernel, without a search;
        the most is None where that takes one."""
        key = _ops(group)
        if (asked := self._asked.get(key)) is not None:
            return asked if isinstance(asked, Refusal) else Bounds(asked.us, asked.us)
        if (known := self._bounded.get(key)) is None:
            known = self._bounded[key] = self._legality.bounds(self.cover, group)
        return known

    def permits(self, group: Group, *, automatic: bool = True) -> Refusal | None:
        """What the options and the planner's own limits say; quick, before anything is asked.

        `automatic`: no named pattern proposed it; a name that is switched off is off for it too.
        """
        if self._picky:
            name = group.name or self.name_of(group.owned)
            if not self.options.allows(name, automatic=automatic):
                return Refusal("disabled", f"'{name}' is switched off")
        if len(group.borrowed) > MAX_VIEWS:
            return Refusal("max-views", "too many views between the operators of the group")
        if (many := imported_ops(self.dag, group)) > self.options.max_ops:
            return Refusal("max-ops", "the group would have too many operators", {"ops": many})
        if self.options.max_depth and self._depth(group) > self.options.max_depth:
            return Refusal(
                "max-depth", "the group would be too deep", {"max": self.options.max_depth}
            )
        return None

    def _depth(self, group: Group) -> int:
        depth: dict[int, int] = {}
        for i in sorted(group.owned):
            depth[i] = 1 + max((depth.get(o, 0) for o in self.dag.operands[i]), default=0)
        return max(depth.values(), default=0)

    def judge(
        self,
        keys: Iterable[int],
        merged: Group,
        *,
        automatic: bool = True,
        exact: bool = False,
    ) -> Refusal | None:
        """Why these groups should not be one: not legal, or by the objective no better than they.

        What is quick to refuse is asked first. Unless the figures have to be `exact`, nothing is
        asked where bounds of the times decide.
        """
        if (refused := self.permits(merged, automatic=automatic)) is not None:
            return refused
        wanted = list(keys)
        if any(self.cover.groups[k].closed for k in wanted):
            return Refusal("own-fusion", "an own fusion stays the kernel that it is")
        if len(wanted) > 1 and self.cover.makes_cycle(wanted):
            return Refusal("cycle", "the group would wait for itself")
        if not exact:
            bounds = self.bounds(merged)
            if isinstance(bounds, Refusal):
                return bounds
            decided = decide(self, wanted, merged, bounds)
            if decided is UNDECIDED:
                loss = self.near_loss([self.cover.groups[k] for k in wanted], merged)
                if loss is not None:
                    return not_profitable(loss.fused, loss.apart, near=True)
                decided = decide(self, wanted, merged, bounds) if bounds.refine() else UNDECIDED
            if decided is not UNDECIDED:
                return decided
        found = self.legal_cost(merged)
        if isinstance(found, Refusal):
            return found
        refused = weigh(self, wanted, merged, found, exact=exact)
        if refused is not None and isinstance(apart := refused.numbers.get("apart"), float):
            self.learn_loss([self.cover.groups[k] for k in wanted], merged, found.us, apart)
        return refused

    def near_loss(self, parts: Sequence[Group], merged: Group) -> Loss | None:
        """A merge of equal operators with sizes near these that lost clearly, where time counts."""
        kind = self._legality.kind(self.cover, merged) if self.objective == "time" else None
        return None if kind is None else self._losses.near(kind, cut_of(merged, parts))

    def learn_loss(self, parts: Sequence[Group], merged: Group, fused: float, apart: float) -> None:
        """Keeps a merge that lost clearly, with both times in µs."""
        kind = self._legality.kind(self.cover, merged) if fused >= CLEARLY * apart else None
        if kind is not None:
            self._losses.add(kind, cut_of(merged, parts), fused, apart)

    def affordable(self, after: float, before: float) -> bool:
        """Whether one kernel less is worth this time, both in µs."""
        return affordable(self.objective, after, before)

    def try_merge(
        self,
        keys: Iterable[int],
        name: str = "",
        borrowed: Iterable[int] = (),
        *,
        automatic: bool = True,
    ) -> bool:
        """Merge these groups if that is legal and better; a remark says what happened.

        Without a name the group gets that of the pattern that it is when the plan is complete.
        """
        wanted = sorted(set(keys))
        merged = self.merged((self.cover.groups[k] for k in wanted), name, borrowed)
        answer = self.judge(wanted, merged, automatic=automatic)
        if answer is not None:
            self.note("refused", merged.owned, name or self._joined(merged.owned), answer)
            return False
        self.replace(wanted, merged)
        if name:
            self.note("fused", merged.owned, name)
        return True


def _ops(group: Group) -> _Ops:
    return frozenset(group.owned), frozenset(group.borrowed)


def _fair(bounds: Bounds) -> float | None:
    """The time of a fair schedule in µs, where it says enough."""
    most = bounds.most
    return None if most is None or most > bounds.least + ROUGH else most
