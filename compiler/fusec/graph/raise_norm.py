"""Normalisations and softmax from the operators that they are written with.

Layer, RMS, group and instance norm; what is computed in 16 bits between casts to f32 as well.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import TensorType, bf16, f16
from xdsl.ir import SSAValue

from fusec.graph.query import attr, dims, only_user, producer, rank, reduced, static
from fusec.graph.simplify_values import single_elements
from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import Captures, Pattern, Table, scalar_of
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import ConstantOp, GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.sizes import certainly_equal

_MEAN: Pattern = ("reduce_mean", "x")
_CENTRED: Pattern = ("sub", "x", _MEAN)


def _squares(value: Pattern) -> tuple[Pattern, ...]:
    return ("pow", value, 2.0), ("mul", value, value)


def _roots(square: Pattern) -> tuple[tuple[Pattern, ...], tuple[Pattern, ...]]:
    """The root of the mean square plus epsilon, and its reciprocal."""
    shifted: Pattern = ("add", ("reduce_mean", square), "epsilon")
    root: Pattern = ("sqrt", shifted)
    return (root, ("pow", shifted, 0.5)), (
        ("reciprocal", root),
        ("div", 1.0, root),
        ("pow", shifted, -0.5),
    )


def _quotients(value: Pattern) -> tuple[Pattern, ...]:
    """A value divided by the root of its mean square plus epsilon."""
    found: list[Pattern] = []
    for square in _squares(value):
        roots, inverses = _roots(square)
        found += [("div", value, root) for root in roots]
        found += [("mul", value, inverse) for inverse in inverses]
    return tuple(found)


_STANDARD = _quotients(_CENTRED)
_RMS = _quotients("x")


def _folded_affine() -> tuple[Pattern, ...]:
    """x s + (bias - mean s), s = scale / deviation: what TensorFlow makes of moments."""
    found: list[Pattern] = []
    for square in _squares(_CENTRED):
        for inverse in _roots(square)[1]:
            s: Pattern = ("mul", inverse, "scale")
            found.append(("add", ("mul", "x", s), ("sub", "bias", ("mul", _MEAN, s))))
    return tuple(found)


def _with_affine(normal: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    return tuple(
        pattern
        for one in normal
        for pattern in (
            ("add", ("mul", one, "scale"), "bias"),
            ("add", one, "bias"),
            ("mul", one, "scale"),
        )
    )


_LAYER_NORM = (*_with_affine(_STANDARD), *_folded_affine())
_RMS_NORM: tuple[Pattern, ...] = tuple(
    pattern for one in _RMS for pattern in (("mul", one, "scale"), ("mul", ("cast", one), "scale"))
)


def _means(found: Captures) -> list[GraphOp]:
    return [o for o in found.ops if isinstance(o, GraphOp) and o.op_name == "reduce_mean"]


def _mean_axes(found: Captures) -> tuple[int, ...] | None:
    """The axes that all means are over, kept."""
    means = _means(found)
    axes = {reduced(op) for op in means}
    kept = all(attr(op, "keepdims") for op in means)
    return axes.pop() if len(axes) == 1 and kept else None


def _trailing_axis(found: Captures, x: SSAValue) -> int | None:
    """The first normalised axis, where all means are over it and all that follow, kept."""
    only = _mean_axes(found)
    return only[0] if only and only == tuple(range(only[0], rank(x))) else None


def _fits(parameter: SSAValue, x: SSAValue, axis: int) -> bool:
    """Whether a scale or bias has the shape of the normalised axes, or is a number, and enlarges
    nothing."""
    number = scalar_of(parameter) is not None and rank(parameter) <= rank(x) - axis
    return number or certainly_equal(dims(parameter), dims(x)[axis:])


def _source(op: GraphOp, found: Captures) -> SSAValue | None:
    """What is normalised, in the type of the result: before a cast to f32 where one is taken back.

    None where the types contradict each other.
    """
    x, type_ = found.values["x"], op.results[0].type
    if x.type == type_:
        return x
    widened = producer(x, "cast")
    narrow = tensor_type(op.results[0]).element_type in (f16, bf16)
    casts = any(isinstance(o, GraphOp) and o.op_name == "cast" for o in found.ops)
    if widened is None or not narrow or not casts or widened.operands[0].type != type_:
        return None
    return widened.operands[0]


def _scalar(like: SSAValue, number: float, rewriter: Rewriter) -> SSAValue:
    element = tensor_type(like).element_type
    value = np.full((), number, numpy_type(element))
    return rewriter.insert(ConstantOp(dense(TensorType(element, []), value.tobytes()))).results[0]


def _norm(name: str, op: GraphOp, found: Captures, rewriter: Rewriter) -> bool:
    """`name` over trailing axes in place of what was found; a scale of 1 where there is none."""
    x = _source(op, found)
    epsilon, axis = scalar_of(found.values["epsilon"]), _trailing_axis(found, found.values["x"])
    parameters = [found.values[k] for k in ("scale", "bias") if k in found.values]
    if x is None or epsilon is None or axis is None or epsilon < 0.0:
        return False
    if not all(_fits(p, x, axis) for p in parameters):
        return False
    if "bias" not in found.values and _continues(op, axis, x, "scale" in found.values):
        return False
    operands = [x, *parameters]
    if "scale" not in found.values:
        operands.insert(1, _scalar(x, 1.0, rewriter))
    attrs = {"axis": axis - rank(x), "epsilon": epsilon}
    return rewriter.replace(rewriter.build(name, operands, attrs, [op.results[0].type]))


def _continues(op: GraphOp, axis: int, x: SSAValue, scaled: bool) -> bool:
    """Whether a bias, or a scale, follows, so that the larger expression is the one to raise."""
    value = op.results[0]
    user = only_user(value)
    if not scaled and isinstance(user, GraphOp) and user.op_name == "cast":
        value = user.results[0]
        user = only_user(value)
    if not isinstance(user, GraphOp) or user.op_name not in (
        ("add",) if scaled else ("add", "mul")
    ):
        return False
    others = [o for o in user.operands if o is not value]
    return len(others) == 1 and _fits(others[0], x, axis)


Found: TypeAlias = Callable[[GraphOp, Captures, Rewriter], bool]


def _rule(name: str, patterns: tuple[Pattern, ...], found: Found, benefit: int = 1) -> Rule:
    """A rule that tries each pattern at the operators which one of them begins with."""
    table = Table((pattern, None) for pattern in patterns)

    def apply(op: GraphOp, rewriter: Rewriter) -> bool:
        for captures, _ in table.matches(op):
            rewriter.found = True
            if found(op, captures, rewriter):
                return True
        return False

    return Rule(name, tuple(f"graph.{root}" for root in table.roots), apply, benefit)


# Group and instance norm

_PLAIN: tuple[Pattern, ...] = tuple(p for one in _STANDARD for p in (one, ("add", one, 0.0)))
_SEEN: tuple[Pattern, ...] = tuple(("reshape", one) for one in _PLAIN)


def _group_norm(op: GraphOp, found: Captures, rewriter: Rewriter) -> bool:
    """Statistics over all axes behind the groups, of x as it is or seen in groups."""
    inner, type_ = found.values["x"], op.results[0].type
    split = producer(inner, "reshape") if inner.type != type_ else None
    x = inner if split is None else split.operands[0]
    epsilon = scalar_of(found.values["epsilon"])
    shape, seen = static(x), static(inner)
    if epsilon is None or x.type != type_ or shape is None or seen is None or len(shape) < 3:
        return False
    axes = _mean_axes(found)
    if axes is None or len(seen) < 3 or axes != tuple(range(2, len(seen))):
        return False
    if seen[0] != shape[0] or not seen[1] or shape[1] % seen[1]:
        return False
    given = [found.values.get(k) for k in ("scale", "bias")]
    if not all(p is None or _is_parameter(p, shape) for p in given):
        return False
    if split is None and all(p is None or scalar_of(p) is not None for p in given):
        return False
    if given[1] is None and _bias_follows(op, shape):
        return False
    operands = [
        _parameter(p, x, neutral, rewriter) for p, neutral in zip(given, (1.0, 0.0), strict=True)
    ]
    attrs = {"num_groups": seen[1], "epsilon": epsilon}
    new = rewriter.build("group_normalization", [x, *operands], attrs, [type_])
    return rewriter.replace(new)


def _is_parameter(value: SSAValue, shape: tuple[int, ...]) -> bool:
    """Whether a value is a number, or varies along the channels alone."""
    sizes = static(value)
    if sizes is None or len(sizes) > len(shape):
        return False
    channel = (1, shape[1], *(1,) * (len(shape) - 2))
    return scalar_of(value) is not None or (1,) * (len(shape) - len(sizes)) + sizes == channel


def _bias_follows(op: GraphOp, shape: tuple[int, ...]) -> bool:
    user = only_user(op.results[0])
    if not isinstance(user, GraphOp) or user.op_name != "add":
        return False
    others = [o for o in user.operands if o is not op.results[0]]
    return len(others) == 1 and _is_parameter(others[0], shape)


def _parameter(value: SSAValue | None, x: SSAValue, neutral: float, rewriter: Rewriter) -> SSAValue:
    """A scale or bias as a number or as a vector of the channels."""
    number = neutral if value is None else scalar_of(value)
    if value is None or number is not None:
        return _scalar(x, neutral if number is None else number, rewriter)
    flat = TensorType(tensor_type(x).element_type, [prod(static(value) or ())])
    return rewriter.build("reshape", [value], types=[flat])


# Softmax

_REDUCTIONS = ("reduce_max", "reduce_sum")
_SHIFTED: Pattern = ("sub", "x", ("reduce_max", "x"))
_POWERS: Pattern = ("exp", _SHIFTED)
_TOTAL: Pattern = ("reduce_sum", _POWERS)
_SOFTMAX: tuple[Pattern, ...] = (
    ("div", _POWERS, _TOTAL),
    ("mul", _POWERS, ("reciprocal", _TOTAL)),
    ("mul", _POWERS, ("div", 1.0, _TOTAL)),
)
_LOG_SOFTMAX: tuple[Pattern, ...] = (
    ("sub", _SHIFTED, ("log", _TOTAL)),
    ("sub", "x", ("add", ("log", _TOTAL), ("reduce_max", "x"))),
)


def _softmax(name: str, op: GraphOp, found: Captures, rewriter: Rewriter) -> bool:
    reductions = [o for o in found.ops if isinstance(o, GraphOp) and o.op_name in _REDUCTIONS]
    axes = {reduced(o) for o in reductions}
    x = found.values["x"]
    kept = all(attr(o, "keepdims") for o in reductions)
    if len(axes) != 1 or not kept or x.type != op.results[0].type:
        return False
    (only,) = axes
    if len(only) != 1:
        return False
    return rewriter.replace(rewriter.build(name, [x], {"axis": only[0] - rank(x)}, [x.type]))


def _log_of_softmax(op: GraphOp, rewriter: Rewriter) -> bool:
    """Of the same real value, without the softmax that underflows to 0."""
    inner = producer(op.operands[0], "softmax")
    if inner is None or not op.operands[0].has_one_use():
        return False
    x, axis = inner.operands[0], attr(inner, "axis")
    return rewriter.replace(rewriter.build("log_softmax", [x], {"axis": axis}, [x.type]))


_layer_norm, _rms = partial(_norm, "layer_normalization"), partial(_norm, "rms_normalization")

NORM_RULES = (
    _rule("raise-layer-norm", _LAYER_NORM, _layer_norm, 3),
    _rule("raise-plain-layer-norm", _STANDARD, _layer_norm),
    _rule("raise-rms-norm", _RMS_NORM, _rms, 3),
    _rule("raise-plain-rms-norm", _RMS, _rms),
    _rule("raise-softmax", _SOFTMAX, partial(_softmax, "softmax")),
    _rule("raise-log-softmax", _LOG_SOFTMAX, partial(_softmax, "log_softmax")),
    Rule("raise-single-sum", ("graph.reduce_sum", "graph.reduce_mean"), single_elements),
    Rule("raise-log-of-softmax", ("graph.log",), _log_of_softmax),
)

GROUP_NORM_RULES = (_rule("raise-group-norm", _with_affine(_SEEN), _group_norm),)
"""Before the others, which would raise the norm inside of it."""

INSTANCE_NORM_RULES = (_rule("raise-instance-norm", _with_affine(_PLAIN), _group_norm),)
"""Next: a plain layer norm with a scale and a bias of channels."""
