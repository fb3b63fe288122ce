"""Rules as tables: an expression of operators to find, with captures and scalar constants.

A pattern is a capture ("x", the same value wherever it stands), a number (a scalar constant close
to it), or (operator, operand, ...); operands of commutative operators match in either order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation, SSAValue

from fusec.semantics.interpreter import constant_array
from fusec_dialects.graph import ConstantOp, GraphOp

Pattern: TypeAlias = "str | float | tuple[str | Pattern, ...]"

COMMUTATIVE = frozenset({"add", "mul", "max", "min", "and", "or", "equal"})
TOLERANCE = {"f16": 2e-3, "bf16": 8e-3}
"""How far a constant may be from the pattern's number, relatively; 1e-6 for other types."""


@dataclass
class Captures:
    """What a pattern found: values by name, and the operators that the expression consists of."""

    values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    ops: list[Operation] = field(default_factory=list[Operation])

    def copy(self) -> Captures:
        return Captures(dict(self.values), list(self.ops))


def scalar_of(value: SSAValue) -> float | None:
    """The number that a constant of one element is; None for anything else."""
    owner = value.owner
    if not isinstance(owner, ConstantOp):
        return None
    array = constant_array(owner)
    return float(array.reshape(-1)[0]) if array.size == 1 else None


def _close(value: SSAValue, number: float) -> bool:
    found = scalar_of(value)
    if found is None:
        return False
    element = str(getattr(value.type, "element_type", ""))
    return bool(np.isclose(found, number, rtol=TOLERANCE.get(element, 1e-6), atol=0.0))


def match(value: SSAValue, pattern: Pattern, found: Captures | None = None) -> Captures | None:
    """The captures of a pattern at a value, or None."""
    found = found or Captures()
    if isinstance(pattern, str):
        if found.values.setdefault(pattern, value) is value:
            return found
        return None
    if isinstance(pattern, int | float):
        return found if _close(value, pattern) else None
    name, *operands = pattern
    op = value.owner
    if not isinstance(op, GraphOp) or op.op_name != name or len(op.operands) != len(operands):
        return None
    found.ops.append(op)
    result = _operands(op.operands, operands, found.copy())
    if result is None and name in COMMUTATIVE and len(operands) == 2:
        result = _operands(op.operands[::-1], operands, found.copy())
    return result


def _operands(
    values: Sequence[SSAValue], patterns: Sequence[Pattern], found: Captures
) -> Captures | None:
    for value, pattern in zip(values, patterns, strict=True):
        result = match(value, pattern, found)
        if result is None:
            return None
        found = result
    return found


def is_private(root: Operation, found: Captures) -> bool:
    """Whether no operator outside of the expression uses a value inside of it, its root excepted."""
    inside = set(found.ops)
    return all(
        use.operation in inside
        for op in found.ops
        if op is not root
        for result in op.results
        for use in result.uses
    )
