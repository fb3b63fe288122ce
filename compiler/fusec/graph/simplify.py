"""graph-simplify: operators that do nothing, cancel or are known go away; equal ones become one.

Every rule is exact: the same bits, signs of zero included (x + 0 stays, x - 0, x * 1 and x / 1 go).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from fusec.graph.query import dims, ints, producer, reduced
from fusec.graph.simplify_moves import MOVE_RULES, becomes
from fusec.graph.simplify_pads import PAD_RULES
from fusec.graph.simplify_transposes import TRANSPOSE_RULES
from fusec.graph.simplify_values import VALUE_RULES
from fusec.rewrite.driver import Rewriter, Rule, erase_dead_code, run_rules
from fusec.semantics import SemanticsError, evaluate
from fusec.semantics.interpreter import constant_array, semantic_attrs
from fusec.semantics.types import tensor_bytes, tensor_of
from fusec_dialects.graph import OPERATORS, ConstantOp, GraphOp, WeightOp
from fusec_dialects.graph.base import attribute, tensor_type
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.sizes import UNNAMED
from fusec_dialects.locations import joined

FOLDED_BYTES = 64
"""Results up to this size are folded into the text; larger ones belong to `@weights`."""

VIEWS = ("reshape", "squeeze", "unsqueeze", "flatten")


def _identity(op: GraphOp, rewriter: Rewriter) -> bool:
    return becomes(op, rewriter, op.operands[0])


def _same_type(op: GraphOp, rewriter: Rewriter) -> bool:
    """A view or cast to the type that is there already; of two unnamed sizes any may be meant."""
    unnamed = dims(op.operands[0]).count(UNNAMED)
    certain = op.op_name == "cast" or unnamed == 0 or (unnamed == 1 and op.op_name != "expand")
    return certain and becomes(op, rewriter, op.operands[0])


def _transpose(op: GraphOp, rewriter: Rewriter) -> bool:
    perm = ints(op, "perm")
    if perm == tuple(range(len(perm))):
        return becomes(op, rewriter, op.operands[0])
    inner = producer(op.operands[0], "transpose")
    if inner is None:
        return False
    first = ints(inner, "perm")
    both = tuple(first[p] for p in perm)
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("transpose", [inner.operands[0]], {"perm": both}, types))


def _view_of_view(op: GraphOp, rewriter: Rewriter) -> bool:
    """One reshape, which can only find one size that is not known."""
    inner = producer(op.operands[0], *VIEWS)
    if inner is None:
        return False
    source = inner.operands[0]
    if source.type == op.results[0].type and dims(source).count(UNNAMED) <= 1:
        return rewriter.replace(source)
    if sum(isinstance(d, str) for d in dims(op.results[0])) > 1:
        return False
    return rewriter.replace(rewriter.build("reshape", [source], types=[op.results[0].type]))


def _fold(op: GraphOp, rewriter: Rewriter) -> bool:
    """An operator on inline constants with a small static result is evaluated."""
    owners = [o.owner for o in op.operands if isinstance(o.owner, ConstantOp)]
    types = [tensor_type(r) for r in op.results]
    if not owners or len(owners) < len(op.operands):
        return False
    if not all(t.has_static_shape() for t in types) or sum(map(tensor_bytes, types)) > FOLDED_BYTES:
        return False
    try:
        arrays = evaluate(op.op_name, [constant_array(o) for o in owners], semantic_attrs(op))
    except SemanticsError:
        return False
    found = [tensor_of(a.dtype, a.shape) for a in arrays]
    if found != types:
        return False
    new = [
        rewriter.insert(ConstantOp(dense(type_, array.tobytes()))).results[0]
        for type_, array in zip(types, arrays, strict=True)
    ]
    return rewriter.replace(*new)


def _rules() -> tuple[Rule, ...]:
    def rule(
        name: str, roots: str, apply: Callable[[GraphOp, Rewriter], bool], benefit: int = 1
    ) -> Rule:
        return Rule(name, tuple(f"graph.{r}" for r in roots.split()), apply, benefit)

    return (
        rule("identity", "identity", _identity, 3),
        rule("same-type", "reshape expand cast squeeze unsqueeze flatten", _same_type, 3),
        rule("transpose", "transpose", _transpose, 2),
        rule("view-of-view", " ".join(VIEWS), _view_of_view, 2),
        rule("fold", " ".join(OPERATORS), _fold, 1),
        *VALUE_RULES,
        *MOVE_RULES,
        *PAD_RULES,
        *TRANSPOSE_RULES,
    )


RULES = _rules()


_EITHER_ORDER = frozenset({"add", "mul", "and", "or", "xor", "equal"})
"""Operators whose operands may change places without a bit of difference."""


def _key(op: Operation, number: dict[SSAValue, int]) -> object:
    """What two operators that compute the same have in common; axes count from the front."""
    operands = [number.setdefault(o, len(number)) for o in op.operands]
    properties = dict(op.properties)
    if isinstance(op, GraphOp):
        if op.op_name in _EITHER_ORDER:
            operands.sort()
        if "axes" in properties and op.op_name.startswith("reduce_"):
            properties["axes"] = attribute(reduced(op))
    types = tuple(r.type for r in op.results)
    attributes = (tuple(sorted(a.items())) for a in (properties, op.attributes))
    return op.name, tuple(operands), *attributes, types


def merge_equal(block: Block) -> int:
    """Common subexpressions of a block become one; gives how many went away."""
    known: dict[object, Operation] = {}
    number: dict[SSAValue, int] = {}
    count = 0
    for op in list(block.ops):
        if not isinstance(op, GraphOp | ConstantOp | WeightOp):
            continue
        first = known.setdefault(_key(op, number), op)
        if first is op:
            continue
        for old, new in zip(op.results, first.results, strict=True):
            old.replace_all_uses_with(new)
        if isinstance(first, GraphOp):
            first.location = joined([op.location], [first.location])
        block.erase_op(op)
        count += 1
    return count


ROUNDS = 4
"""At most so often are common subexpressions looked for again after rules."""


def simplify(module: ModuleOp) -> None:
    """All of it: dead code, common subexpressions, rules, until nothing is common any more."""
    blocks = [
        function.body.block
        for function in module.body.block.ops
        if isinstance(function, FuncOp) and function.body.blocks
    ]
    for _ in range(ROUNDS):
        for block in blocks:
            erase_dead_code(block)
            merge_equal(block)
        fired = run_rules(module, RULES)
        if not fired:
            break
    for block in blocks:
        erase_dead_code(block)


@dataclass(frozen=True)
class GraphSimplifyPass(ModulePass):
    """Remove what does nothing, fold small constants, merge equal operators, drop dead ones."""

    name = "graph-simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        simplify(op)
