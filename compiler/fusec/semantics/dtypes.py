"""Element types: names to numpy types, and the widths that operators compute in.

16-bit floating types are computed in float32 and rounded once (`widen`, `narrow`). bfloat16 is
known by its name, because importing ml_dtypes takes half a second: only who asks for it pays.
"""

from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
DType: TypeAlias = np.dtype[Any]

FLOAT32: DType = np.dtype(np.float32)
FLOAT64: DType = np.dtype(np.float64)

DATA_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
)
"""The numpy name of every element type that has a meaning here; bool is i1."""


@cache
def np_dtype(name: str) -> DType:
    """The numpy type called `name`. ValueError, listing the valid names, for any other."""
    if name not in DATA_TYPES:
        raise ValueError(f"unknown element type '{name}'; use one of {', '.join(DATA_TYPES)}")
    if name == "bfloat16":
        from ml_dtypes import bfloat16

        return np.dtype(bfloat16)
    return np.dtype(name)


def is_floating(dtype: DType) -> bool:
    return dtype.kind == "f" or dtype.name == "bfloat16"


def widen(array: Array) -> Array:
    """float16 and bfloat16 as float32 (exact); any other array unchanged."""
    half = array.dtype.itemsize == 2 and is_floating(array.dtype)
    return array.astype(np.float32) if half else array


def narrow(array: Array, dtype: DType) -> Array:
    """`array` in `dtype`, rounded to nearest even once if it is narrower; no copy if it has it."""
    return array.astype(dtype, copy=False)
