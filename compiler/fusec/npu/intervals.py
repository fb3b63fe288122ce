"""Bounds of index values and of the trips of loops, by interval arithmetic over `arith` and `scf`.

In: values of a kernel. Out: an interval that certainly holds the value; it may be wider than what
can happen, since two values that depend on each other are treated as if they did not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation, SSAValue

from fusec_dialects.npu.control import BlockIdxOp, BlockNumOp

UNBOUNDED = 1 << 62
"""Stands for infinity; an index has 64 bits."""


class Interval(NamedTuple):
    """Integers from `low` to `high`, both inclusive."""

    low: int
    high: int

    @property
    def constant(self) -> int | None:
        """The only value in the interval, if there is one."""
        return self.low if self.low == self.high else None


ANYTHING = Interval(-UNBOUNDED, UNBOUNDED)


class Intervals:
    """Interval of each value asked for, computed once. `blocks`: the number of blocks, if known."""

    def __init__(self, blocks: int | None) -> None:
        self._blocks = blocks
        self._known: dict[SSAValue, Interval] = {}

    def of(self, value: SSAValue) -> Interval:
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._compute(value)
        return found

    def trips(self, loop: ForOp) -> Interval:
        """How often the body runs each time the loop is entered."""
        low, high, step = self.of(loop.lb), self.of(loop.ub), self.of(loop.step)
        if step.low < 1:
            return Interval(0, UNBOUNDED)
        most = -(-(high.high - low.low) // step.low)
        least = -(-(high.low - low.high) // step.high)
        return Interval(max(min(least, UNBOUNDED), 0), max(min(most, UNBOUNDED), 0))

    def _compute(self, value: SSAValue) -> Interval:
        owner = value.owner
        if isinstance(owner, Block):
            loop = owner.parent_op()
            if isinstance(loop, ForOp) and value is owner.args[0]:
                return self._counter(loop)
            return ANYTHING
        if isinstance(owner, arith.ConstantOp):
            constant = owner.value
            if isinstance(constant, IntegerAttr):
                return Interval(constant.value.data, constant.value.data)
            return ANYTHING
        if isinstance(owner, BlockIdxOp):
            return Interval(0, UNBOUNDED if self._blocks is None else self._blocks - 1)
        if isinstance(owner, BlockNumOp):
            return Interval(1 if self._blocks is None else self._blocks, self._blocks or UNBOUNDED)
        if isinstance(owner, arith.IndexCastOp):
            return self.of(owner.input)
        if isinstance(owner, arith.SelectOp):
            a, b = self.of(owner.lhs), self.of(owner.rhs)
            return Interval(min(a.low, b.low), max(a.high, b.high))
        rule = _RULES.get(type(owner))
        if rule is None:
            return ANYTHING
        low, high = rule(self.of(owner.operands[0]), self.of(owner.operands[1]))
        return Interval(max(low, -UNBOUNDED), min(high, UNBOUNDED))

    def _counter(self, loop: ForOp) -> Interval:
        low, high, step = self.of(loop.lb), self.of(loop.ub), self.of(loop.step)
        last = high.high - 1
        if low.constant is not None and step.constant is not None and step.low > 0:
            last = low.low + max(last - low.low, 0) // step.low * step.low
        return Interval(low.low, max(last, low.low))


def _add(a: Interval, b: Interval) -> Interval:
    return Interval(a.low + b.low, a.high + b.high)


def _subtract(a: Interval, b: Interval) -> Interval:
    return Interval(a.low - b.high, a.high - b.low)


def _multiply(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    return Interval(min(corners), max(corners))


def _divide(a: Interval, b: Interval) -> Interval:
    """Division of what is not negative by what is positive; signed and unsigned agree there."""
    return Interval(a.low // b.high, a.high // b.low) if a.low >= 0 and b.low > 0 else ANYTHING


def _ceil_divide(a: Interval, b: Interval) -> Interval:
    if a.low < 0 or b.low < 1:
        return ANYTHING
    return Interval(-(-a.low // b.high), -(-a.high // b.low))


def _remainder(a: Interval, b: Interval) -> Interval:
    if a.low < 0 or b.low < 1:
        return ANYTHING
    return a if a.high < b.low else Interval(0, min(a.high, b.high - 1))


def _minimum(a: Interval, b: Interval) -> Interval:
    return Interval(min(a.low, b.low), min(a.high, b.high))


def _maximum(a: Interval, b: Interval) -> Interval:
    return Interval(max(a.low, b.low), max(a.high, b.high))


def _unsigned(rule: Callable[[Interval, Interval], Interval]) -> _Rule:
    """Signed and unsigned agree on what is not negative."""
    return lambda a, b: rule(a, b) if min(a.low, b.low) >= 0 else ANYTHING


_Rule = Callable[[Interval, Interval], Interval]

_RULES: dict[type[Operation], _Rule] = {
    arith.AddiOp: _add,
    arith.SubiOp: _subtract,
    arith.MuliOp: _multiply,
    arith.DivSIOp: _divide,
    arith.DivUIOp: _divide,
    arith.FloorDivSIOp: _divide,
    arith.CeilDivSIOp: _ceil_divide,
    arith.CeilDivUIOp: _ceil_divide,
    arith.RemSIOp: _remainder,
    arith.RemUIOp: _remainder,
    arith.MinSIOp: _minimum,
    arith.MaxSIOp: _maximum,
    arith.MinUIOp: _unsigned(_minimum),
    arith.MaxUIOp: _unsigned(_maximum),
}
