"""ONNX's elementwise operators that are plain, or compositions of plain ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeAlias

from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.container import numpy_dtype
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.folding import Result
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec.semantics.types import element_type, numpy_type
from fusec_dialects.graph.elements import FLOATS

Function: TypeAlias = Callable[[Maker, SSAValue], SSAValue]


def _of(function: Function) -> Entry:
    """An operator of one input as a composition."""
    return lambda node: (function(Maker(node), node.value(0)),)


def _plain(name: str, inputs: int = 1) -> Entry:
    return lambda node: node.build(name, node.values(inputs, inputs))


def softplus(m: Maker, x: SSAValue) -> SSAValue:
    """log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)), which does not overflow."""
    decay = m("exp", m("neg", m("abs", x)))
    return m("add", m("relu", x), m("log", m("add", decay, 1.0)))


def _minus(m: Maker, x: SSAValue, scale: float) -> SSAValue:
    """scale (exp(min(x, 0)) - 1)."""
    return m("mul", m("sub", m("exp", m("min", x, 0.0)), 1.0), scale)


def _elu(m: Maker, x: SSAValue) -> SSAValue:
    return m("add", m("relu", x), _minus(m, x, m.node.float_("alpha", 1.0)))


def _selu(m: Maker, x: SSAValue) -> SSAValue:
    alpha = m.node.float_("alpha", 1.67326319217681884765625)
    gamma = m.node.float_("gamma", 1.05070102214813232421875)
    return m("add", m("mul", m("relu", x), gamma), _minus(m, x, alpha * gamma))


def _celu(m: Maker, x: SSAValue) -> SSAValue:
    alpha = m.node.float_("alpha", 1.0)
    return m("add", m("relu", x), _minus(m, m("mul", x, 1.0 / alpha), alpha))


def _softsign(m: Maker, x: SSAValue) -> SSAValue:
    return m("div", x, m("add", m("abs", x), 1.0))


def _mish(m: Maker, x: SSAValue) -> SSAValue:
    """x tanh(log(1 + w)), w = exp(x): x n / (n + 2), n = w (w + 2); beyond 20 it is x in f32."""
    power = m("exp", m("min", x, 20.0))
    ratio = m("mul", power, m("add", power, 2.0))
    return m("mul", x, m("div", ratio, m("add", ratio, 2.0)))


def _hard_sigmoid(alpha: float, beta: float, x: SSAValue, m: Maker) -> SSAValue:
    return m("clip", m("add", m("mul", x, alpha), beta), min=0.0, max=1.0)


def _hard_sigmoid_of(m: Maker, x: SSAValue) -> SSAValue:
    return _hard_sigmoid(m.node.float_("alpha", 0.2), m.node.float_("beta", 0.5), x, m)


def _hard_swish(m: Maker, x: SSAValue) -> SSAValue:
    return m("mul", x, _hard_sigmoid(1.0 / 6.0, 0.5, x, m))


def _thresholded_relu(m: Maker, x: SSAValue) -> SSAValue:
    return m("where", m("greater", x, m.node.float_("alpha", 1.0)), x, 0.0)


def _shrink(m: Maker, x: SSAValue) -> SSAValue:
    limit, bias = m.node.float_("lambd", 0.5), m.node.float_("bias", 0.0)
    above = m("where", m("greater", x, limit), m("sub", x, bias), 0.0)
    return m("where", m("less", x, -limit), m("add", x, bias), above)


def _swish(m: Maker, x: SSAValue) -> SSAValue:
    alpha = m.node.float_("alpha", 1.0)
    return m("mul", x, m("sigmoid", x if alpha == 1.0 else m("mul", x, alpha)))


def _prelu(node: Node) -> Sequence[SSAValue]:
    m = Maker(node)
    x, slope = node.values(2, 2)
    return (m("where", m("less", x, 0.0), m("mul", x, slope), x),)


def _is_nan(m: Maker, x: SSAValue) -> SSAValue:
    return m("not", m("equal", x, x))


def _is_inf(m: Maker, x: SSAValue) -> SSAValue:
    negative, positive = m.node.int_("detect_negative", 1), m.node.int_("detect_positive", 1)
    if negative and positive:
        return m("equal", m("abs", x), inf)
    if not negative and not positive:
        raise ImportFailure("neither sign of infinity is looked for; leave the node out")
    return m("equal", x, inf if positive else -inf)


def _mean(node: Node) -> Sequence[SSAValue]:
    m = Maker(node)
    first, *rest = node.values()
    total = first
    for value in rest:
        total = m("add", total, value)
    return (m("mul", total, 1.0 / (1 + len(rest))),)


def _pow(node: Node) -> Sequence[SSAValue]:
    """An integer exponent of a floating base is cast, as the result has the base's type."""
    m = Maker(node)
    base, exponent = node.values(2, 2)
    if node.element(base) in FLOATS and node.element(exponent) != node.element(base):
        exponent = m("cast", exponent, to=node.element(base))
    return (m("pow", base, exponent),)


def _mod(node: Node) -> Sequence[SSAValue]:
    a, b = node.values(2, 2)
    return node.build("mod", [a, b], {"fmod": bool(node.int_("fmod", 0))})


def _bit_shift(node: Node) -> Sequence[SSAValue]:
    return node.build("bit_shift", node.values(2, 2), {"direction": node.text("direction", "")})


def _bit_cast(node: Node) -> Sequence[SSAValue]:
    to = element_type(numpy_dtype(node.int_("to"), "the result"))
    return node.build("bit_cast", [node.value(0)], {"to": to})


def _cast_like(node: Node) -> Sequence[Result]:
    to = node.element(node.value(1))
    known = node.known(0)
    if known is not None and known.size == 1:
        return (known.astype(numpy_type(to)),)
    return node.build("cast", [node.value(0)], {"to": to})


_PLAIN = "Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Floor Ceil Round Sign"

MATH: dict[str, list[tuple[int, Entry]]] = {
    **{name: [(1, _plain(name.lower()))] for name in _PLAIN.split()},
    "Elu": [(6, _of(_elu))],
    "Selu": [(6, _of(_selu))],
    "Celu": [(12, _of(_celu))],
    "Softplus": [(1, _of(softplus))],
    "Softsign": [(1, _of(_softsign))],
    "Mish": [(18, _of(_mish))],
    "HardSigmoid": [(6, _of(_hard_sigmoid_of))],
    "HardSwish": [(14, _of(_hard_swish))],
    "ThresholdedRelu": [(10, _of(_thresholded_relu))],
    "Shrink": [(9, _of(_shrink))],
    "Swish": [(24, _of(_swish))],
    "PRelu": [(7, _prelu)],
    "IsNaN": [(9, _of(_is_nan))],
    "IsInf": [(10, _of(_is_inf))],
    "Mean": [(6, _mean)],
    "Pow": [(7, _pow)],
    "Mod": [(10, _mod)],
    "BitwiseAnd": [(18, _plain("bitwise_and", 2))],
    "BitwiseOr": [(18, _plain("bitwise_or", 2))],
    "BitwiseXor": [(18, _plain("bitwise_xor", 2))],
    "BitwiseNot": [(18, _plain("bitwise_not"))],
    "BitShift": [(11, _bit_shift)],
    "BitCast": [(26, _bit_cast)],
    "CastLike": [(15, _cast_like)],
}
"""Entries by operator type, the newest opset first."""
