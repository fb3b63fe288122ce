"""What is known of a kernel's scalars before it runs: bounds, and what they are multiples of.

In: a decoded kernel and the number of blocks. Out: which bytes of a gm argument a view can reach,
and whether a view always starts on an alignment. A scalar that is read from gm is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, inf, isfinite

from fusec.simulator.form import Kernel, Loop, Reg, Scalar, Statement, Value, View


@dataclass(frozen=True, slots=True)
class Fact:
    """lo <= scalar <= hi, and `multiple` divides it (0: it is 0)."""

    lo: float
    hi: float
    multiple: int = 1


UNKNOWN = Fact(-inf, inf)


class Facts:
    """The facts of one kernel on `blocks` blocks."""

    def __init__(self, kernel: Kernel, blocks: int):
        self._facts: dict[Reg, Fact] = {
            kernel.block: Fact(0, blocks - 1),
            kernel.block_count: Fact(blocks, blocks, blocks),
        }
        self._body(kernel.prelude)
        self._body(kernel.body)

    def of(self, value: Value) -> Fact:
        if isinstance(value, Reg):
            return self._facts.get(value, UNKNOWN)
        return Fact(value, value, abs(value)) if isinstance(value, int) else UNKNOWN

    def span(self, view: View) -> tuple[int, int]:
        """The first byte, and the one after the last, of its buffer that the view can reach."""
        low = high = float(view.offset.constant)
        for factor, reg in view.offset.terms:
            fact = self.of(reg)
            ends = (fact.lo * factor, fact.hi * factor)
            low, high = low + min(ends), high + max(ends)
        for size, stride in zip(view.sizes, view.strides, strict=True):
            high += max(self.of(size).hi - 1, 0) * self.of(stride).hi if size != 1 else 0
        limit = view.buffer.elements
        first = int(max(low, 0)) if isfinite(low) else 0
        last = int(min(high + 1, limit)) if isfinite(high) else limit
        return first * view.buffer.itemsize, max(first, last) * view.buffer.itemsize

    def aligned(self, view: View, alignment: int) -> bool:
        """Whether the view always starts at a multiple of `alignment` bytes of its buffer."""
        step = view.offset.constant
        for factor, reg in view.offset.terms:
            step = gcd(step, factor * self.of(reg).multiple)
        return step * view.buffer.itemsize % alignment == 0

    def _body(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            if isinstance(statement, Scalar):
                args = [self.of(a) for a in statement.args]
                self._facts[statement.dest] = _result(statement.op, args)
            elif isinstance(statement, Loop):
                self._facts[statement.var] = self._variable(statement)
                self._body(statement.body)

    def _variable(self, loop: Loop) -> Fact:
        lower, upper, step = self.of(loop.lower), self.of(loop.upper), self.of(loop.step)
        return Fact(lower.lo, max(lower.lo, upper.hi - 1), gcd(lower.multiple, step.multiple))


def _result(op: str, args: list[Fact]) -> Fact:
    """The fact of an integer operator's result; UNKNOWN where nothing is known."""
    if len(args) < 2:
        return UNKNOWN
    a, b = args[0], args[1]
    common = gcd(a.multiple, b.multiple)
    match op:
        case "addi":
            return Fact(a.lo + b.lo, a.hi + b.hi, common)
        case "subi":
            return Fact(a.lo - b.hi, a.hi - b.lo, common)
        case "muli":
            return _product(a, b)
        case "minsi" | "minui":
            return Fact(min(a.lo, b.lo), min(a.hi, b.hi), common)
        case "maxsi" | "maxui":
            return Fact(max(a.lo, b.lo), max(a.hi, b.hi), common)
        case "divui" | "divsi" | "floordivsi" | "ceildivsi" | "ceildivui":
            return _quotient(a, b, "ceil" in op)
        case "remui" | "remsi" if a.lo >= 0 and b.lo > 0:
            return Fact(0, min(a.hi, b.hi - 1), common)
        case "select":
            no = args[2]
            return Fact(min(b.lo, no.lo), max(b.hi, no.hi), gcd(b.multiple, no.multiple))
        case "iteration":
            return Fact(0, args[3].hi - 1)
        case _:
            return Fact(0, 1) if op.startswith("cmpi") else UNKNOWN


def _product(a: Fact, b: Fact) -> Fact:
    multiple = a.multiple * b.multiple
    if not all(map(isfinite, (a.lo, a.hi, b.lo, b.hi))):
        return Fact(-inf, inf, multiple)
    ends = (a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi)
    return Fact(min(ends), max(ends), multiple)


def _quotient(a: Fact, b: Fact, up: bool) -> Fact:
    """Of a number that is not negative by a positive constant."""
    if b.lo != b.hi or b.lo < 1 or a.lo < 0:
        return UNKNOWN
    divisor = int(b.lo)
    extra = divisor - 1 if up else 0
    multiple = a.multiple // divisor if a.multiple % divisor == 0 else 1
    return Fact((a.lo + extra) // divisor, (a.hi + extra) // divisor, multiple)
