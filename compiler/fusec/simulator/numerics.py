"""What generated code calls: widening, tables, rounding and conversions, in numpy.

16-bit floats are stored as such; everything is computed in float32 and rounded to nearest even once
an instruction. A unary instruction on f16 is a table of all 65536 values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
DType: TypeAlias = np.dtype[Any]

DTYPES: dict[str, DType] = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i64": np.dtype(np.int64),
    "i32": np.dtype(np.int32),
    "i16": np.dtype(np.int16),
    "i8": np.dtype(np.int8),
    "ui8": np.dtype(np.uint8),
    "i1": np.dtype(np.bool_),
}
"""numpy's type of each element type."""

_U16 = np.dtype(np.uint16)
_ALL_F16 = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)
_WIDE_F16 = _ALL_F16.astype(np.float32)

EXACT_IN_F32 = 1024
"""Longest sum of products of two i8 that float32 holds exactly: 1024 * 128 * 128 = 2 ** 24."""


def widen(a: Array) -> Array:
    """f16 as f32: by a table, which is four times as fast as astype."""
    return _WIDE_F16.take(a.view(_U16), mode="wrap")


def widen_bf16(a: Array) -> Array:
    """bf16 as f32."""
    return np.left_shift(a.view(_U16), 16, dtype=np.uint32).view(np.float32)


def _rsqrt(x: Array) -> Array:
    return np.float32(1) / np.sqrt(x)


def _reciprocal(x: Array) -> Array:
    return np.float32(1) / x


def _relu(x: Array) -> Array:
    return np.maximum(x, np.float32(0))


UNARY: dict[str, Callable[[Array], Array]] = {
    "vabs": np.abs,
    "vexp": np.exp,
    "vln": np.log,
    "vsqrt": np.sqrt,
    "vrsqrt": _rsqrt,
    "vrec": _reciprocal,
    "vrelu": _relu,
}
"""Unary instructions on float32."""


@cache
def table(kind: str) -> Array:
    """The bits of a unary instruction's result for the bits of each f16."""
    with np.errstate(all="ignore"):
        return UNARY[kind](_WIDE_F16).astype(np.float16).view(np.uint16)


def lookup(bits: Array, source: Array, dest: Array) -> None:
    """dest = the table `bits` at source, both f16."""
    dest.view(_U16)[...] = bits.take(source.view(_U16), mode="wrap")


def integer_matmul(a: Array, b: Array) -> Array:
    """The i32 product of two i8 matrices, by BLAS, exact."""
    wide = np.float32 if a.shape[1] <= EXACT_IN_F32 else np.float64
    return np.matmul(a.astype(wide), b.astype(wide)).astype(np.int32)


def _half_away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


_TO_INTEGRAL: dict[str, Callable[[Array], Array]] = {
    "": np.rint,
    "rint": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": _half_away,
}


def to_integer(x: Array, mode: str, dtype: DType) -> Array:
    """Floats as integers by rounding mode; saturates, nan is 0."""
    limits = np.iinfo(dtype)
    exact = _TO_INTEGRAL[mode](x.astype(np.float64))
    return np.clip(np.nan_to_num(exact, nan=0.0), limits.min, limits.max).astype(dtype)


def saturate(x: Array, dtype: DType) -> Array:
    """Integers in a narrower integer type."""
    limits = np.iinfo(dtype)
    return np.clip(x, limits.min, limits.max).astype(dtype)


def round_to(x: Array, mode: str, dtype: DType) -> Array:
    """float32 as a narrower float by rounding mode (of the value, not to an integer)."""
    near = x.astype(dtype)
    if mode in ("", "rint"):
        return near
    wide = near.astype(np.float32)
    match mode:
        case "floor":
            return _step(near, wide > x, -1)
        case "ceil":
            return _step(near, wide < x, 1)
        case "trunc":
            return _step(_step(near, (wide > x) & (x > 0), -1), (wide < x) & (x < 0), 1)
        case _:
            outer = np.where(x > 0, 1, -1)
            beyond = _step(near, (np.abs(wide) < np.abs(x)) & np.isfinite(x), outer)
            tie = np.abs(beyond.astype(np.float64) - x) == np.abs(wide.astype(np.float64) - x)
            return np.where(tie & (np.abs(wide) < np.abs(x)), beyond, near)


def _step(values: Array, where: Array, direction: int | Array) -> Array:
    """The neighbours of 16-bit floats, up or down, where a condition holds."""
    bits = values.view(np.uint16).astype(np.int32)
    ordered = np.where(bits & 0x8000, 0x8000 - bits, bits)
    moved = np.where(where, ordered + direction, ordered)
    back = np.where(moved < 0, 0x8000 - moved, moved).astype(np.uint16)
    return np.where(where, back, values.view(np.uint16)).astype(np.uint16).view(values.dtype)


class OverlapError(ValueError):
    """A source overlaps what the instruction writes."""


def apart(a: Array, b: Array, same_allowed: bool) -> None:
    """Raises OverlapError if two operands share bytes, unless they are the same view and may be."""
    if not np.may_share_memory(a, b) or not a.size or not b.size:
        return
    same = (
        a.__array_interface__["data"] == b.__array_interface__["data"]
        and a.strides == b.strides
        and a.shape == b.shape
        and a.dtype == b.dtype
    )
    if (same and same_allowed) or not np.shares_memory(a, b):
        return
    raise OverlapError(
        "a source overlaps the destination"
        if not same
        else "the instruction does not work in place, source and destination are one view"
    )
