"""Rules as tables: an expression of operators to find, with captures and scalar constants.

A pattern is a capture ("x", the same value wherever it stands), a number (a scalar constant close
to it), or (operator, operand, ...); operands of commutative operators match in either order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from xdsl.ir import Operation, SSAValue

from fusec.semantics.interpreter import constant_array
from fusec_dialects.graph import ConstantOp, GraphOp, WeightOp
from fusec_dialects.graph.base import element_name

Pattern: TypeAlias = "str | float | tuple[str | Pattern, ...]"

COMMUTATIVE = frozenset({"add", "mul", "max", "min", "and", "or", "equal"})
TOLERANCE = {"f16": 2.0**-10, "bf16": 2.0**-7}
"""How far a constant may be from a number that its type cannot hold, relatively: one unit in the
last place, for other types 1e-6 since exporters compute constants in f32."""


@dataclass(frozen=True)
class Captures:
    """What a pattern found: values by name, and the operators that the expression consists of."""

    values: Mapping[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    ops: tuple[Operation, ...] = ()


def scalar_of(value: SSAValue) -> float | None:
    """The number that a constant of one element is; None for anything else."""
    owner = value.owner
    if not isinstance(owner, ConstantOp):
        return None
    array = constant_array(owner)
    return float(array.reshape(-1)[0]) if array.size == 1 else None


def is_number(value: SSAValue, number: float) -> bool:
    """Whether a constant is this number, exactly where its type can hold it."""
    owner = value.owner
    found = scalar_of(value)
    if found is None or not isinstance(owner, ConstantOp):
        return False
    if float(constant_array(owner).dtype.type(number)) == number:
        return found == number
    tolerance = TOLERANCE.get(element_name(value.type), 1e-6)
    return abs(found - number) <= tolerance * abs(number)


def is_known(value: SSAValue) -> bool:
    """A constant, a weight, or a small expression of these (up to 32 operands)."""
    stack, looked_at = [value], 0
    while stack:
        owner = stack.pop().owner
        looked_at += 1
        if isinstance(owner, ConstantOp | WeightOp):
            continue
        if not isinstance(owner, GraphOp) or not owner.operands or looked_at > 32:
            return False
        stack += owner.operands
    return True


T = TypeVar("T")


class Table(Generic[T]):
    """Patterns by what their root and its operands are, so that few have to be tried anywhere.

    `items` are (pattern, what belongs to it), tried in order.
    """

    def __init__(self, items: Iterable[tuple[Pattern, T]]) -> None:
        self._by_root: dict[str, list[tuple[frozenset[str], Pattern, T]]] = {}
        for pattern, item in items:
            if not isinstance(pattern, tuple):
                raise ValueError(f"a pattern begins with an operator, not with {pattern}")
            name, *operands = pattern
            needed = frozenset(str(o[0]) for o in operands if isinstance(o, tuple))
            self._by_root.setdefault(str(name), []).append((needed, pattern, item))

    @property
    def roots(self) -> tuple[str, ...]:
        """The operators that a pattern begins with."""
        return tuple(self._by_root)

    def matches(self, op: GraphOp) -> Iterator[tuple[Captures, T]]:
        """What is found at an operator, the first binding of each pattern, if it is private."""
        owners = [o.owner for o in op.operands]
        names = {o.op_name for o in owners if isinstance(o, GraphOp)}
        for needed, pattern, item in self._by_root.get(op.op_name, ()):
            if not needed <= names:
                continue
            found = match(op.results[0], pattern)
            if found is not None and is_private(op, found):
                yield found, item


def match(value: SSAValue, pattern: Pattern) -> Captures | None:
    """The captures of a pattern at a value, or None; every order of operands is tried."""
    return next(_matches(value, pattern, Captures()), None)


def _matches(value: SSAValue, pattern: Pattern, found: Captures) -> Iterator[Captures]:
    if isinstance(pattern, str):
        known = found.values.get(pattern)
        if known is None:
            yield Captures({**found.values, pattern: value}, found.ops)
        elif known is value:
            yield found
        return
    if isinstance(pattern, int | float):
        if is_number(value, pattern):
            yield found
        return
    name, *operands = pattern
    op = value.owner
    if not isinstance(op, GraphOp) or op.op_name != name or len(op.operands) != len(operands):
        return
    inside = Captures(found.values, (*found.ops, op))
    yield from _operands(op.operands, operands, inside)
    if name in COMMUTATIVE and len(operands) == 2 and operands[0] != operands[1]:
        yield from _operands(op.operands[::-1], operands, inside)


def _operands(
    values: Sequence[SSAValue], patterns: Sequence[Pattern], found: Captures
) -> Iterator[Captures]:
    if not patterns:
        yield found
        return
    for first in _matches(values[0], patterns[0], found):
        yield from _operands(values[1:], patterns[1:], first)


def is_private(root: Operation, found: Captures) -> bool:
    """Whether nothing outside of the expression uses a value inside of it, but for its root's."""
    inside = set(found.ops)
    return all(
        use.operation in inside
        for op in found.ops
        if op is not root
        for result in op.results
        for use in result.uses
    )
