"""The static shape with which each buffer becomes a tensor.

A tensor is computed whole: where the views of a buffer in ub have one static size, that is it;
where a size is a value, the smallest capacity of all buffers that it is a size of. What lies behind
the real size is computed too, never stored. Buffers of the cube core are tensors of their capacity.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.memref import SubviewOp
from xdsl.ir import Operation, SSAValue

from fusec.export.reason import NotInHivm
from fusec.npu.views import Size, sizes_of
from fusec_dialects.npu.attrs import Space, space_of
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
        sizes: list[Size] | None = whole
        if isinstance(view, SubviewOp):
            if any(int(offset) != 0 for offset in view.static_offsets.get_values()):
                raise NotInHivm(view, "a part of a buffer is no value of its own in tensor form")
            sizes = sizes_of(view.result)
        if sizes is None or len(sizes) != len(whole):
            raise NotInHivm(view, "a view with other axes than its buffer")
        if found is None:
            found = sizes
        found = [a if a == b else w for a, b, w in zip(found, sizes, whole, strict=True)]
    return found or whole
