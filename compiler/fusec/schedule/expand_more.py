"""The steps of further graph operators, by name: special functions, rounding, bits, choices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.ir import SSAValue

from fusec.schedule import expand_special
from fusec.schedule.axes import dtype_of
from fusec.schedule.expand import Expander, Form, Handler
from fusec.schedule.program import Program
from fusec.schedule.unit_types import type_refusal
from fusec_dialects.graph import GraphOp
from fusec_dialects.place import place


def _function(make: Callable[[Program, int], int], e: Expander, op: GraphOp) -> Form:
    """A function of f32, whatever floating type the operand has."""
    e.floating(op, op.operands[0])
    return Form(wide=make(e.program, e.wide(op.operands[0])))


def _rounding(mode: str) -> Handler:
    return partial(_function, lambda p, x: expand_special.rounded(p, x, mode))


def _integers(e: Expander, op: GraphOp) -> list[int]:
    """The operands of an operator on i32, all in memory over all their axes."""
    for value in op.operands:
        if dtype_of(value) != "i32":
            raise type_refusal(place(op), dtype_of(value), ("i32",), "has no vector kernel here")
    values = [e.native(value) for value in op.operands]
    axes = e.program.axes_of(*values)
    return [e.program.spread(value, axes) for value in values]


def _bitwise(kind: str, e: Expander, op: GraphOp) -> Form:
    return Form(native=e.program.binary(kind, *_integers(e, op)))


def _bitwise_not(e: Expander, op: GraphOp) -> Form:
    return Form(native=e.program.unary("vnot", _integers(e, op)[0]))


def _bitwise_xor(e: Expander, op: GraphOp) -> Form:
    a, b = _integers(e, op)
    p = e.program
    both = p.unary("vnot", p.binary("vand", a, b))
    return Form(native=p.binary("vand", p.binary("vor", a, b), both))


def general_power(e: Expander, op: GraphOp) -> Form:
    """Any floating exponent, constant or computed, by exp and log."""
    base, exponent = op.operands
    for value in (base, exponent):
        e.floating(op, value)
    power = expand_special.general_power(e.program, e.wide(base), e.operand(exponent, True))
    return Form(wide=power)


def equal_integers(e: Expander, a: SSAValue, b: SSAValue) -> Form:
    """i32: whether the difference, which wraps, is 0; f32 tells that of every integer."""
    p = e.program
    difference = p.binary("vsub", e.native(a), e.operand(b, False))
    return Form(mask=p.compare("eq", p.cast(difference, "f32"), 0.0))


def choose(e: Expander, op: GraphOp) -> Form:
    """where on i32 (b + mask (a - b), which wraps to the exact value) and on i1."""
    condition, a, b = op.operands
    p, mask = e.program, e.mask(condition)
    if dtype_of(a) == "i1":
        masks = [mask, e.mask(a), e.mask(b)]
        axes = p.axes_of(*masks)
        mask, left, right = (p.spread(m, axes) for m in masks)
        chosen = p.binary("vand", mask, left)
        return Form(mask=p.binary("vor", chosen, p.binary("vand", p.unary("vnot", mask), right)))
    ones = p.cast(p.cast(mask, "f32"), "i32", "trunc")
    left, right = e.native(a), e.native(b)
    taken = p.binary("vmul", p.binary("vsub", left, right), ones)
    return Form(native=p.binary("vadd", taken, right))


def can_choose(value: SSAValue) -> bool:
    """Whether `choose` takes the type."""
    return dtype_of(value) in ("i32", "i1")


def reduced_mask(e: Expander, x: SSAValue, kind: str, axes: frozenset[int]) -> Form:
    """The largest or smallest truth value over axes."""
    p = e.program
    return Form(mask=p.compare("ne", p.reduce(kind, p.cast(e.mask(x), "f16"), axes), 0.0))


_FUNCTIONS = {
    "sin": expand_special.sin,
    "cos": expand_special.cos,
    "tan": expand_special.tan,
    "asin": expand_special.asin,
    "acos": expand_special.acos,
    "atan": expand_special.atan,
    "sinh": expand_special.sinh,
    "cosh": expand_special.cosh,
    "asinh": expand_special.asinh,
    "acosh": expand_special.acosh,
    "atanh": expand_special.atanh,
    "sign": expand_special.sign,
}

MORE_HANDLERS: dict[str, Handler] = {
    **{name: partial(_function, make) for name, make in _FUNCTIONS.items()},
    "floor": _rounding("floor"),
    "ceil": _rounding("ceil"),
    "round": _rounding("rint"),
    "bitwise_and": partial(_bitwise, "vand"),
    "bitwise_or": partial(_bitwise, "vor"),
    "bitwise_xor": _bitwise_xor,
    "bitwise_not": _bitwise_not,
}
"""How each operator becomes steps."""
