"""Types of buffers and views as plain, hashable layouts, with cached MLIR types.

Building a `MemRefType` and inferring a sub-view's type are slow in xDSL; a `Layout` is neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute

from fusec_dialects.npu.attrs import Space, SpaceAttr

Size: TypeAlias = int | None
"""A size, stride or offset; None where it is a value of the program."""


class Layout(NamedTuple):
    """A buffer or view: sizes, strides and offset in elements, element type, memory.

    `strides` is None for a whole buffer in row-major order.
    """

    shape: tuple[Size, ...]
    strides: tuple[Size, ...] | None
    offset: Size
    dtype: str
    space: Space

    @property
    def rank(self) -> int:
        return len(self.shape)

    def stride_list(self) -> tuple[Size, ...]:
        """Strides, those of row-major order where none are written."""
        if self.strides is not None:
            return self.strides
        return row_major(self.shape)

    def subview(
        self,
        offsets: Sequence[Size],
        sizes: Sequence[Size],
        steps: Sequence[Size],
        drop: Sequence[int] = (),
    ) -> Layout:
        """The layout of a `memref.subview`, without the dimensions in `drop`."""
        strides = self.stride_list()
        offset = self.offset
        for start, stride in zip(offsets, strides, strict=True):
            if start != 0:
                offset = _add(offset, _mul(start, stride))
        kept = [i for i in range(len(sizes)) if i not in drop]
        return Layout(
            tuple(sizes[i] for i in kept),
            tuple(_mul(strides[i], steps[i]) for i in kept),
            offset,
            self.dtype,
            self.space,
        )


def standard(shape: Sequence[int], dtype: str) -> Layout:
    """A contiguous tensor in gm."""
    return Layout(tuple(shape), None, 0, dtype, Space.GM)


def row_major(shape: Sequence[Size]) -> tuple[Size, ...]:
    """Strides in elements of a contiguous buffer."""
    strides: list[Size] = []
    step: Size = 1
    for size in reversed(shape):
        strides.append(step)
        step = _mul(step, size)
    return tuple(reversed(strides))


def _add(a: Size, b: Size) -> Size:
    return None if a is None or b is None else a + b


def _mul(a: Size, b: Size) -> Size:
    return None if a is None or b is None else a * b


_FLOATS: dict[str, Attribute] = {
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f32": Float32Type(),
    "f64": Float64Type(),
}


@lru_cache(maxsize=64)
def scalar_type(dtype: str) -> Attribute:
    """The MLIR type of an element type's name, like "f32" or "i8"."""
    if dtype.startswith("ui"):
        return IntegerType(int(dtype[2:]), Signedness.UNSIGNED)
    return _FLOATS.get(dtype) or IntegerType(int(dtype[1:]))


@lru_cache(maxsize=8)
def _space(space: Space) -> SpaceAttr:
    return SpaceAttr.get(space)


@lru_cache(maxsize=65536)
def memref_of(layout: Layout) -> MemRefType[Attribute]:
    """The MLIR type of a layout."""
    shape = [DYNAMIC_INDEX if size is None else size for size in layout.shape]
    strided = (
        NoneAttr() if layout.strides is None else StridedLayoutAttr(layout.strides, layout.offset)
    )
    return MemRefType(scalar_type(layout.dtype), shape, strided, _space(layout.space))


@lru_cache(maxsize=65536)
def layout_of(type_: MemRefType[Attribute]) -> Layout:
    """The layout of a memref with a memory space; ValueError for any other type."""
    space = type_.memory_space
    if not isinstance(space, SpaceAttr):
        raise ValueError(f"{type_} has no memory space")
    shape = tuple(None if size == DYNAMIC_INDEX else size for size in type_.get_shape())
    dtype = str(type_.element_type)
    if not isinstance(type_.layout, StridedLayoutAttr):
        return Layout(shape, None, 0, dtype, space.kind)
    strides = tuple(type_.layout.get_strides())
    return Layout(shape, strides, type_.layout.get_offset(), dtype, space.kind)
