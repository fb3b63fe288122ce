"""Operators on numbers that do nothing, cancel or merge, bit for bit.

Casts merge only where the first loses nothing; reductions over axes of size 1 are views.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType

from fusec.graph.query import (
    attr,
    dims,
    exact_in,
    ints,
    producer,
    reduced,
    single,
    splat_of,
    static,
)
from fusec.graph.simplify_moves import becomes
from fusec.rewrite.driver import Rewriter, Rule
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import ConstantOp, GraphOp
from fusec_dialects.graph.base import element_name, tensor_type
from fusec_dialects.graph.dense import dense

KEEPS: dict[str, frozenset[str]] = {
    "i1": frozenset({"i8", "ui8", "i16", "ui16", "i32", "i64", "f16", "bf16", "f32", "f64"}),
    "i8": frozenset({"i16", "i32", "i64", "f16", "f32", "f64"}),
    "ui8": frozenset({"i16", "ui16", "i32", "ui32", "i64", "ui64", "f16", "f32", "f64"}),
    "i16": frozenset({"i32", "i64", "f32", "f64"}),
    "ui16": frozenset({"i32", "ui32", "i64", "ui64", "f32", "f64"}),
    "i32": frozenset({"i64", "f64"}),
    "ui32": frozenset({"i64", "ui64", "f64"}),
    "f16": frozenset({"f32", "f64"}),
    "bf16": frozenset({"f32", "f64"}),
    "f32": frozenset({"f64"}),
}
"""Element type -> the types that hold each of its values."""

_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})

NEUTRAL: dict[str, float] = {"sub": 0.0, "mul": 1.0, "div": 1.0, "add": -0.0}
"""What an operand may be for the other one to be the result, bit for bit."""

_COMMUTES = frozenset({"add", "mul"})


def _neutral(op: GraphOp, rewriter: Rewriter) -> bool:
    """x - (+0), x * 1, 1 * x, x / 1 and x + (-0); of integers x + 0 as well."""
    wanted = NEUTRAL[op.op_name]
    integer = isinstance(tensor_type(op.results[0]).element_type, IntegerType)
    for kept, constant in [(0, 1), (1, 0)] if op.op_name in _COMMUTES else [(0, 1)]:
        number = splat_of(op.operands[constant])
        if number is None or number != wanted:
            continue
        same = integer or copysign(1.0, number) == copysign(1.0, wanted)
        if same and becomes(op, rewriter, op.operands[kept]):
            return True
    return False


def _splat(op: GraphOp, rewriter: Rewriter) -> bool:
    """A constant of equal elements beside something that has the result's shape is a scalar."""
    for at, operand in enumerate(op.operands):
        owner = operand.owner
        if not isinstance(owner, ConstantOp) or len(owner.value) == 1:
            continue
        others = [o for i, o in enumerate(op.operands) if i != at]
        shape = static(op.results[0])
        if shape is None or not any(static(o) == shape for o in others):
            continue
        if splat_of(operand) is None:
            continue
        element = tensor_type(operand).element_type
        content = owner.content[: numpy_type(element).itemsize]
        scalar = rewriter.insert(ConstantOp(dense(TensorType(element, []), content)))
        operands = [scalar.results[0] if i == at else o for i, o in enumerate(op.operands)]
        types = [op.results[0].type]
        return rewriter.replace(rewriter.build(op.op_name, operands, op.attrs(), types))
    return False


def _inverse(op: GraphOp, rewriter: Rewriter) -> bool:
    """neg of neg, not of not."""
    inner = producer(op.operands[0], op.op_name)
    return inner is not None and becomes(op, rewriter, inner.operands[0])


def _repeated(op: GraphOp, rewriter: Rewriter) -> bool:
    """relu of relu, abs of abs."""
    inner = producer(op.operands[0], op.op_name)
    return inner is not None and becomes(op, rewriter, op.operands[0])


def _where(op: GraphOp, rewriter: Rewriter) -> bool:
    """A choice between a value and itself, and one on a negated condition."""
    condition, a, b = op.operands
    if a is b:
        return becomes(op, rewriter, a)
    negated = producer(condition, "not")
    if negated is None:
        return False
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("where", [negated.operands[0], b, a], types=types))


def _cast_of_cast(op: GraphOp, rewriter: Rewriter) -> bool:
    """The first cast loses nothing: the second alone, or neither."""
    inner = producer(op.operands[0], "cast")
    if inner is None:
        return False
    x = inner.operands[0]
    first, middle, last = (element_name(v.type) for v in (x, inner.results[0], op.results[0]))
    if middle not in KEEPS.get(first, ()):
        return False
    if x.type == op.results[0].type:
        return rewriter.replace(x)
    same_kind = first in _FLOATS and last in _FLOATS
    if not same_kind and last not in KEEPS.get(first, ()):
        return False
    element = tensor_type(op.results[0]).element_type
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("cast", [x], {"to": element}, types))


def clip_of_clip(op: GraphOp, rewriter: Rewriter) -> bool:
    """One clip, where the limits stay in order."""
    inner = single(op.operands[0], "clip")
    return inner is not None and merged_clip(inner, op, rewriter)


def merged_clip(inner: GraphOp, op: GraphOp, rewriter: Rewriter) -> bool:
    """Two operators in a row that limit a value, clip or relu, as one clip."""
    limits = [_limits(o) for o in (inner, op)]
    lows, highs = zip(*limits, strict=True)
    low, high = max(lows), min(highs)
    signs = {copysign(1.0, v) for v in (*lows, *highs) if v == 0.0}
    if low > high or len(signs) > 1:
        return False
    if not (exact_in(op.results[0], low) and exact_in(op.results[0], high)):
        return False
    attrs = {k: v for k, v in (("min", low), ("max", high)) if np.isfinite(v)}
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("clip", [inner.operands[0]], attrs, types))


def _limits(op: GraphOp) -> tuple[float, float]:
    if op.op_name == "relu":
        return 0.0, np.inf
    found = op.attrs()
    low, high = found.get("min"), found.get("max")
    return (
        low if isinstance(low, float | int) else -np.inf,
        high if isinstance(high, float | int) else np.inf,
    )


# Reductions


def single_elements(op: GraphOp, rewriter: Rewriter) -> bool:
    """A reduction over axes of size 1 only is a view; but a sum may make 0 of -0."""
    shape = dims(op.operands[0])
    if any(shape[a] != 1 for a in reduced(op)) or sum(isinstance(d, str) for d in shape) > 1:
        return False
    x, types = op.operands[0], [op.results[0].type]
    if x.type == types[0]:
        return rewriter.replace(x)
    return rewriter.replace(rewriter.build("reshape", [x], types=types))


def _kept(op: GraphOp, rewriter: Rewriter) -> bool:
    """The axes that a reduction dropped put back: it keeps them itself."""
    reduction = single(op.operands[0], *_REDUCTIONS)
    if reduction is None or attr(reduction, "keepdims"):
        return False
    x = reduction.operands[0]
    shape = list(dims(x))
    for axis in reduced(reduction):
        shape[axis] = 1
    if tuple(shape) != dims(op.results[0]) or sum(isinstance(d, str) for d in shape) > 1:
        return False
    attrs = {"axes": ints(reduction, "axes"), "keepdims": True}
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build(reduction.op_name, [x], attrs, types))


_REDUCTIONS = ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod")


def _rule(
    name: str, roots: str, apply: Callable[[GraphOp, Rewriter], bool], benefit: int = 2
) -> Rule:
    return Rule(name, tuple(f"graph.{r}" for r in roots.split()), apply, benefit)


_BINARY = "add sub mul div pow max min equal greater less greater_or_equal less_or_equal where"

VALUE_RULES = (
    _rule("neutral", "add sub mul div", _neutral),
    _rule("splat", _BINARY, _splat, 1),
    _rule("inverse", "neg not", _inverse),
    _rule("repeated", "relu abs", _repeated),
    _rule("where", "where", _where),
    _rule("cast-of-cast", "cast", _cast_of_cast),
    _rule("clip-of-clip", "clip", clip_of_clip),
    _rule("single-elements", "reduce_max reduce_min reduce_prod", single_elements),
    _rule("kept", "reshape unsqueeze", _kept),
)
"""Rules on numbers."""
