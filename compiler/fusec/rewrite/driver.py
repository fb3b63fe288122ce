"""The rewrite driver: rules by root operator and benefit, a cap, counts of what fired, locations
kept.

A rule looks at one operator and either replaces it through the Rewriter or says no.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

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
    """Replaces one operator; what is inserted stands before it and takes its location."""

    def __init__(self, op: Operation) -> None:
        self._op = op
        self.inserted: list[Operation] = []

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
        return True

    def undo(self) -> None:
        """Take back what a rule inserted before it said no."""
        for op in reversed(self.inserted):
            op.detach()
            op.erase()
        self.inserted.clear()


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
    """Operators to try, each once at a time; those without a rule are left out."""

    def __init__(self, roots: Mapping[str, Sequence[Rule]], ops: Iterable[Operation]) -> None:
        self._roots = roots
        self._queue: deque[Operation] = deque()
        self._waiting: set[Operation] = set()
        self.gone: set[Operation] = set()
        self.add(ops)

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[GraphOp]:
        while self._queue:
            op = self._queue.popleft()
            self._waiting.discard(op)
            if op not in self.gone and isinstance(op, GraphOp):
                yield op

    def add(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            if op.name in self._roots and op not in self._waiting and op not in self.gone:
                self._queue.append(op)
                self._waiting.add(op)


def run_rules(module: ModuleOp, rules: Sequence[Rule], cap: int | None = None) -> Counter[str]:
    """Apply rules until none fires; gives how often each did.

    Of the rules of one root operator the one with more benefit is tried first. Raises
    PassFailedException naming the rule that fires most when `cap` rewrites were not enough
    (default: 8 for each operator), since then rules undo each other.
    """
    by_root: dict[str, list[Rule]] = defaultdict(list)
    for rule in sorted(rules, key=lambda r: -r.benefit):
        for root in rule.roots:
            by_root[root].append(rule)
    work = _Worklist(by_root, module.walk())
    cap = 8 * len(work) + 64 if cap is None else cap
    fired: Counter[str] = Counter()
    for op in work:
        users = [use.operation for r in op.results for use in r.uses]
        inputs = [o.owner for o in op.operands if isinstance(o.owner, Operation)]
        rewriter = Rewriter(op)
        rule = _first_that_fires(by_root[op.name], op, rewriter)
        if rule is None:
            continue
        fired[rule.name] += 1
        if fired.total() > cap:
            raise PassFailedException(_endless(fired, op))
        work.add((*rewriter.inserted, *users, *inputs, *_erase_dead(op, work.gone)))
    return fired


def _first_that_fires(rules: Sequence[Rule], op: GraphOp, rewriter: Rewriter) -> Rule | None:
    for rule in rules:
        if rule.apply(op, rewriter):
            return rule
        rewriter.undo()
    return None


def _endless(fired: Counter[str], op: Operation) -> str:
    worst, count = fired.most_common(1)[0]
    others = [f"'{name}' ({n} times)" for name, n in fired.most_common(3)[1:]]
    with_ = f", with {' and '.join(others)}" if others else ""
    return (
        f"{place(op)}: rewriting does not end: rule '{worst}' fired {count} times{with_}; "
        "rules undo each other"
    )


def _erase_dead(op: Operation, gone: set[Operation]) -> list[Operation]:
    """Erase an operator and the producers that only it used, which go into `gone`.

    Gives the operators that became the only user of something.
    """
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
        gone.add(top)
        for operand in operands:
            if isinstance(operand.owner, PURE) and operand.first_use is None:
                stack.append(operand.owner)
            elif (use := operand.first_use) is not None and operand.has_one_use():
                alone.append(use.operation)
    return alone


def erase_dead_code(block: Block) -> int:
    """Erase pure operators whose results nobody uses; gives how many."""
    count = 0
    for op in reversed(list(block.ops)):
        if isinstance(op, PURE) and not any(r.first_use for r in op.results):
            block.erase_op(op)
            count += 1
    return count
