"""Own fusions that bring a kernel: where one fits, is legal and pays, an operator takes its place.

In: a function's block before planning. Out: the same with those operators, which no other kernel
takes in; a remark for each place where a fusion fitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from xdsl.ir import Block, Operation, SSAValue

from fusec.config.fusion_options import FusionOptions
from fusec.fusion.dag import Dag
from fusec.fusion.group import Cover, Group, imported_ops
from fusec.fusion.legality import Cost, Legality
from fusec.fusion.objective import profitable
from fusec.fusion.patterns.own import OWN, OwnMatch
from fusec.fusion.remarks import Remark
from fusec.hw import Target
from fusec.schedule.own import KERNELS
from fusec.schedule.types import Refusal
from fusec_dialects.graph import OPERATORS, GraphOp
from fusec_dialects.locations import joined


def put_own_kernels(
    block: Block, legality: Legality, target: Target, options: FusionOptions
) -> list[Remark]:
    """Replaces what own fusions with a kernel take; nothing where fusion is off.

    Raises FusionError, of whoever registered the kernel, for one that computes something else.
    """
    if not options.enabled or not any(name in KERNELS for name in OWN.fusions):
        return []
    dag = Dag.of(block)
    found = _Rewriter(block, dag, Cover.unfused(dag), legality, target, options)
    for match in OWN.matches(dag):
        if not found.taken.isdisjoint(match.ops):
            continue
        if match.fusion.name in KERNELS:
            found.take(match)
        else:
            found.leave(match)
    if found.moved:
        _sort(block)
    return found.remarks


@dataclass
class _Rewriter:
    """`new` has the value that took the place of each old one, `taken` the operators gone."""

    block: Block
    dag: Dag
    cover: Cover
    legality: Legality
    target: Target
    options: FusionOptions
    remarks: list[Remark] = field(default_factory=list[Remark])
    new: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    taken: set[int] = field(default_factory=set[int])
    moved: bool = False

    def take(self, match: OwnMatch) -> None:
        """Replaces one match, or says why not."""
        dag, name = self.dag, match.fusion.name
        places = dag.named(match.ops)
        refusal = self._refusal(match)
        if refusal is None:
            made = self._operator(match)
            refusal = self._cost(match, made)
            if refusal is None:
                self._replace(match, made)
                self.remarks.append(Remark("fused", name, places))
                return
            made.erase()
        self.remarks.append(
            Remark("refused", name, places, refusal.reason, refusal.message, refusal.numbers)
        )

    def leave(self, match: OwnMatch) -> None:
        """Leaves what a fusion without a kernel will take to the planner, from kernels of less
        benefit."""
        owned, views = _owned(self.cover, match), set(match.ops)
        group = Group(owned, match.fusion.name, views - owned)
        if not owned or self._refusal(match) is not None:
            return
        cost = self.legality.cost(self.cover, group)
        if isinstance(cost, Cost) and self._pays(match, cost) is None:
            self.taken.update(match.ops)

    def _refusal(self, match: OwnMatch) -> Refusal | None:
        """What forbids a match, whatever it costs."""
        dag, options, owned = self.dag, self.options, _owned(self.cover, match)
        if not options.allows(match.fusion.name):
            return Refusal("disabled", f"'{match.fusion.name}' is switched off")
        if match.seen:
            seen = ", ".join(dag.place(i) for i in match.seen)
            return Refusal(
                "escapes", f"{seen}: used outside of the fusion as well; make it an output"
            )
        count = imported_ops(dag, Group(owned, match.fusion.name))
        if count > options.max_ops:
            return Refusal("max-ops", "the group would have too many operators", {"ops": count})
        if count < options.min_ops:
            return Refusal("min-ops", f"{count} operators, wanted {options.min_ops} at least")
        if options.max_depth and _depth(dag, owned) > options.max_depth:
            return Refusal("max-depth", "the group would be too deep", {"max": options.max_depth})
        if len(owned) > 1 and self.cover.makes_cycle(owned):
            return Refusal("cycle", "the group would wait for itself")
        return None

    def _operator(self, match: OwnMatch) -> GraphOp:
        """The operator of the fusion, standing nowhere yet."""
        dag, fusion = self.dag, match.fusion
        values = [match.values[f"i{k}"] for k in range(fusion.inputs)]
        results = [dag.ops[match.at[term]].results[0] for term in fusion.outputs]
        made = OPERATORS[fusion.name].make(
            [self.new.get(v, v) for v in values], [r.type for r in results]
        )
        made.location = joined(
            [dag.ops[i].location for i in match.ops[:-1]], [dag.ops[match.ops[-1]].location]
        )
        return made

    def _cost(self, match: OwnMatch, made: GraphOp) -> Refusal | None:
        """Why the kernel does not pay against its operators apart, or cannot be built."""
        own = KERNELS[match.fusion.name].estimate(made, self.target)
        if isinstance(own, Refusal):
            return own
        return self._pays(match, Cost(own.us, own.gm_bytes, own.gm_bytes))

    def _pays(self, match: OwnMatch, merged: Cost) -> Refusal | None:
        """None where one kernel is better than its operators apart, or one of these has none."""
        parts = [
            self.legality.cost(self.cover, Group({i}, self.dag.names[i]))
            for i in _owned(self.cover, match)
        ]
        costs = [part for part in parts if isinstance(part, Cost)]
        if len(costs) < len(parts):
            return None
        return profitable(self.options.objective, merged, costs)

    def _replace(self, match: OwnMatch, made: GraphOp) -> None:
        dag = self.dag
        self.block.insert_op_before(made, dag.ops[match.ops[-1]])
        for term, new in zip(match.fusion.outputs, made.results, strict=True):
            old = dag.ops[match.at[term]].results[0]
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
            self.new[old] = new
        for i in reversed(match.ops):
            if not any(r.first_use for r in dag.ops[i].results):
                self.block.erase_op(dag.ops[i])
        self.taken.update(match.ops)
        self.cover.merge(_owned(self.cover, match), match.fusion.name)
        self.moved = self.moved or len(made.results) > 1


def _owned(cover: Cover, match: OwnMatch) -> set[int]:
    """The operators of a match that are work."""
    return {i for i in match.ops if i in cover.owner}


def _depth(dag: Dag, owned: set[int]) -> int:
    depth: dict[int, int] = {}
    for i in sorted(owned):
        depth[i] = 1 + max((depth.get(o, 0) for o in dag.operands[i]), default=0)
    return max(depth.values(), default=0)


def _sort(block: Block) -> None:
    """Every operator behind what it reads, else in the order that there was."""
    ops = list(block.ops)
    number = {op: i for i, op in enumerate(ops)}
    readers: Mapping[Operation, list[int]] = {op: [] for op in ops}
    waiting = [0] * len(ops)
    for i, op in enumerate(ops):
        for owner in {o.owner for o in op.operands}:
            if isinstance(owner, Operation) and owner in number:
                readers[owner].append(i)
                waiting[i] += 1
    ready = [i for i, count in enumerate(waiting) if not count]
    heapify(ready)
    last = ops[-1]
    for op in ops[:-1]:
        op.detach()
    while ready:
        op = ops[heappop(ready)]
        if op is not last:
            block.insert_op_before(op, last)
        for reader in readers[op]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heappush(ready, reader)
