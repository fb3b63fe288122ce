"""graph-simplify: operators that do nothing, cancel or are known go away; equal ones become one.

Every rule is exact: the same bits, signs of zero included (x + 0 stays, x - 0, x * 1 and x / 1 go).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import copysign, prod
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from fusec.rewrite.driver import Rewriter, Rule, erase_dead_code, run_rules
from fusec.rewrite.match import scalar_of
from fusec.semantics import SemanticsError, evaluate
from fusec.semantics.interpreter import constant_array, semantic_attrs
from fusec.semantics.types import numpy_type, tensor_of
from fusec_dialects.graph import OPERATORS, ConstantOp, GraphOp, WeightOp
from fusec_dialects.graph.base import python_value, tensor_type
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.shapes import Shape, dims_of
from fusec_dialects.graph.sizes import UNNAMED

FOLDED_BYTES = 64
"""Results up to this size are folded into the text; larger ones belong to `@weights`."""

VIEWS = ("reshape", "squeeze", "unsqueeze", "flatten")


def _producer(value: SSAValue, *names: str) -> GraphOp | None:
    owner = value.owner
    return owner if isinstance(owner, GraphOp) and owner.op_name in names else None


def _dims(value: SSAValue) -> Shape:
    return dims_of(tensor_type(value))


def _becomes(op: GraphOp, rewriter: Rewriter, value: SSAValue) -> bool:
    """The result is `value`, where that has the very type that users expect."""
    return value.type == op.results[0].type and rewriter.replace(value)


def _identity(op: GraphOp, rewriter: Rewriter) -> bool:
    return _becomes(op, rewriter, op.operands[0])


def _same_type(op: GraphOp, rewriter: Rewriter) -> bool:
    """A view or cast to the type that is there already; of two unnamed sizes any may be meant."""
    unnamed = _dims(op.operands[0]).count(UNNAMED)
    certain = op.op_name == "cast" or unnamed == 0 or (unnamed == 1 and op.op_name != "expand")
    return certain and _becomes(op, rewriter, op.operands[0])


def _transpose(op: GraphOp, rewriter: Rewriter) -> bool:
    perm = cast(tuple[int, ...], python_value(op.properties["perm"]))
    if perm == tuple(range(len(perm))):
        return _becomes(op, rewriter, op.operands[0])
    inner = _producer(op.operands[0], "transpose")
    if inner is None:
        return False
    first = cast(tuple[int, ...], python_value(inner.properties["perm"]))
    both = tuple(first[p] for p in perm)
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("transpose", [inner.operands[0]], {"perm": both}, types))


def _view_of_view(op: GraphOp, rewriter: Rewriter) -> bool:
    """One reshape, which can only find one size that is not known."""
    inner = _producer(op.operands[0], *VIEWS)
    if inner is None:
        return False
    source = inner.operands[0]
    if source.type == op.results[0].type and _dims(source).count(UNNAMED) <= 1:
        return rewriter.replace(source)
    if sum(isinstance(d, str) for d in _dims(op.results[0])) > 1:
        return False
    return rewriter.replace(rewriter.build("reshape", [source], types=[op.results[0].type]))


NEUTRAL: dict[str, float] = {"sub": 0.0, "mul": 1.0, "div": 1.0, "add": -0.0}
"""What an operand may be for the other one to be the result, bit for bit."""


def _neutral(op: GraphOp, rewriter: Rewriter) -> bool:
    """x - (+0), x * 1, 1 * x, x / 1 and x + (-0); of integers x + 0 as well."""
    wanted = NEUTRAL[op.op_name]
    integer = isinstance(tensor_type(op.results[0]).element_type, IntegerType)
    for kept, constant in [(0, 1), (1, 0)] if op.op_name in ("mul", "add") else [(0, 1)]:
        number = scalar_of(op.operands[constant])
        if number is None or number != wanted:
            continue
        same = integer or copysign(1.0, number) == copysign(1.0, wanted)
        if same and _becomes(op, rewriter, op.operands[kept]):
            return True
    return False


def _repeated(op: GraphOp, rewriter: Rewriter) -> bool:
    """relu of relu, abs of abs."""
    inner = _producer(op.operands[0], op.op_name)
    return inner is not None and _becomes(op, rewriter, op.operands[0])


def _single_concat(op: GraphOp, rewriter: Rewriter) -> bool:
    return len(op.operands) == 1 and _becomes(op, rewriter, op.operands[0])


def _fold(op: GraphOp, rewriter: Rewriter) -> bool:
    """An operator on inline constants with a small static result is evaluated."""
    owners = [o.owner for o in op.operands if isinstance(o.owner, ConstantOp)]
    types = [tensor_type(r) for r in op.results]
    if not owners or len(owners) < len(op.operands):
        return False
    if not all(t.has_static_shape() for t in types) or _bytes(types) > FOLDED_BYTES:
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


def _bytes(types: Sequence[TensorType[Attribute]]) -> int:
    return sum(prod(t.get_shape()) * numpy_type(t.element_type).itemsize for t in types)


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
        rule("neutral", "add sub mul div", _neutral, 2),
        rule("repeated", "relu abs", _repeated, 2),
        rule("single-concat", "concat", _single_concat, 2),
        rule("fold", " ".join(OPERATORS), _fold, 1),
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
        attributes = (tuple(sorted(a.items())) for a in (op.properties, op.attributes))
        key = (op.name, tuple(op.operands), *attributes, types)
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
