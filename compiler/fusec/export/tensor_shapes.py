"""The static shape with which each buffer becomes a tensor.

A tensor is computed whole: where the views of a buffer in ub have one static size, that is it;
where a size is a value, the smallest capacity of all buffers that it is a size of. What lies behind
the real size is computed too, never stored. Buffers of the cube core are tensors of their capacity.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.memref import SubviewOp
from xdsl.ir import Operation, SSAValue

from fusec.export.reason import NotInHivm
from fusec.npu.views import Size, kept_axes, layout_of, selected_by
from fusec_dialects.npu.attrs import Space, memref_type, space_of
from fusec_dialects.npu.move import AllocOp


def tensor_shapes(live: Collection[Operation]) -> dict[SSAValue, tuple[int, ...]]:
    """The shape of every live buffer. NotInHivm for a buffer used in several parts."""
    allocs = [op for op in live if isinstance(op, AllocOp)]
    used = {op.result: _used_sizes(op, live) for op in allocs}
    capacity: dict[SSAValue, int] = {}
    for buffer, sizes in used.items():
        for size, held in zip(sizes, _capacity(buffer), strict=True):
            if isinstance(size, SSAValue):
                capacity[size] = min(held, capacity.get(size, held))
    return {
        buffer: tuple(size if isinstance(size, int) else capacity[size] for size in sizes)
        if space_of(buffer.type) == Space.UB
        else _capacity(buffer)
        for buffer, sizes in used.items()
    }


def view_sizes(view: SubviewOp) -> list[Size]:
    """The sizes of a sub-view along all axes of its source."""
    values = iter(view.sizes)
    static = (int(size) for size in view.static_sizes.get_values())
    return [next(values) if size == DYNAMIC_INDEX else size for size in static]


def kept_of(value: SSAValue) -> list[int]:
    """The axes of its buffer that a value has; a view may leave out axes of size 1.

    NotInHivm where the value does not begin with its buffer.
    """
    view = value.owner
    if not isinstance(view, SubviewOp):
        type_ = memref_type(value.type)
        return [] if type_ is None else list(range(type_.get_num_dims()))
    source, result = memref_type(view.source.type), memref_type(value.type)
    outer = kept_of(view.source)
    if source is None or result is None or any(map(int, view.static_offsets.get_values())):
        raise NotInHivm(view, "a part of a buffer is no value of its own in tensor form")
    kept = kept_axes(selected_by(view, layout_of(source)), layout_of(result))
    if kept is None:
        raise NotInHivm(view, f"{result} is not what the view selects")
    return [outer[axis] for axis in kept]


def _capacity(buffer: SSAValue) -> tuple[int, ...]:
    owner = buffer.owner
    return owner.result.type.get_shape() if isinstance(owner, AllocOp) else ()


def _used_sizes(alloc: AllocOp, live: Collection[Operation]) -> list[Size]:
    """What the uses of a buffer take of each axis: the whole where they differ."""
    whole: list[Size] = list(alloc.result.type.get_shape())
    found: list[Size] | None = None
    if space_of(alloc.result.type) == Space.L1:
        return whole
    for use in alloc.result.uses:
        view = use.operation
        if view not in live:
            continue
        sizes = whole
        if isinstance(view, SubviewOp):
            if any(int(offset) != 0 for offset in view.static_offsets.get_values()):
                raise NotInHivm(view, "a part of a buffer is no value of its own in tensor form")
            sizes = view_sizes(view)
        if found is None:
            found = sizes
        found = [a if a == b else w for a, b, w in zip(found, sizes, whole, strict=True)]
    return found or whole
