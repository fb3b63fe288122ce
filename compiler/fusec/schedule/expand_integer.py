"""Quotients, remainders and shifts of i32, for which the vector unit has no instruction.

A quotient is estimated in f32, what it misses is divided again, and the rest, now below twice the
divisor, is put right by its sign. All sums and products wrap as i32 does.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from fusec.schedule.axes import dtype_of
from fusec.schedule.expand import Expander, Form, Handler
from fusec.schedule.program import Program
from fusec.schedule.unit_types import type_refusal
from fusec_dialects.graph import GraphOp
from fusec_dialects.place import place

BITS = 32


def _operands(e: Expander, op: GraphOp) -> tuple[int, int]:
    """Both operands, in memory over all their axes; RefusalError unless they are i32."""
    for value in op.operands:
        if dtype_of(value) != "i32":
            raise type_refusal(place(op), dtype_of(value), ("i32",), "has no vector kernel here")
    a, b = (e.native(value) for value in op.operands)
    axes = e.program.axes_of(a, b)
    return e.program.spread(a, axes), e.program.spread(b, axes)


@dataclass(frozen=True)
class _Whole:
    """Arithmetic on i32 values of a program."""

    p: Program

    def flag(self, mask: int) -> int:
        """A mask as 0 or 1."""
        return self.p.cast(self.p.cast(mask, "f32"), "i32", "trunc")

    def sign(self, x: int, mode: str) -> int:
        """1 where x compares with 0 as `mode` says; f32 keeps every sign."""
        return self.flag(self.p.compare(mode, self.p.cast(x, "f32"), 0.0))

    def step(self, a: int, b: int) -> int:
        """trunc(a / b) as f32 has it."""
        p = self.p
        return p.cast(p.binary("vdiv", p.cast(a, "f32"), p.cast(b, "f32")), "i32", "trunc")

    def rest(self, a: int, b: int, q: int) -> int:
        return self.p.binary("vsub", a, self.p.binary("vmul", q, b))

    def divide(self, a: int, b: int) -> tuple[int, int]:
        """Quotient towards zero, and remainder with the sign of a; both 0 where b is."""
        p = self.p
        q = self.step(a, b)
        r = self.rest(a, b, q)
        more = self.step(r, b)
        q, r = p.binary("vadd", q, more), self.rest(r, b, more)
        sign_b = p.binary("vsub", self.sign(b, "gt"), self.sign(b, "lt"))
        size_b = p.binary("vmul", b, sign_b)
        for sign in (self.negative(a, r), self.too_large(r, size_b)):
            q = p.binary("vadd", q, p.binary("vmul", sign, sign_b))
            r = p.binary("vsub", r, p.binary("vmul", sign, size_b))
        there = self.sign(b, "ne")
        return p.binary("vmul", q, there), p.binary("vmul", r, there)

    def negative(self, a: int, r: int) -> int:
        """1 where r is above 0 and a is not, -1 the other way round: r is on the wrong side."""
        p = self.p
        above = p.binary("vmul", self.sign(r, "gt"), self.sign(a, "lt"))
        below = p.binary("vmul", self.sign(r, "lt"), self.sign(a, "ge"))
        return p.binary("vsub", above, below)

    def too_large(self, r: int, size: int) -> int:
        """The sign of r where it is not below the size of the divisor."""
        p = self.p
        sign = p.binary("vsub", self.sign(r, "gt"), self.sign(r, "lt"))
        over = self.sign(p.binary("vsub", p.binary("vmul", r, sign), size), "ge")
        return p.binary("vmul", sign, over)


def integer_division(e: Expander, op: GraphOp) -> Form:
    """i32, towards zero."""
    return Form(native=_Whole(e.program).divide(*_operands(e, op))[0])


def _mod(e: Expander, op: GraphOp) -> Form:
    """With `fmod` the sign of the dividend, else of the divisor."""
    a, b = _operands(e, op)
    whole, p = _Whole(e.program), e.program
    _, r = whole.divide(a, b)
    if op.attrs()["fmod"]:
        return Form(native=r)
    up = p.binary("vmul", whole.sign(r, "gt"), whole.sign(b, "lt"))
    down = p.binary("vmul", whole.sign(r, "lt"), whole.sign(b, "gt"))
    return Form(native=p.binary("vadd", r, p.binary("vmul", b, p.binary("vadd", up, down))))


def _power(e: Expander, x: int, counts: SSAValue) -> tuple[int, int]:
    """2 to the counts (it wraps at 31), and the counts, over the axes of x and of both."""
    p, whole = e.program, _Whole(e.program)
    count = e.native(counts)
    axes = p.axes_of(x, count)
    count = p.spread(count, axes)
    power = p.fill(1.0, "i32", axes)
    for bit in range(5):
        place = p.fill(float(1 << bit), "i32", axes)
        flag = whole.sign(p.binary("vand", count, place), "ne")
        factor = p.binary("vadd", p.binary("vmul", flag, float((1 << (1 << bit)) - 1)), 1.0)
        power = p.binary("vmul", power, factor)
    return power, count


def _within(p: Program, count: int, end: int) -> int:
    """1 where 0 <= count < end; f32 tells that of every count."""
    whole = _Whole(p)
    below = whole.flag(p.compare("lt", p.cast(count, "f32"), float(end)))
    return p.binary("vmul", whole.sign(count, "ge"), below)


def _bit_shift(e: Expander, op: GraphOp) -> Form:
    """A product with, or a quotient by, a power of two; past the width nothing but the sign is
    left, and only to the right."""
    x, _ = _operands(e, op)
    p, whole = e.program, _Whole(e.program)
    power, count = _power(e, x, op.operands[1])
    x = p.spread(x, p.vals[power].axes)
    if op.attrs()["direction"] == "LEFT":
        shifted = p.binary("vmul", x, power)
        return Form(native=p.binary("vmul", shifted, _within(p, count, BITS)))
    low = p.binary("vand", x, p.binary("vadd", power, -1.0))
    high = p.binary("vsub", x, low)
    q = whole.step(high, power)
    q = p.binary("vadd", q, whole.step(whole.rest(high, power, q), power))
    inside = _within(p, count, BITS - 1)
    signs = p.binary(
        "vmul",
        whole.sign(x, "lt"),
        p.binary("vsub", inside, p.fill(1.0, "i32", p.vals[power].axes)),
    )
    return Form(native=p.binary("vadd", p.binary("vmul", q, inside), signs))


INTEGER_HANDLERS: dict[str, Handler] = {"mod": _mod, "bit_shift": _bit_shift}
"""How each operator becomes steps."""
