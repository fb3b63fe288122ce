"""How many bytes a buffer of the npu dialect takes, the padding of its layout included.

nd is row-major without padding, an i1 element one byte. The cube's layouts store fractals of 16
rows of 32 bytes (l0c: 16 x 16 elements): the last two sizes are rounded up to whole fractals.
"""

from math import prod

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .attrs import Space, SpaceAttr

FRACTAL_ROWS = 16
FRACTAL_ROW_BYTES = 32

_FLOAT_BYTES: dict[type[Attribute], int] = {
    Float16Type: 2,
    BFloat16Type: 2,
    Float32Type: 4,
    Float64Type: 8,
    IndexType: 8,
}


def element_bytes(type_: Attribute) -> int:
    """Bytes of one element in every memory; raises VerifyException for what has no size."""
    if isinstance(type_, IntegerType):
        return -(-type_.bitwidth // 8)
    size = _FLOAT_BYTES.get(type(type_))
    if size is None:
        raise VerifyException(f"no buffer holds elements of type {type_}")
    return size


def storage_bytes(type_: MemRefType[Attribute]) -> int:
    """Bytes that one copy of a buffer of this type takes, before any alignment.

    Raises VerifyException for a dynamic shape: only a static capacity has a size.
    """
    shape = type_.get_shape()
    if DYNAMIC_INDEX in shape:
        raise VerifyException(f"{type_} has no static capacity")
    size = element_bytes(type_.element_type)
    space = type_.memory_space
    if not isinstance(space, SpaceAttr) or space.layout.data == "nd" or len(shape) < 2:
        return prod(shape) * size
    *outer, rows, columns = shape
    rows_of, columns_of = _fractal(space, size)
    return prod(outer) * _up(rows, rows_of) * _up(columns, columns_of) * size


def _fractal(space: SpaceAttr, size: int) -> tuple[int, int]:
    """What the last two sizes are multiples of."""
    wide = max(FRACTAL_ROW_BYTES // size, 1)
    if space.kind == Space.L0C:
        return FRACTAL_ROWS, FRACTAL_ROWS
    return (wide, FRACTAL_ROWS) if space.layout.data == "zn" else (FRACTAL_ROWS, wide)


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
