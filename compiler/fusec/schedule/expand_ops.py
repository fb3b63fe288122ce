"""The steps of each graph operator, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import frexp, prod
from typing import cast

from xdsl.ir import SSAValue

from fusec.schedule import expand_composite, expand_math, expand_more
from fusec.schedule.axes import dtype_of
from fusec.schedule.expand import FLOATS, Expander, Form, Handler
from fusec.schedule.expand_contraction import contraction
from fusec.schedule.expand_integer import INTEGER_HANDLERS, integer_division
from fusec.schedule.program import Operand, Program
from fusec.schedule.reductions import reduced_axes
from fusec.schedule.types import RefusalError
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import normal_axis
from fusec_dialects.place import place

_COMMUTE = frozenset({"vadd", "vmul", "vmax", "vmin"})


def _unary(kind: str, e: Expander, op: GraphOp) -> Form:
    """One instruction in the operand's type."""
    x = op.operands[0]
    wide = e.computes_wide(op, x)
    return e.result(e.program.unary(kind, e.wide(x) if wide else e.native(x)), wide)


def _function(make: Callable[[Program, int], int], e: Expander, op: GraphOp) -> Form:
    """A function of f32, whatever floating type the operand has."""
    e.floating(op, op.operands[0])
    return Form(wide=make(e.program, e.wide(op.operands[0])))


def _instruction(kind: str) -> Handler:
    return partial(_function, lambda p, x: p.unary(kind, x))


def _abs(e: Expander, op: GraphOp) -> Form:
    """Of integers as the larger of x and -x: the vendor's compiler cannot link vabs on them."""
    x = op.operands[0]
    if dtype_of(x) != "i32":
        return _unary("vabs", e, op)
    value = e.native(x)
    return Form(native=e.program.binary("vmax", value, e.program.binary("vmul", value, -1.0)))


def _neg(e: Expander, op: GraphOp) -> Form:
    x = op.operands[0]
    wide = e.computes_wide(op, x)
    return e.result(e.program.binary("vmul", e.wide(x) if wide else e.native(x), -1.0), wide)


def _binary(kind: str, e: Expander, op: GraphOp) -> Form:
    left, right = op.operands
    if kind == "vdiv" and dtype_of(left) == "i32":
        return integer_division(e, op)
    wide = e.computes_wide(op, left, right)
    a, b = e.operand(left, wide), e.operand(right, wide)
    return e.result(_arithmetic(e.program, kind, a, b, _dtype(left, wide)), wide)


def _dtype(value: SSAValue, wide: bool) -> str:
    return "f32" if wide else dtype_of(value)


def _arithmetic(p: Program, kind: str, a: Operand, b: Operand, dtype: str) -> int:
    """kind(a, b) where either may be a scalar; the instructions take one on the right only."""
    if isinstance(a, int):
        if kind == "vdiv" and isinstance(b, float) and abs(frexp(b)[0]) == 0.5:
            return p.binary("vmul", a, 1.0 / b)
        return p.binary(kind, a, b)
    if isinstance(b, float):
        return p.binary(kind, p.fill(a, dtype, frozenset()), b)
    if kind in _COMMUTE:
        return p.binary(kind, b, a)
    if kind == "vsub":
        return p.binary("vadd", p.binary("vmul", b, -1.0), a)
    return expand_math.reciprocal(p, b, a)


def _pow(e: Expander, op: GraphOp) -> Form:
    base, exponent = op.operands
    constant = e.scalar(exponent)
    integer = dtype_of(base) == "i32" and constant is not None and constant >= 1.0
    if not integer:
        e.floating(op, base)
    power = None
    if constant is not None:
        power = expand_math.power(e.program, e.native(base) if integer else e.wide(base), constant)
    if power is not None:
        return e.result(power, not integer)
    if constant is not None and (integer or constant == int(constant)):
        raise RefusalError(
            "pow",
            f"{place(op)}: exponent {constant}; the vector unit does whole ones up to 16 exactly",
        )
    return expand_more.general_power(e, op)


def _leaky_relu(e: Expander, op: GraphOp) -> Form:
    x, alpha = op.operands[0], cast(float, op.attrs()["alpha"])
    e.floating(op, x)
    wide = e.wide(x)
    if alpha == 0.0:
        return Form(wide=e.program.unary("vrelu", wide))
    kind = "vmax" if alpha <= 1.0 else "vmin"
    return Form(wide=e.program.binary(kind, wide, e.program.binary("vmul", wide, alpha)))


def _clip(e: Expander, op: GraphOp) -> Form:
    x, attrs = op.operands[0], op.attrs()
    wide = e.computes_wide(op, x)
    value = e.wide(x) if wide else e.native(x)
    for key, kind in (("min", "vmax"), ("max", "vmin")):
        limit = attrs.get(key)
        if limit is not None:
            value = e.program.binary(kind, value, float(cast(float, limit)))
    return e.result(value, wide)


_FLIPPED = {"eq": "eq", "ne": "ne", "gt": "lt", "lt": "gt", "ge": "le", "le": "ge"}


def _compare(mode: str, e: Expander, op: GraphOp) -> Form:
    a, b = op.operands
    if dtype_of(a) == "i1" and mode == "eq":
        return Form(mask=e.program.unary("vnot", _xor(e.program, *_masks(e, a, b))))
    if dtype_of(a) in FLOATS:
        wide = e.computes_wide(op, a, b)
        left, right = e.operand(a, wide), e.operand(b, wide)
    else:
        if mode == "eq" and dtype_of(a) == "i32" and e.scalar(a) is None:
            return expand_more.equal_integers(e, a, b)
        wide = True
        left, right = _small_integers(e, op)
    if isinstance(left, float):
        if isinstance(right, float):
            left = e.program.fill(left, _dtype(a, wide), frozenset())
        else:
            left, right, mode = right, left, _FLIPPED[mode]
    return Form(mask=e.program.compare(mode, left, right))


def _small_integers(e: Expander, op: GraphOp) -> tuple[Operand, Operand]:
    """Operands of a comparison of integers with a constant below 2^24: f32 decides it exactly."""
    scalars = [e.scalar(value) for value in op.operands]
    limit = max((abs(s) for s in scalars if s is not None), default=float("inf"))
    if limit > 1 << 24:
        e.floating(op, op.operands[0])
    left, right = (
        _convert(e, op, e.native(value), (dtype_of(value), "f32")) if scalar is None else scalar
        for value, scalar in zip(op.operands, scalars, strict=True)
    )
    return left, right


def _masks(e: Expander, *values: SSAValue) -> list[int]:
    """Masks over all their axes."""
    masks = [e.mask(value) for value in values]
    axes = e.program.axes_of(*masks)
    return [e.program.spread(mask, axes) for mask in masks]


def _logical(kind: str, e: Expander, op: GraphOp) -> Form:
    return Form(mask=e.program.binary(kind, *_masks(e, *op.operands)))


def _xor(p: Program, a: int, b: int) -> int:
    both = p.unary("vnot", p.binary("vand", a, b))
    return p.binary("vand", p.binary("vor", a, b), both)


def _exclusive(e: Expander, op: GraphOp) -> Form:
    return Form(mask=_xor(e.program, *_masks(e, *op.operands)))


def _not(e: Expander, op: GraphOp) -> Form:
    return Form(mask=e.program.unary("vnot", e.mask(op.operands[0])))


def _where(e: Expander, op: GraphOp) -> Form:
    condition, a, b = op.operands
    if expand_more.can_choose(a):
        return expand_more.choose(e, op)
    e.floating(op, a)
    wide = e.computes_wide(op, a, b)
    left, right = e.operand(a, wide), e.operand(b, wide)
    chosen = e.program.select(e.mask(condition), left, right, _dtype(a, wide))
    return e.result(chosen, wide)


def _identity(e: Expander, op: GraphOp) -> Form:
    return e.form(op.operands[0])


_STEPS: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("f32", "f16"): (("f16", ""),),
    ("f32", "bf16"): (("bf16", ""),),
    ("f32", "i32"): (("i32", "trunc"),),
    ("f32", "i64"): (("i64", "trunc"),),
    ("i32", "f32"): (("f32", ""),),
    ("i64", "f32"): (("f32", ""),),
    ("i8", "f32"): (("f16", ""), ("f32", "")),
    ("i1", "f32"): (("f32", ""),),
    ("i32", "i64"): (("i64", ""),),
    ("i64", "i32"): (("i32", ""),),
    ("i8", "i32"): (("f16", ""), ("i32", "trunc")),
    ("ui8", "f32"): (("f16", ""), ("f32", "")),
    ("ui8", "i32"): (("f16", ""), ("i32", "trunc")),
    ("ui8", "i64"): (("f16", ""), ("f32", ""), ("i64", "trunc")),
    ("i1", "ui8"): (("f16", ""), ("ui8", "trunc")),
    ("f16", "ui8"): (("ui8", "trunc"),),
    ("f32", "ui8"): (("i32", "trunc"), ("f32", ""), ("f16", ""), ("ui8", "trunc")),
    ("i8", "i64"): (("f16", ""), ("f32", ""), ("i64", "trunc")),
    ("i1", "i32"): (("f32", ""), ("i32", "trunc")),
    ("i1", "i64"): (("f32", ""), ("i64", "trunc")),
    ("i1", "i8"): (("f16", ""), ("i8", "trunc")),
    ("f16", "i8"): (("i8", "trunc"),),
    ("f32", "i8"): (("i32", "trunc"), ("f32", ""), ("f16", ""), ("i8", "trunc")),
}
"""Conversions that keep every value in range, each as instructions (type, rounding)."""


def _cast(e: Expander, op: GraphOp) -> Form:
    x = op.operands[0]
    source, dest = dtype_of(x), dtype_of(op.results[0])
    if source == dest:
        return e.form(x)
    if dest == "i1":
        floating = source in FLOATS
        value = e.wide(x) if floating else _convert(e, op, e.native(x), (source, "f32"))
        return Form(mask=e.program.compare("ne", value, 0.0))
    to_float = dest in FLOATS
    if source in FLOATS:
        if to_float:
            return Form(native=e.wide(x)) if dest == "f32" else _rounded(e, x, dest)
        if source == "f16" and dest in ("i8", "ui8"):
            return Form(native=_convert(e, op, e.native(x), ("f16", dest)))
        return Form(native=_convert(e, op, e.wide(x), ("f32", dest)))
    start = e.mask(x) if source == "i1" else e.native(x)
    value = _convert(e, op, start, (source, "f32" if to_float else dest))
    return Form(wide=value) if to_float and dest != "f32" else Form(native=value)


def _rounded(e: Expander, x: SSAValue, dest: str) -> Form:
    """To a 16-bit float: rounded now, as what follows must see the rounded value."""
    return Form(native=e.program.cast(e.wide(x), dest))


def _convert(e: Expander, op: GraphOp, value: int, pair: tuple[str, str]) -> int:
    steps = _STEPS.get(pair)
    if steps is None:
        raise RefusalError(
            "type", f"{place(op)}: the vector unit does not convert {pair[0]} to {pair[1]}"
        )
    for dtype, mode in steps:
        value = e.program.cast(value, dtype, mode)
    return value


# Reductions and norms


def _axes_at(e: Expander, value: SSAValue, dims: tuple[int, ...]) -> frozenset[int]:
    return frozenset(a for d in dims for a in e.axes.dims[value][d])


_MEANS = ("reduce_mean", "global_average_pool")
_KINDS = {"reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod"}


def _reduce(e: Expander, op: GraphOp) -> Form:
    x = op.operands[0]
    shape = tensor_type(x).get_shape()
    dims = reduced_axes(op, len(shape))
    axes, count = _axes_at(e, x, dims), prod(shape[d] for d in dims)
    mean = op.op_name in _MEANS
    kind = _KINDS.get(op.op_name, "sum")
    if dtype_of(x) == "i1" and kind in ("max", "min"):
        return expand_more.reduced_mask(e, x, kind, axes)
    if mean:
        e.floating(op, x)
    wide = e.computes_wide(op, x) or (dtype_of(x) in FLOATS and kind in ("sum", "prod"))
    value = e.program.reduce(kind, e.wide(x) if wide else e.native(x), axes)
    if mean and count > 1:
        value = _arithmetic(e.program, "vdiv", value, float(count), "f32")
    return e.result(value, wide)


def _softmax(e: Expander, op: GraphOp) -> Form:
    x = op.operands[0]
    e.floating(op, x)
    dims = e.axes.dims[x]
    axes = frozenset(dims[normal_axis(cast(int, op.attrs()["axis"]), len(dims))])
    p, wide = e.program, e.wide(x)
    centred = p.binary("vsub", wide, p.reduce("max", wide, axes))
    powers = p.unary("vexp", centred)
    total = p.reduce("sum", powers, axes)
    if op.op_name == "log_softmax":
        return Form(wide=p.binary("vsub", centred, p.unary("vln", total)))
    return Form(wide=p.binary("vdiv", powers, total))


def _mean(p: Program, x: int, axes: frozenset[int], count: int) -> int:
    total = p.reduce("sum", x, axes)
    return _arithmetic(p, "vdiv", total, float(count), "f32")


def _layer_norm(e: Expander, op: GraphOp) -> Form:
    x, scale, *rest = op.operands
    e.floating(op, x)
    attrs, shape = op.attrs(), tensor_type(x).get_shape()
    dims = tuple(range(normal_axis(cast(int, attrs["axis"]), len(shape)), len(shape)))
    axes, count = _axes_at(e, x, dims), prod(shape[d] for d in dims)
    p, wide = e.program, e.wide(x)
    centred = p.binary("vsub", wide, _mean(p, wide, axes, count))
    variance = _mean(p, p.binary("vmul", centred, centred), axes, count)
    deviation = p.unary("vsqrt", p.binary("vadd", variance, cast(float, attrs["epsilon"])))
    value = _scaled(e, p.binary("vdiv", centred, deviation), scale)
    for bias in rest:
        value = _arithmetic(p, "vadd", value, e.operand(bias, True), "f32")
    return Form(wide=value)


def _scaled(e: Expander, value: int, scale: SSAValue) -> int:
    return _arithmetic(e.program, "vmul", value, e.operand(scale, True), "f32")


def _batch_norm(e: Expander, op: GraphOp) -> Form:
    x, scale, bias, mean, variance = op.operands
    e.floating(op, x)
    p, epsilon = e.program, cast(float, op.attrs()["epsilon"])
    deviation = p.unary("vsqrt", p.binary("vadd", e.wide(variance), epsilon))
    factor = p.binary("vdiv", e.wide(scale), deviation)
    centred = p.binary("vsub", e.wide(x), e.wide(mean))
    return Form(wide=p.binary("vadd", p.binary("vmul", centred, factor), e.wide(bias)))


def _gelu(e: Expander, op: GraphOp) -> Form:
    tanh = op.attrs()["approximate"] == "tanh"
    return _function(expand_math.gelu_tanh if tanh else expand_math.gelu, e, op)


HANDLERS: dict[str, Handler] = {
    "relu": partial(_unary, "vrelu"),
    "abs": _abs,
    "neg": _neg,
    "exp": _instruction("vexp"),
    "log": _instruction("vln"),
    "sqrt": _instruction("vsqrt"),
    "reciprocal": partial(_function, expand_math.reciprocal),
    "erf": partial(_function, expand_math.erf),
    "tanh": partial(_function, expand_math.tanh),
    "sigmoid": partial(_function, expand_math.sigmoid),
    "gelu": _gelu,
    "leaky_relu": _leaky_relu,
    "clip": _clip,
    "cast": _cast,
    "add": partial(_binary, "vadd"),
    "sub": partial(_binary, "vsub"),
    "mul": partial(_binary, "vmul"),
    "div": partial(_binary, "vdiv"),
    "max": partial(_binary, "vmax"),
    "min": partial(_binary, "vmin"),
    "pow": _pow,
    "equal": partial(_compare, "eq"),
    "greater": partial(_compare, "gt"),
    "less": partial(_compare, "lt"),
    "greater_or_equal": partial(_compare, "ge"),
    "less_or_equal": partial(_compare, "le"),
    "and": partial(_logical, "vand"),
    "or": partial(_logical, "vor"),
    "xor": _exclusive,
    "not": _not,
    "where": _where,
    "identity": _identity,
    "softmax": _softmax,
    "log_softmax": _softmax,
    "layer_normalization": _layer_norm,
    "batch_normalization": _batch_norm,
    **dict.fromkeys(("matmul", "gemm", "conv"), contraction),
    **dict.fromkeys((*_KINDS, *_MEANS), _reduce),
    **expand_more.MORE_HANDLERS,
    **INTEGER_HANDLERS,
    **expand_composite.COMPOSITE_HANDLERS,
}
"""How each operator becomes steps."""
