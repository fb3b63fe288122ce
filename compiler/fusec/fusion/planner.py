"""Decides the groups of a function: named patterns by benefit, then automatic fusion, then views.

Patterns propose, legality permits, cost decides. Every step works on numbers; a merge that is tried
and not taken leaves a remark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fusec.config.fusion_options import FusionOptions
from fusec.fusion.absorb import MAX_VIEWS, absorb_movements
from fusec.fusion.dag import Dag
from fusec.fusion.group import Cover, Group
from fusec.fusion.legality import Cost, Legality
from fusec.fusion.patterns import matches_at
from fusec.fusion.patterns.own import OWN
from fusec.fusion.remarks import Remark
from fusec.fusion.siblings import merge_siblings
from fusec.schedule.types import Refusal
from fusec.semantics.classes import FusionClass

SLACK = 1e-9
"""A merge has to be better by more than rounding of the model's arithmetic."""

DEAREST = 4.0
"""One kernel less may take this many times longer, where kernels are counted."""


class Planner:
    """One plan for one function. `cover` and `remarks` are the result."""

    def __init__(self, dag: Dag, legality: Legality, options: FusionOptions) -> None:
        self.dag = dag
        self.cover = Cover.unfused(dag)
        self.remarks: list[Remark] = []
        self._legality = legality
        self._options = options
        self._costs: dict[int, Cost | Refusal] = {}

    @property
    def objective(self) -> str:
        """What a plan is judged by: "time", "bytes" or "kernels"."""
        return self._options.objective

    @property
    def enabled(self) -> bool:
        """Whether anything is fused."""
        return self._options.enabled

    @property
    def automatic(self) -> bool:
        """Whether groups may grow beyond named patterns."""
        return self._options.automatic

    def run(self) -> Cover:
        """Decide; without `enabled` every operator stays the kernel that it is."""
        if self._options.enabled:
            self._own()
            self._patterns()
            if self.automatic:
                self._greedy()
                merge_siblings(self)
            self._take_apart()
            absorb_movements(self)
        return self.cover

    def _take_apart(self) -> None:
        """Groups of less than the wanted number of operators are no groups."""
        for key, group in list(self.cover.groups.items()):
            if 1 < len(group.owned) < self._options.min_ops:
                places = tuple(self.dag.place(i) for i in sorted(group.owned))
                message = f"{len(group.owned)} operators, wanted {self._options.min_ops} at least"
                self.remarks.append(Remark("refused", group.name, places, "min-ops", message))
                self.cover.split(key)
                for i in group.owned:
                    self._costs.pop(i, None)

    def _own(self) -> None:
        for match in OWN.matches(self.dag):
            name = match.fusion.name
            keys = {self.cover.owner[i] for i in match.ops if i in self.cover.owner}
            owned = set[int]().union(*(self.cover.groups[k].owned for k in keys))
            if not owned or not owned.issubset(match.ops):
                continue  # views alone are no kernel; or something else has a part of it
            if match.seen:
                places = tuple(self.dag.place(i) for i in match.ops)
                escaped = ", ".join(self.dag.place(i) for i in match.seen)
                message = f"{escaped}: used outside of the fusion as well; make it an output"
                self.remarks.append(Remark("refused", name, places, "escapes", message))
                continue
            views = [i for i in match.ops if self.dag.is_access(i) and i not in self.cover.owner]
            if self.try_merge(keys, name, views, automatic=False):
                self.cover.groups[min(keys)].closed = True

    def _patterns(self) -> None:
        for op in range(len(self.dag.ops)):
            if self.dag.is_constant(op) or op not in self.cover.owner:
                continue
            if len(self.cover.groups[self.cover.owner[op]].owned) > 1:
                continue
            for match in matches_at(self.dag, op):
                keys = {self.cover.owner[i] for i in match.ops}
                if sum(len(self.cover.groups[k].owned) for k in keys) != len(match.ops):
                    continue
                if self.try_merge(keys, match.name, automatic=False):
                    break

    def _greedy(self) -> None:
        for op in range(len(self.dag.ops)):
            if op not in self.cover.owner or self.dag.is_access(op):
                continue
            self._merge_run(op)
            for source in self._sources(op):
                mine, other = self.cover.owner[op], self.cover.owner[source]
                if mine != other:
                    self.try_merge((mine, other), self.name_of((mine, other)))

    def _merge_run(self, op: int) -> None:
        """Elementwise operators in a row become one group at once, before any joins what is ahead
        of the first: one question in place of one for each."""
        if not self._is_plain(op) or any(self._is_plain(s) for s in self._direct_sources(op)):
            return
        run = [op]
        while len(run) < self._options.max_ops:
            user = self.dag.only_user(run[-1])
            if user is None or not self._is_plain(user):
                break
            run.append(user)
        if len(run) > 2:
            self.try_merge({self.cover.owner[i] for i in run}, self.name_of(map(self._key, run)))

    def _key(self, op: int) -> int:
        return self.cover.owner[op]

    def _is_plain(self, op: int) -> bool:
        """An elementwise operator that is still a kernel of its own."""
        names = self.dag.classes[op] == FusionClass.ELEMENTWISE
        if not names and self.dag.names[op] != "batch_normalization":
            return False
        key = self.cover.owner.get(op)
        return key is not None and len(self.cover.groups[key].owned) == 1

    def _direct_sources(self, op: int) -> Iterator[int]:
        """Compute operators whose results an operator reads as they are."""
        for source in dict.fromkeys(self.dag.operands[op]):
            if source in self.cover.owner and not self.dag.is_access(source):
                yield source

    def _sources(self, op: int) -> Iterator[int]:
        """Compute operators whose results an operator reads as they are, or in another shape."""
        direct = list(self._direct_sources(op))
        yield from direct
        for source in dict.fromkeys(self.dag.operands[op]):
            root = self.dag.root(source) if source >= 0 and source not in self.cover.owner else -1
            known = root < 0 or root in direct or root not in self.cover.owner
            if not known and not self.dag.is_access(root):
                yield root

    def name_of(self, keys: Iterable[int]) -> str:
        """The named pattern that a merged group is, else its parts' names joined."""
        ops = sorted(i for k in keys for i in self.cover.groups[k].owned)
        for anchor in ops:
            for match in matches_at(self.dag, anchor):
                if list(match.ops) == ops:
                    return match.name
        names = [self.dag.names[i] for i in ops]
        return "_".join(names) if len(names) <= 4 else f"auto_{names[0]}_{names[-1]}_{len(names)}"

    def cost_of(self, key: int) -> Cost | Refusal:
        """Cost of a group as it is."""
        if key not in self._costs:
            self._costs[key] = self._legality.cost(self.cover, self.cover.groups[key])
        return self._costs[key]

    def hosted(self) -> set[int]:
        """Operators, each a group by itself, that no kernel computes."""
        found: set[int] = set()
        for key, group in self.cover.groups.items():
            alone = len(group.owned) == 1 and not self.cover.is_settled(group)
            if alone and isinstance(self.cost_of(key), Refusal):
                found |= group.owned
        return found

    def set_cost(self, key: int, cost: Cost) -> None:
        """Remember what a changed group costs."""
        self._costs[key] = cost

    def legal_cost(self, group: Group) -> Cost | Refusal:
        """Cost of a group that does not stand in the cover."""
        return self._legality.cost(self.cover, group)

    def replace(self, keys: Iterable[int], group: Group, cost: Cost | Refusal) -> None:
        """A group takes the place of those that hold its operators, all of them."""
        first, *others = sorted(keys)
        for key in others:
            del self.cover.groups[key]
        self.cover.groups[first] = group
        self.cover.owner.update(dict.fromkeys(group.owned, first))
        self._costs[first] = cost

    def take_views(self, key: int, group: Group, views: set[int]) -> bool:
        """Views behind a group's result become its own, one of them having been a kernel."""
        merged = Group(group.owned | views, group.name, set(group.borrowed))
        cost = self.legal_cost(merged)
        if isinstance(cost, Refusal):
            return False
        for i in views:
            if (old := self.cover.owner.get(i)) is not None:
                del self.cover.groups[old]
            self.cover.owner[i] = key
        group.owned |= views
        self._costs[key] = cost
        return True

    def judge(
        self, keys: Iterable[int], merged: Group, *, automatic: bool = True
    ) -> Cost | Refusal:
        """Cost of the merged group where it is legal and, by the objective, better than its parts.

        `automatic`: no named pattern proposed it. What is quick to refuse is asked first.
        """
        if not self._options.allows(merged.name, automatic=automatic):
            return Refusal("disabled", f"'{merged.name}' is switched off")
        if len(merged.borrowed) > MAX_VIEWS:
            return Refusal("max-views", "too many views between the operators of the group")
        if len(merged.owned) > self._options.max_ops:
            return Refusal(
                "max-ops", "the group would have too many operators", {"ops": len(merged.owned)}
            )
        if self._options.max_depth and self._depth(merged) > self._options.max_depth:
            return Refusal(
                "max-depth", "the group would be too deep", {"max": self._options.max_depth}
            )
        wanted = list(keys)
        if any(self.cover.groups[k].closed for k in wanted):
            return Refusal("own-fusion", "an own fusion stays the kernel that it is")
        if len(wanted) > 1 and self.cover.makes_cycle(wanted):
            return Refusal("cycle", "the group would wait for itself")
        found = self._legality.cost(self.cover, merged)
        if isinstance(found, Refusal):
            return found
        if self.objective != "bytes":
            known = (self._costs.get(k) for k in wanted)
            least = sum(
                c.us
                if isinstance(c, Cost)
                else self._legality.least_us(self.cover, self.cover.groups[k])
                for k, c in zip(wanted, known, strict=True)
            )
            if not isinstance(self._profitable(found, [Cost(least, 0)]), Refusal):
                return found
        parts = [self.cost_of(k) for k in wanted]
        costs = [p for p in parts if isinstance(p, Cost)]
        if len(costs) < len(parts):
            return found
        return self._profitable(found, costs)

    def affordable(self, after: float, before: float) -> bool:
        """Whether one kernel less is worth this time, both in µs."""
        dearest = {"time": 1.0, "kernels": DEAREST}.get(self.objective)
        return dearest is None or after <= before * dearest

    def _profitable(self, merged: Cost, parts: list[Cost]) -> Cost | Refusal:
        objective = self.objective
        moved = objective == "bytes"
        before = sum(p.gm_bytes if moved else p.us for p in parts)
        after = merged.gm_bytes if moved else merged.us
        if after < (before * DEAREST if objective == "kernels" else before - SLACK):
            return merged
        unit = "bytes" if moved else "us"
        return Refusal(
            "not-profitable",
            f"{after:.1f} {unit} fused against {before:.1f} {unit} apart (modelled)",
            {"fused": after, "apart": before},
        )

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

    def _depth(self, group: Group) -> int:
        depth: dict[int, int] = {}
        for i in sorted(group.owned):
            depth[i] = 1 + max((depth.get(o, 0) for o in self.dag.operands[i]), default=0)
        return max(depth.values(), default=0)

    def try_merge(
        self,
        keys: Iterable[int],
        name: str,
        borrowed: Iterable[int] = (),
        *,
        automatic: bool = True,
    ) -> bool:
        """Merge these groups if that is legal and better; a remark says what happened."""
        wanted = sorted(set(keys))
        groups = [self.cover.groups[k] for k in wanted]
        owned: set[int] = set()
        for group in groups:
            owned |= group.owned
        merged = Group(owned, name)
        inside = set(borrowed) | self._views_between(owned)
        merged.borrowed = inside.union(*(g.borrowed for g in groups)) - merged.owned
        answer = self.judge(wanted, merged, automatic=automatic)
        places = tuple(self.dag.place(i) for i in sorted(merged.owned))
        if isinstance(answer, Refusal):
            self.remarks.append(
                Remark("refused", name, places, answer.reason, answer.message, answer.numbers)
            )
            return False
        self.cover.merge(wanted, name, inside)
        for key in wanted:
            self._costs.pop(key, None)
        self._costs[wanted[0]] = answer
        self.remarks.append(Remark("fused", name, places))
        return True
