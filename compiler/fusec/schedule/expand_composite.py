"""The steps of activations that stand for a small expression, in f32 whatever their type."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from fusec.schedule.expand import Expander, Form, Handler
from fusec.schedule.program import Program
from fusec_dialects.graph import GraphOp

SATURATED = 20.0
"""Where tanh(softplus(x)) is 1 in f32, and exp(x)^2 is far from overflow."""


def _swish(p: Program, x: int, op: GraphOp) -> int:
    """x / (1 + exp(-alpha x)); exp overflows to infinity where the result is 0."""
    alpha = cast(float, op.attrs()["alpha"])
    odds = p.binary("vadd", p.unary("vexp", p.binary("vmul", x, -alpha)), 1.0)
    return p.binary("vdiv", x, odds)


def _gate(p: Program, x: int, alpha: float, beta: float) -> int:
    """min(max(alpha x + beta, 0), 1)."""
    line = p.binary("vadd", p.binary("vmul", x, alpha), beta)
    return p.binary("vmin", p.binary("vmax", line, 0.0), 1.0)


def _hard_sigmoid(p: Program, x: int, op: GraphOp) -> int:
    attrs = op.attrs()
    return _gate(p, x, cast(float, attrs["alpha"]), cast(float, attrs["beta"]))


def _hard_swish(p: Program, x: int, op: GraphOp) -> int:
    return p.binary("vmul", x, _gate(p, x, 1.0 / 6.0, 0.5))


def _softplus(p: Program, x: int, op: GraphOp) -> int:
    """max(x, 0) + log(1 + exp(-|x|))."""
    decay = p.unary("vexp", p.binary("vmul", p.unary("vabs", x), -1.0))
    return p.binary("vadd", p.unary("vrelu", x), p.unary("vln", p.binary("vadd", decay, 1.0)))


def _mish(p: Program, x: int, op: GraphOp) -> int:
    """x n / (n + 2) with n = e (e + 2), e = exp(x): tanh(log(1 + e)) written out."""
    power = p.unary("vexp", p.binary("vmin", x, SATURATED))
    n = p.binary("vmul", power, p.binary("vadd", power, 2.0))
    return p.binary("vmul", x, p.binary("vdiv", n, p.binary("vadd", n, 2.0)))


def _handle(make: Callable[[Program, int, GraphOp], int], e: Expander, op: GraphOp) -> Form:
    e.floating(op, op.operands[0])
    return Form(wide=make(e.program, e.wide(op.operands[0]), op))


COMPOSITE_HANDLERS: dict[str, Handler] = {
    "swish": partial(_handle, _swish),
    "hard_sigmoid": partial(_handle, _hard_sigmoid),
    "hard_swish": partial(_handle, _hard_swish),
    "softplus": partial(_handle, _softplus),
    "mish": partial(_handle, _mish),
}
"""How each operator becomes steps."""
