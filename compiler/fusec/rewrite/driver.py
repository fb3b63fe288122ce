"""The rewrite driver: rules by root operator and benefit, a cap, counts of what fired, locations
kept.

A rule looks at one operator and either replaces it through the Rewriter or says no.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from fusec_dialects.graph import OPERATORS, AttrValue, GraphOp
from fusec_dialects.graph.shapes import infer_types


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
        """Insert an operator of the graph dialect; types follow from the operands if not given."""
        cls = OPERATORS[name]
        if types is None:
            draft = cls.make(operands, [operands[0].type], attrs)
            types = infer_types(draft) or [operands[0].type]
            draft.erase()
        return self.insert(cls.make(operands, types, attrs)).results[0]

    def replace(self, *values: SSAValue) -> bool:
        """The operator's results become these values; the operator goes away. Always True."""
        for old, new in zip(self._op.results, values, strict=True):
            if new.name_hint is None:
                new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        return True


@dataclass(frozen=True)
class Rule:
    """`apply(op, rewriter)` gives True after it replaced the operator."""

    name: str
    roots: tuple[str, ...]
    apply: Callable[[GraphOp, Rewriter], bool]
    benefit: int = 1


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
    queue: deque[Operation] = deque(op for op in module.walk() if op.name in by_root)
    waiting = set(queue)
    gone: set[Operation] = set()
    left = cap if cap is not None else 8 * len(queue) + 64
    fired: Counter[str] = Counter()
    while queue:
        op = queue.popleft()
        waiting.discard(op)
        if op in gone or not isinstance(op, GraphOp):
            continue
        users = [use.operation for r in op.results for use in r.uses]
        inputs = [o.owner for o in op.operands if isinstance(o.owner, Operation)]
        rewriter = Rewriter(op)
        rule = next((r for r in by_root[op.name] if r.apply(op, rewriter)), None)
        if rule is None:
            continue
        fired[rule.name] += 1
        left -= 1
        if left < 0:
            worst, count = fired.most_common(1)[0]
            raise PassFailedException(
                f"rewriting does not end: rule '{worst}' fired {count} times; "
                "two rules undo each other"
            )
        gone |= _erase_dead(op)
        for other in (*rewriter.inserted, *users, *inputs):
            if other not in waiting and other not in gone and other.name in by_root:
                queue.append(other)
                waiting.add(other)
    return fired


def _erase_dead(op: Operation) -> set[Operation]:
    """Erase an operator and the producers that only it used."""
    gone: set[Operation] = set()
    stack = [op]
    while stack:
        top = stack.pop()
        if top in gone or any(r.first_use for r in top.results) or not top.results:
            continue
        producers = [o.owner for o in top.operands if isinstance(o.owner, Operation)]
        block = top.parent
        if not isinstance(block, Block):
            continue
        block.erase_op(top)
        gone.add(top)
        stack.extend(producers)
    return gone


def erase_dead_code(block: Block) -> int:
    """Erase pure operators whose results nobody uses; gives how many."""
    count = 0
    for op in reversed(list(block.ops)):
        if op.results and not any(r.first_use for r in op.results):
            block.erase_op(op)
            count += 1
    return count
