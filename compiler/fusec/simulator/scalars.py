"""Scalar operators: what each means as Python text, for generated code and for folding constants.

Integers are Python integers and do not wrap around: an index that leaves 64 bits is a fault that
the bounds of its views show. Floats are rounded to their type after each operator, as in a
register.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from fusec.simulator.form import Reg, Value

_BITS = {"index": 64, "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i1": 1}

OPERATIONS: dict[str, str] = {
    "addi": "{0} + {1}",
    "subi": "{0} - {1}",
    "muli": "{0} * {1}",
    "divui": "({0} & {mask}) // ({1} & {mask})",
    "remui": "({0} & {mask}) % ({1} & {mask})",
    "divsi": "truncdiv({0}, {1})",
    "remsi": "truncrem({0}, {1})",
    "ceildivsi": "-(-{0} // {1})",
    "ceildivui": "-(-({0} & {mask}) // ({1} & {mask}))",
    "floordivsi": "{0} // {1}",
    "minsi": "({0} if {0} < {1} else {1})",
    "maxsi": "({0} if {0} > {1} else {1})",
    "minui": "min({0} & {mask}, {1} & {mask})",
    "maxui": "max({0} & {mask}, {1} & {mask})",
    "andi": "{0} & {1}",
    "ori": "{0} | {1}",
    "xori": "{0} ^ {1}",
    "shli": "{0} << {1}",
    "shrsi": "{0} >> {1}",
    "shrui": "({0} & {mask}) >> {1}",
    "cmpi.eq": "{0} == {1}",
    "cmpi.ne": "{0} != {1}",
    "cmpi.slt": "{0} < {1}",
    "cmpi.sle": "{0} <= {1}",
    "cmpi.sgt": "{0} > {1}",
    "cmpi.sge": "{0} >= {1}",
    "cmpi.ult": "({0} & {mask}) < ({1} & {mask})",
    "cmpi.ule": "({0} & {mask}) <= ({1} & {mask})",
    "cmpi.ugt": "({0} & {mask}) > ({1} & {mask})",
    "cmpi.uge": "({0} & {mask}) >= ({1} & {mask})",
    "select": "({1} if {0} else {2})",
    "addf": "{0} + {1}",
    "subf": "{0} - {1}",
    "mulf": "{0} * {1}",
    "divf": "fdiv({0}, {1})",
    "negf": "-{0}",
    "maximumf": "fmax({0}, {1})",
    "minimumf": "fmin({0}, {1})",
    "to_float": "float({0})",
    "to_int": "int({0})",
    "iteration": "({0} - {1}) // {2} % {3}",
}
"""Text of each operator over its arguments {0}, {1}, ...; {mask} is all ones of the operands' type.

`iteration` is ours: the copy in use of a rotating buffer, from the loop's variable, lower bound and
step and the number of copies.
"""

UNSAFE = frozenset({"divui", "remui", "divsi", "remsi", "ceildivsi", "ceildivui", "floordivsi"})
"""May fail on a divisor of zero, so not moved out of a loop that may not run."""

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""arith.cmpi's predicates by number."""


def truncdiv(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def truncrem(a: int, b: int) -> int:
    return a - truncdiv(a, b) * b


def fdiv(a: float, b: float) -> float:
    """a / b by IEEE: infinite or nan on a divisor of zero."""
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def fmax(a: float, b: float) -> float:
    return a if a > b or math.isnan(a) else b


def fmin(a: float, b: float) -> float:
    return a if a < b or math.isnan(a) else b


def f32(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def f16(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float16(value))


def bf16(value: float) -> float:
    return float(ml_dtypes.bfloat16(value))


ROUND: dict[str, Callable[[float], float]] = {"f32": f32, "f16": f16, "bf16": bf16}

NAMES: dict[str, Any] = {
    "truncdiv": truncdiv,
    "truncrem": truncrem,
    "fdiv": fdiv,
    "fmax": fmax,
    "fmin": fmin,
    "inf": math.inf,
    "nan": math.nan,
    **ROUND,
}
"""What the text of an operator refers to: the globals of generated code."""


def value_text(value: Value) -> str:
    """A value as Python text that stands as an operand; needs NAMES for inf and nan."""
    if isinstance(value, Reg):
        return str(value)
    text = repr(value)
    return f"({text})" if text.startswith("-") else text


def text_of(op: str, args: Sequence[Value], dtype: str, operand_dtype: str) -> str:
    """Python text of `op` on `args`; `dtype` is the result's type."""
    mask = (1 << _BITS.get(operand_dtype, 64)) - 1
    text = OPERATIONS[op].format(*map(value_text, args), mask=mask)
    return f"{dtype}({text})" if dtype in ROUND and op != "select" else text


def fold(op: str, args: Sequence[Value], dtype: str, operand_dtype: str) -> Value:
    """The value of `op` on numbers. Raises ZeroDivisionError as Python does."""
    return eval(text_of(op, args, dtype, operand_dtype), dict(NAMES))
