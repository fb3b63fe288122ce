"""Decoding of buffers and views: arguments, npu.alloc, memref.subview, memref.reinterpret_cast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue

from fusec.simulator.decode_state import DecodeState
from fusec.simulator.form import (
    ITEMSIZE,
    LAUNCH,
    Alloc,
    Bound,
    Buffer,
    Offset,
    Reg,
    Size,
    View,
    level_of,
)
from fusec_dialects.npu import AllocOp
from fusec_dialects.npu.attrs import Space, SpaceAttr, space_of
from fusec_dialects.npu.base import element_type
from fusec_dialects.npu.storage import storage_bytes
from fusec_dialects.place import place


def decode_argument(state: DecodeState, value: SSAValue, position: int, workspace: bool) -> None:
    """A gm argument of the kernel: static shape, no layout."""
    op = state.function
    type_, space, dtype = memref_parts(state, value, op)
    if space != Space.GM or not isinstance(type_.layout, NoneAttr):
        raise state.refuse(
            op,
            f"argument {position} is {type_}, not a whole buffer in gm",
            "take a buffer in gm without a layout and cast it inside the kernel",
        )
    if not type_.has_static_shape():
        raise state.refuse(
            op,
            f"argument {position} has a dynamic shape, {type_}",
            "give the model's dynamic dimensions sizes before lowering",
        )
    shape = type_.get_shape()
    buffer = Buffer(
        index=len(state.buffers),
        name=value.name_hint or f"arg{position}",
        space=space.value,
        dtype=dtype,
        shape=shape,
        level=LAUNCH,
        place=f"{state.place}, argument {position}",
        storage=storage_bytes(type_),
        pitch=_pitch(state, type_, space),
        argument=position,
        workspace=workspace,
    )
    _whole(state, value, buffer)


def decode_alloc(state: DecodeState, op: AllocOp) -> None:
    type_, space, dtype = memref_parts(state, op.result, op)
    if not isinstance(type_.layout, NoneAttr):
        raise state.refuse(op, f"{type_} has a layout", "allocate it whole and take a sub-view")
    shape = type_.get_shape()
    in_loop = bool(state.loops)
    copies = op.copy_count
    placed = op.address is not None
    index = len(state.buffers)
    buffer = Buffer(
        index=index,
        name=op.result.name_hint or f"b{index}",
        space=space.value,
        dtype=dtype,
        shape=shape,
        level=state.level,
        place=place(op),
        storage=storage_bytes(type_),
        pitch=_pitch(state, type_, space),
        address=None if op.address is None else op.address.value.data,
        copies=copies,
        slot=state.slot(copies) if placed and in_loop and copies > 1 else None,
        layout=_layout(type_),
    )
    _whole(state, op.result, buffer)
    state.add(Alloc(buffer))


def decode_subview(state: DecodeState, op: memref.SubviewOp) -> None:
    source = state.memref(op.source, op)
    offsets = state.sizes(op.static_offsets.get_values(), op.offsets, op)
    sizes = state.sizes(op.static_sizes.get_values(), op.sizes, op)
    steps = state.sizes(op.static_strides.get_values(), op.strides, op)
    rank = len(source.sizes)
    if not len(offsets) == len(sizes) == len(steps) == rank:
        raise state.refuse(
            op, f"{len(sizes)} sizes for a buffer of rank {rank}", "give one for each dimension"
        )
    start = source.offset
    strides: list[Size] = []
    bounds = list(source.bounds)
    for axis in range(rank):
        stride = source.strides[axis]
        if isinstance(stride, Reg):
            start = start.plus(state.product(offsets[axis], stride))
        else:
            start = start.plus(offsets[axis], stride)
        strides.append(state.product(stride, steps[axis]))
        bound = Bound(axis, offsets[axis], sizes[axis], steps[axis], source.sizes[axis])
        if not _plain(bound):
            bounds.append(bound)
    kept = _kept(state, op, sizes)
    _view(
        state,
        op.result,
        source.buffer,
        start,
        [sizes[axis] for axis in kept],
        [strides[axis] for axis in kept],
        bounds,
        op,
    )


def decode_reinterpret_cast(state: DecodeState, op: memref.ReinterpretCastOp) -> None:
    source = state.memref(op.source, op)
    offsets = state.sizes(op.static_offsets.get_values(), op.offsets, op)
    sizes = state.sizes(op.static_sizes.get_values(), op.sizes, op)
    strides = state.sizes(op.static_strides.get_values(), op.strides, op)
    if len(offsets) != 1 or len(sizes) != len(strides):
        raise state.refuse(
            op, "offset, sizes and strides do not fit", "give a stride for each size"
        )
    _view(state, op.result, source.buffer, Offset().plus(offsets[0]), sizes, strides, (), op)


def element(state: DecodeState, source: View, indices: Sequence[Size], user: Operation) -> View:
    """The view of one element."""
    if len(indices) != len(source.sizes):
        raise state.refuse(user, "an index for each dimension is missing", "give them all")
    start = source.offset
    bounds = list(source.bounds)
    for axis, index in enumerate(indices):
        stride = source.strides[axis]
        if isinstance(stride, Reg):
            start = start.plus(state.product(index, stride))
        else:
            start = start.plus(index, stride)
        bound = Bound(axis, index, 1, 1, source.sizes[axis])
        if not _plain(bound):
            bounds.append(bound)
    return _add(state, source.name, source.buffer, start, (), (), bounds, place(user))


def memref_parts(
    state: DecodeState, value: SSAValue, op: Operation
) -> tuple[MemRefType[Attribute], Space, str]:
    """The type of a buffer, its space and the name of its element type."""
    type_ = value.type
    space = space_of(type_)
    if not isinstance(type_, MemRefType) or space is None:
        raise state.refuse(op, f"{type_} is no buffer", "use a memref in a #npu.space")
    dtype = str(element_type(value))
    if dtype not in ITEMSIZE:
        raise state.refuse(op, f"no memory holds {dtype}", f"use one of {', '.join(ITEMSIZE)}")
    return cast("MemRefType[Attribute]", type_), space, dtype


def _layout(type_: MemRefType) -> str:
    space = type_.memory_space
    return space.layout.data if isinstance(space, SpaceAttr) else "nd"


def _pitch(state: DecodeState, type_: MemRefType[Attribute], space: Space) -> int:
    alignment = state.target.alignment(space.value)
    return -(-storage_bytes(type_) // alignment) * alignment


def _whole(state: DecodeState, value: SSAValue, buffer: Buffer) -> None:
    state.buffers.append(buffer)
    strides: list[int] = []
    step = 1
    for size in reversed(buffer.shape):
        strides.append(step)
        step *= size
    view = _add(state, buffer.name, buffer, Offset(), buffer.shape, strides[::-1], (), buffer.place)
    state.memrefs[value] = view


def _view(
    state: DecodeState,
    value: SSAValue,
    buffer: Buffer,
    offset: Offset,
    sizes: Sequence[Size],
    strides: Sequence[Size],
    bounds: Sequence[Bound],
    op: Operation,
) -> None:
    type_, _, dtype = memref_parts(state, value, op)
    declared = type_.get_shape()
    fits = len(declared) == len(sizes) and all(
        d in (DYNAMIC_INDEX, s) or isinstance(s, Reg) for d, s in zip(declared, sizes, strict=True)
    )
    fits = fits and dtype == buffer.dtype and _layout_fits(type_, offset, strides)
    if not fits:
        found = "x".join(map(str, [*sizes, dtype]))
        raise state.refuse(
            op, f"the result is declared as {type_} but is {found}", "correct the result's type"
        )
    name = value.name_hint or buffer.name
    state.memrefs[value] = _add(state, name, buffer, offset, sizes, strides, bounds, place(op))


def _layout_fits(type_: MemRefType[Attribute], offset: Offset, strides: Sequence[Size]) -> bool:
    declared, start = type_.get_strides(), type_.get_offset()
    if declared is None or len(declared) != len(strides):
        return False
    if start is not None and not offset.terms and start != offset.constant:
        return False
    return all(
        d is None or isinstance(s, Reg) or d == s or size == 1
        for d, s, size in zip(declared, strides, type_.get_shape(), strict=True)
    )


def _add(
    state: DecodeState,
    name: str,
    buffer: Buffer,
    offset: Offset,
    sizes: Sequence[Size],
    strides: Sequence[Size],
    bounds: Sequence[Bound],
    where: str,
) -> View:
    slot = level_of(buffer.slot) if buffer.slot is not None else LAUNCH
    level = max(slot, offset.level, *map(level_of, (*sizes, *strides, 0)))
    index = len(state.views)
    view = View(
        index, name, buffer, offset, tuple(sizes), tuple(strides), level, where, tuple(bounds)
    )
    state.views.append(view)
    return view


def _plain(bound: Bound) -> bool:
    """Whether a bound holds of constants alone."""
    start, size, step, limit = bound.start, bound.size, bound.step, bound.limit
    if size == limit and start == 0 and step == 1:
        return isinstance(size, Reg) or size >= 0
    if isinstance(start, Reg) or isinstance(size, Reg):
        return False
    if isinstance(step, Reg) or isinstance(limit, Reg):
        return False
    return start >= 0 and size >= 0 and (size == 0 or start + (size - 1) * step < limit)


def _kept(state: DecodeState, op: memref.SubviewOp, sizes: Sequence[Size]) -> list[int]:
    """The axes that a rank-reducing sub-view keeps; of several 1s, which one does not matter."""
    type_ = op.result.type
    shape = type_.get_shape()
    drop = len(sizes) - len(shape)
    kept: list[int] = []
    for axis, size in enumerate(sizes):
        ahead = shape[len(kept)] if len(kept) < len(shape) else None
        if drop > 0 and size == 1 and ahead != 1:
            drop -= 1
        else:
            kept.append(axis)
    if drop or len(kept) != len(shape):
        raise state.refuse(
            op,
            f"the result is declared as {type_}, which is no sub-view of these sizes",
            "drop only dimensions of size 1",
        )
    return kept
