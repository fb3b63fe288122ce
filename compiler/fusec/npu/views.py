"""Sub-views: what a `memref.subview` selects, and new ones with the right type.

In: views and their axes. Out: numbers, values and types; xDSL's own SubviewOp verifies nothing and
infers its type slowly.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    MemRefType,
    StridedLayoutAttr,
    i32,
    i64,
)
from xdsl.dialects.memref import ReinterpretCastOp, SubviewOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from fusec_dialects.npu.attrs import memref_type

Size = int | SSAValue
"""A static size or offset, or the index value that it has when the kernel runs."""


class Layout(NamedTuple):
    """Where the elements of a buffer or view lie: in elements, None where it is not static."""

    shape: tuple[int, ...]
    strides: tuple[int | None, ...]
    offset: int | None


@lru_cache(maxsize=4096)
def layout_of(type_: MemRefType[Attribute]) -> Layout:
    """The layout of a memref type; raises VerifyException where it is not strided."""
    strides = type_.get_strides()
    if strides is None:
        raise VerifyException(f"{type_} is not strided")
    return Layout(type_.get_shape(), tuple(strides), type_.get_offset())


def selected(
    source: Layout, offsets: Sequence[int], sizes: Sequence[int], steps: Sequence[int]
) -> Layout:
    """The layout of a sub-view with all its axes; DYNAMIC_INDEX stands for what is not static."""
    start = source.offset
    for offset, stride in zip(offsets, source.strides, strict=True):
        if offset == 0 or start is None:
            continue
        start = None if offset == DYNAMIC_INDEX or stride is None else start + offset * stride
    strides = tuple(
        None if step == DYNAMIC_INDEX or stride is None else step * stride
        for step, stride in zip(steps, source.strides, strict=True)
    )
    return Layout(tuple(sizes), strides, start)


class Numbers(NamedTuple):
    """The three lists of a view; DYNAMIC_INDEX stands for a value. The steps are its strides."""

    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]


def numbers_of(view: SubviewOp | ReinterpretCastOp) -> Numbers:
    """The lists of an operator; reading them from it costs 10 us each."""
    return Numbers(
        tuple(map(int, view.static_offsets.get_values())),
        tuple(map(int, view.static_sizes.get_values())),
        tuple(map(int, view.static_strides.get_values())),
    )


def selected_by(view: SubviewOp, source: Layout) -> Layout:
    """`selected` for an operator."""
    return selected(source, *numbers_of(view))


def kept_axes(full: Layout, result: Layout) -> tuple[int, ...] | None:
    """The axes of `full` that `result` has, if it is `full` without some axes of static size 1."""
    kept: list[int] = []
    for axis, (size, stride) in enumerate(zip(full.shape, full.strides, strict=True)):
        at = len(kept)
        if at < len(result.shape) and (size, stride) == (result.shape[at], result.strides[at]):
            kept.append(axis)
        elif size != 1:
            return None
    return tuple(kept) if len(kept) == len(result.shape) else None


def sizes_of(view: SSAValue) -> list[Size] | None:
    """The sizes of a view, axis by axis; None where a dynamic size is not that of a sub-view."""
    type_ = memref_type(view.type)
    if type_ is None:
        return None
    shape = type_.get_shape()
    if DYNAMIC_INDEX not in shape:
        return list(shape)
    owner = view.owner
    source = memref_type(owner.source.type) if isinstance(owner, SubviewOp) else None
    if not isinstance(owner, SubviewOp) or source is None:
        return None
    values = iter(owner.sizes)
    numbers = numbers_of(owner)
    sizes = [next(values) if size == DYNAMIC_INDEX else size for size in numbers.sizes]
    kept = kept_axes(selected(layout_of(source), *numbers), layout_of(type_))
    return None if kept is None else [sizes[axis] for axis in kept]


def make_view(source: SSAValue, offsets: Sequence[Size], sizes: Sequence[Size]) -> SubviewOp:
    """A new sub-view of the same rank with unit steps."""
    type_ = memref_type(source.type)
    if type_ is None:
        raise VerifyException(f"{source.type} is not a buffer")
    static_offsets, dynamic_offsets = _split(offsets)
    static_sizes, dynamic_sizes = _split(sizes)
    return SubviewOp.create(
        operands=(source, *dynamic_offsets, *dynamic_sizes),
        result_types=(_view_type(type_, static_offsets, static_sizes),),
        properties={
            "static_offsets": _array(static_offsets),
            "static_sizes": _array(static_sizes),
            "static_strides": _array((1,) * len(sizes)),
            "operandSegmentSizes": _segments((1, len(dynamic_offsets), len(dynamic_sizes), 0)),
        },
    )


def _split(sizes: Sequence[Size]) -> tuple[tuple[int, ...], list[SSAValue]]:
    """Static sizes, DYNAMIC_INDEX for the values, and the values."""
    static = tuple(size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes)
    return static, [size for size in sizes if not isinstance(size, int)]


@lru_cache(maxsize=1024)
def _view_type(
    source: MemRefType[Attribute], offsets: tuple[int, ...], sizes: tuple[int, ...]
) -> MemRefType[Attribute]:
    layout = selected(layout_of(source), offsets, sizes, (1,) * len(sizes))
    strided = StridedLayoutAttr(layout.strides, layout.offset)
    return MemRefType(source.element_type, layout.shape, strided, source.memory_space)


@lru_cache(maxsize=1024)
def _array(values: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


@lru_cache(maxsize=64)
def _segments(values: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, values)
