"""The rewrite driver: rules by root operator and benefit, a cap, counts of what fired, locations
kept.

A rule looks at one operator and either replaces it through the Rewriter or says no. What it made
carries the locations of all that it was made of.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from fusec.rewrite.keep_locations import Gone, keep_locations
from fusec.rewrite.statistics import RuleCounts, listening_counts
from fusec.rewrite.trace import Fired, endless
from fusec_dialects.graph import (
    AttrValue,
    CallOp,
    ConstantOp,
    FusedOp,
    GraphOp,
    OpaqueOp,
    WeightOp,
    build,
)
from fusec_dialects.place import place

PURE = (GraphOp, ConstantOp, WeightOp, OpaqueOp, FusedOp, CallOp)
"""Operators that go away when nobody uses their results."""


class Rewriter:
    """Replaces one operator; what is inserted stands before it.

    `values` are what the operator's results became. A rule sets `found` where its expression is
    there, also if it says no for another reason.
    """

    def __init__(self, op: Operation) -> None:
        self._op = op
        self.inserted: list[Operation] = []
        self.values: Sequence[SSAValue] = ()
        self.found = False

    def insert(self, op: Operation) -> Operation:
        """Put an operator before the one that is being replaced."""
        op.location = self._op.location
        block = self._op.parent
        if block is None:
            raise ValueError("the operator stands in no block")
        block.insert_op_before(op, self._op)
        self.inserted.append(op)
        return op

    def build(
        self,
        name: str,
        operands: Sequence[SSAValue],
        attrs: Mapping[str, AttrValue | Attribute] | None = None,
        types: Sequence[Attribute] | None = None,
    ) -> SSAValue:
        """Insert an operator of the graph dialect; types follow from the operands if not given.

        Raises VerifyException where the operands contradict each other: a rule checks before.
        """
        return self.insert(build(name, operands, attrs, types)).results[0]

    def replace(self, *values: SSAValue) -> bool:
        """The operator's results become these values; the operator goes away. Always True."""
        for old, new in zip(self._op.results, values, strict=True):
            if new.name_hint is None:
                new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        self.values = values
        return True

    def undo(self) -> None:
        """Take back what a rule inserted before it said no."""
        for op in reversed(self.inserted):
            op.detach()
            op.erase()
        self.inserted.clear()
        self.found = False


@dataclass(frozen=True)
class Rule:
    """`apply(op, rewriter)` gives True after it replaced the operator.

    An operator is tried again when one of its operands or users changed, and when it becomes the
    only user of an operand.
    """

    name: str
    roots: tuple[str, ...]
    apply: Callable[[GraphOp, Rewriter], bool]
    benefit: int = 1


class _Worklist:
    """Operators to try, each once at a time, with the rewrite that is the reason; those
    without a rule are left out."""

    def __init__(self, roots: Mapping[str, Sequence[Rule]], ops: Iterable[Operation]) -> None:
        self._roots = roots
        self._queue: deque[Operation] = deque()
        self._waiting: dict[Operation, Fired | None] = {}
        self.gone: set[Operation] = set()
        self.add(ops, None)

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[tuple[GraphOp, Fired | None]]:
        while self._queue:
            op = self._queue.popleft()
            cause = self._waiting.pop(op)
            if op not in self.gone and isinstance(op, GraphOp):
                yield op, cause

    def add(self, ops: Iterable[Operation], cause: Fired | None) -> None:
        for op in ops:
            if op.name in self._roots and op not in self._waiting and op not in self.gone:
                self._queue.append(op)
                self._waiting[op] = cause


def run_rules(module: ModuleOp, rules: Sequence[Rule], cap: int | None = None) -> Counter[str]:
    """Apply rules until none fires; gives how often each did.

    Of the rules of one root operator the one with more benefit is tried first. Raises
    PassFailedException naming the rules that undo each other when `cap` rewrites were not enough
    (default: 8 for each operator).
    """
    by_root: dict[str, list[Rule]] = defaultdict(list)
    for rule in sorted(rules, key=lambda r: -r.benefit):
        for root in rule.roots:
            by_root[root].append(rule)
    work = _Worklist(by_root, module.walk())
    cap = 8 * len(work) + 64 if cap is None else cap
    fired: Counter[str] = Counter()
    counts = listening_counts()
    if counts is not None:
        counts.update({rule.name: RuleCounts() for rule in rules if rule.name not in counts})
    deepest: Fired | None = None
    for op, cause in work:
        users = [use.operation for r in op.results for use in r.uses]
        inputs = [o.owner for o in op.operands if isinstance(o.owner, Operation)]
        rewriter = Rewriter(op)
        rule = _first_that_fires(by_root[op.name], op, rewriter, counts)
        if rule is None:
            continue
        fired[rule.name] += 1
        made = tuple(new.name for new in rewriter.inserted if isinstance(new, GraphOp))
        now = Fired(rule.name, op.name, made, cause, 0 if cause is None else cause.depth + 1)
        if deepest is None or now.depth > deepest.depth:
            deepest = now
        if fired.total() > cap:
            raise PassFailedException(f"{place(op)}: {endless(deepest, fired.most_common())}")
        gone, alone = _erase_dead(op)
        work.gone.update(erased.op for erased in gone)
        keep_locations(op, rewriter.inserted, rewriter.values, gone)
        work.add((*rewriter.inserted, *users, *inputs, *alone), now)
    return fired


def _first_that_fires(
    rules: Sequence[Rule], op: GraphOp, rewriter: Rewriter, counts: dict[str, RuleCounts] | None
) -> Rule | None:
    for rule in rules:
        done = rule.apply(op, rewriter)
        if counts is not None:
            count = counts[rule.name]
            count.tried += 1
            count.matched += done or rewriter.found or bool(rewriter.inserted)
            count.applied += done
        if done:
            return rule
        rewriter.undo()
    return None


def _erase_dead(op: Operation) -> tuple[list[Gone], list[Operation]]:
    """Erase an operator and the producers that only it used.

    Gives what went away, users before producers, and the operators that became the only user of
    something.
    """
    gone: dict[Operation, Gone] = {}
    alone: list[Operation] = []
    stack = [op]
    while stack:
        top = stack.pop()
        if top in gone or not top.results or any(r.first_use for r in top.results):
            continue
        operands = list(top.operands)
        block = top.parent
        if not isinstance(block, Block):
            continue
        block.erase_op(top)
        gone[top] = Gone(top, operands)
        for operand in operands:
            if isinstance(operand.owner, PURE) and operand.first_use is None:
                stack.append(operand.owner)
            elif (use := operand.first_use) is not None and operand.has_one_use():
                alone.append(use.operation)
    return list(gone.values()), alone


def erase_dead_code(block: Block) -> int:
    """Erase pure operators whose results nobody uses; gives how many."""
    count = 0
    for op in reversed(list(block.ops)):
        if isinstance(op, PURE) and not any(r.first_use for r in op.results):
            block.erase_op(op)
            count += 1
    return count
