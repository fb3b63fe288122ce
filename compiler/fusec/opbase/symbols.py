"""Tensors of which only the history is known, and the operators that `compute` is written with.

In: calls of `ascendc.NAME(...)` and arithmetic. Out: terms, which are the pattern of a fusion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

from xdsl.utils.exceptions import DiagnosticException

from fusec.fusion.patterns.terms import Apply, Term
from fusec_dialects.graph import OPERATORS, AttrValue


class FusionError(DiagnosticException):
    """An own fusion or operator that cannot be taken; the message says which and why."""

    __module__ = "fusec.opbase"


@dataclass(frozen=True)
class Symbol:
    """A tensor of which only its history is known; arithmetic on it is recorded."""

    term: Term

    def __add__(self, other: Symbol | float) -> Symbol:
        return ascendc.call("add", (self, other), {})

    def __radd__(self, other: float) -> Symbol:
        return ascendc.call("add", (other, self), {})

    def __sub__(self, other: Symbol | float) -> Symbol:
        return ascendc.call("sub", (self, other), {})

    def __rsub__(self, other: float) -> Symbol:
        return ascendc.call("sub", (other, self), {})

    def __mul__(self, other: Symbol | float) -> Symbol:
        return ascendc.call("mul", (self, other), {})

    def __rmul__(self, other: float) -> Symbol:
        return ascendc.call("mul", (other, self), {})

    def __truediv__(self, other: Symbol | float) -> Symbol:
        return ascendc.call("div", (self, other), {})

    def __rtruediv__(self, other: float) -> Symbol:
        return ascendc.call("div", (other, self), {})

    def __matmul__(self, other: Symbol) -> Symbol:
        return ascendc.call("matmul", (self, other), {})

    def __neg__(self) -> Symbol:
        return ascendc.call("neg", (self,), {})


class AscendC:
    """`ascendc.matmul(a, b)` and every other operator of the graph dialect, on symbols."""

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in OPERATORS:
            raise FusionError(f"ascendc.{name}: unknown operator; {nearest(name, OPERATORS)}")

        def operator(*operands: Symbol | float, **attrs: Any) -> Symbol:
            return self.call(name, operands, attrs)

        return operator

    def call(self, name: str, operands: Sequence[Symbol | float], attrs: dict[str, Any]) -> Symbol:
        """Record an operator; raises FusionError for operands or attributes that it has not."""
        operator = OPERATORS[name]
        known = operator.get_irdl_definition().properties
        for key in attrs:
            if key not in known:
                raise FusionError(f"ascendc.{name}: no attribute '{key}'; {nearest(key, known)}")
        given: dict[str, AttrValue] = {**operator.DEFAULTS}
        given |= {k: _attribute(v) for k, v in attrs.items()}
        return Symbol(Apply(name, tuple(_term(name, o) for o in operands), tuple(given.items())))


ascendc = AscendC()
"""The operators that `compute` is written with."""


def _attribute(value: object) -> AttrValue:
    return cast(AttrValue, tuple(cast(list[int], value)) if isinstance(value, list) else value)


def _term(name: str, operand: object) -> Term:
    if isinstance(operand, Symbol):
        return operand.term
    if isinstance(operand, int | float) and not isinstance(operand, bool):
        return float(operand)
    raise FusionError(
        f"ascendc.{name}: an operand is {type(operand).__name__}, expected a tensor or a number"
    )


def nearest(name: str, valid: Iterable[str]) -> str:
    """Advice for a name that does not exist."""
    names = list(valid)
    near = get_close_matches(name, names, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known: {', '.join(sorted(names)[:12])}, ..."
