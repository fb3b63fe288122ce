"""graph-simplify: operators that do nothing, cancel or are known go away; equal ones become one.

Every rule is exact: the same bits, signs of zero included (x + 0 stays, x - 0, x * 1 and x / 1 go).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import copysign
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from fusec.rewrite.driver import Rewriter, Rule, erase_dead_code, run_rules
from fusec.rewrite.match import scalar_of
from fusec.semantics import SemanticsError, evaluate
from fusec.semantics.interpreter import constant_array, semantic_attrs
from fusec.semantics.types import tensor_of
from fusec_dialects.graph import ConstantOp, GraphOp, WeightOp
from fusec_dialects.graph.base import python_value
from fusec_dialects.graph.dense import dense

FOLDED_BYTES = 64
"""Results up to this size are folded into the text; larger ones belong to `@weights`."""

VIEWS = ("reshape", "squeeze", "unsqueeze", "flatten")


def _producer(value: SSAValue, *names: str) -> GraphOp | None:
    owner = value.owner
    return owner if isinstance(owner, GraphOp) and owner.op_name in names else None


def _identity(op: GraphOp, rewriter: Rewriter) -> bool:
    return rewriter.replace(op.operands[0])


def _same_type(op: GraphOp, rewriter: Rewriter) -> bool:
    """A view or cast to the type that is there already."""
    if op.operands[0].type != op.results[0].type:
        return False
    return rewriter.replace(op.operands[0])


def _transpose(op: GraphOp, rewriter: Rewriter) -> bool:
    perm = cast(tuple[int, ...], python_value(op.properties["perm"]))
    if perm == tuple(range(len(perm))):
        return rewriter.replace(op.operands[0])
    inner = _producer(op.operands[0], "transpose")
    if inner is None:
        return False
    first = cast(tuple[int, ...], python_value(inner.properties["perm"]))
    both = tuple(first[p] for p in perm)
    return rewriter.replace(rewriter.build("transpose", [inner.operands[0]], {"perm": both}))


def _view_of_view(op: GraphOp, rewriter: Rewriter) -> bool:
    inner = _producer(op.operands[0], *VIEWS)
    if inner is None:
        return False
    if inner.operands[0].type == op.results[0].type:
        return rewriter.replace(inner.operands[0])
    new = rewriter.build("reshape", [inner.operands[0]], types=[op.results[0].type])
    return rewriter.replace(new)


def _neutral(op: GraphOp, rewriter: Rewriter) -> bool:
    """x - (+0), x * 1, 1 * x and x / 1; x + (-0) as well, the one addition that is exact."""
    neutral: dict[str, float] = {"sub": 0.0, "mul": 1.0, "div": 1.0, "add": -0.0}
    wanted = neutral[op.op_name]
    sides = [(0, 1), (1, 0)] if op.op_name in ("mul", "add") else [(0, 1)]
    for kept, constant in sides:
        number = scalar_of(op.operands[constant])
        if number is None or number != wanted:
            continue
        same = copysign(1.0, number) == copysign(1.0, wanted)
        if same and op.operands[kept].type == op.results[0].type:
            return rewriter.replace(op.operands[kept])
    return False


def _repeated(op: GraphOp, rewriter: Rewriter) -> bool:
    """relu of relu, abs of abs."""
    inner = _producer(op.operands[0], op.op_name)
    return inner is not None and rewriter.replace(op.operands[0])


def _single_concat(op: GraphOp, rewriter: Rewriter) -> bool:
    return len(op.operands) == 1 and rewriter.replace(op.operands[0])


def _fold(op: GraphOp, rewriter: Rewriter) -> bool:
    """An operator on inline constants with a small result is evaluated."""
    owners = [o.owner for o in op.operands]
    if not owners or not all(isinstance(o, ConstantOp) for o in owners):
        return False
    try:
        arrays = evaluate(
            op.op_name,
            [constant_array(o) for o in owners if isinstance(o, ConstantOp)],
            semantic_attrs(op),
        )
    except SemanticsError:
        return False
    if sum(a.nbytes for a in arrays) > FOLDED_BYTES:
        return False
    new: list[SSAValue] = []
    for array in arrays:
        value = dense(tensor_of(array.dtype, array.shape), array.tobytes())
        new.append(rewriter.insert(ConstantOp(value)).results[0])
    if [v.type for v in new] != [r.type for r in op.results]:
        return False
    return rewriter.replace(*new)


def _rules() -> tuple[Rule, ...]:
    def rule(
        name: str, roots: str, apply: Callable[[GraphOp, Rewriter], bool], benefit: int = 1
    ) -> Rule:
        return Rule(name, tuple(f"graph.{r}" for r in roots.split()), apply, benefit)

    foldable = (
        "add sub mul div pow max min neg abs exp log sqrt reciprocal cast reshape transpose "
        "squeeze unsqueeze flatten concat slice gather where equal greater less not and or expand"
    )
    return (
        rule("identity", "identity", _identity, 3),
        rule("same-type", "reshape expand cast squeeze unsqueeze flatten", _same_type, 3),
        rule("transpose", "transpose", _transpose, 2),
        rule("view-of-view", " ".join(VIEWS), _view_of_view, 2),
        rule("neutral", "add sub mul div", _neutral, 2),
        rule("repeated", "relu abs", _repeated, 2),
        rule("single-concat", "concat", _single_concat, 2),
        rule("fold", foldable, _fold, 1),
    )


RULES = _rules()


def merge_equal(block: Block) -> int:
    """Common subexpressions of a block become one; gives how many went away."""
    known: dict[object, Operation] = {}
    count = 0
    for op in list(block.ops):
        if not isinstance(op, GraphOp | ConstantOp | WeightOp):
            continue
        types = tuple(r.type for r in op.results)
        key = (op.name, tuple(op.operands), tuple(sorted(op.properties.items())), types)
        first = known.setdefault(key, op)
        if first is op:
            continue
        for old, new in zip(op.results, first.results, strict=True):
            old.replace_all_uses_with(new)
        block.erase_op(op)
        count += 1
    return count


@dataclass(frozen=True)
class GraphSimplifyPass(ModulePass):
    """Remove what does nothing, fold small constants, merge equal operators, drop dead ones."""

    name = "graph-simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        run_rules(op, RULES)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                merge_equal(function.body.block)
                erase_dead_code(function.body.block)
