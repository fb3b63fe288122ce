"""Element types on both sides: MLIR's names and types, and numpy's."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    IntegerType,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

from fusec.semantics.dtypes import DType, np_dtype


def _unsigned(width: int) -> IntegerType:
    return IntegerType(width, Signedness.UNSIGNED)


ELEMENT_TYPES: dict[str, Attribute] = {
    "bool": i1,
    "int8": i8,
    "int16": i16,
    "int32": i32,
    "int64": i64,
    "uint8": _unsigned(8),
    "uint16": _unsigned(16),
    "uint32": _unsigned(32),
    "uint64": _unsigned(64),
    "float16": f16,
    "bfloat16": bf16,
    "float32": f32,
    "float64": f64,
}
"""MLIR element type by numpy name."""

NUMPY_NAMES: dict[str, str] = {str(t): name for name, t in ELEMENT_TYPES.items()}
"""numpy name by the MLIR name that attributes carry, like "f32"."""


def element_type(dtype: DType) -> Attribute:
    """The MLIR element type of a numpy type; ValueError where there is none."""
    if dtype.name not in ELEMENT_TYPES:
        raise ValueError(f"element type {dtype.name} is not supported")
    return ELEMENT_TYPES[dtype.name]


@cache
def numpy_type(element: Attribute) -> DType:
    """The numpy type of an MLIR element type; ValueError where there is none."""
    name = NUMPY_NAMES.get(str(element))
    if name is None:
        raise ValueError(f"element type {element} is not supported")
    return np_dtype(name)


def tensor_of(dtype: DType, shape: tuple[int, ...]) -> TensorType[Attribute]:
    """The static tensor type of an array's type and shape."""
    return TensorType(element_type(dtype), shape)


def tensor_bytes(type_: Attribute) -> int:
    """Size of a tensor in bytes; 0 for what is none, and for one whose size is not known."""
    if not isinstance(type_, TensorType):
        return 0
    tensor = cast(TensorType[Attribute], type_)
    return max(prod(tensor.get_shape()), 0) * numpy_type(tensor.element_type).itemsize
