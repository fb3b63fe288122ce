"""The message for buffers that do not fit: what is alive at the peak, and what would fit.

In: a plan that overflows. Out: text.
"""

from collections.abc import Iterable

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp

from fusec.hw import Target
from fusec.npu.allocator import Request, max_live
from fusec.npu.plan import SpacePlan
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.npu.storage import storage_bytes
from fusec_dialects.place import place_of_location


def overflow_message(function: FuncOp, space: SpacePlan, target: Target) -> str:
    """Place, cause, the table of buffers alive at the peak, and the largest tile that would fit."""
    bytes_alive, position = max_live(space.requests)
    alive = [
        (alloc, request)
        for alloc, request in zip(space.allocs, space.requests, strict=True)
        if request.first <= position <= request.last
    ]
    where = place_of_location(function.location)
    memory = f"{space.space} of {target.name}"
    cause = (
        f"{bytes_alive} bytes are alive at once, {memory} has {space.capacity}"
        if bytes_alive > space.capacity
        else f"no placement below {space.plan.peak} bytes was found, {memory} has {space.capacity}"
    )
    return "\n".join(
        [
            f"{where + ': ' if where else ''}@{function.sym_name.data}: "
            f"buffers do not fit {space.space}: {cause}; alive at the peak:",
            *_table(alive),
            _advice(
                [alloc for alloc, _ in alive],
                bytes_alive,
                space.capacity,
                target.alignment(space.space),
            ),
        ]
    )


def name_of(alloc: AllocOp) -> str:
    """`%name`, or what the buffer is where it has none."""
    return f"%{alloc.result.name_hint}" if alloc.result.name_hint else "(unnamed)"


def tile_of(alloc: AllocOp) -> str:
    """`16x304xf32`."""
    type_ = alloc.result.type
    return "x".join(map(str, (*type_.get_shape(), type_.element_type)))


def _table(alive: Iterable[tuple[AllocOp, Request]]) -> list[str]:
    rows = [("buffer", "tile", "copies", "bytes", "alive")]
    rows += [
        (
            name_of(alloc),
            tile_of(alloc),
            str(alloc.copy_count),
            str(request.size),
            f"{request.first}..{request.last}",
        )
        for alloc, request in sorted(alive, key=lambda pair: -pair[1].size)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _advice(alive: list[AllocOp], needed: int, capacity: int, alignment: int) -> str:
    """How far each size that occurs at the peak has to shrink, if it shrinks alone."""
    if needed <= capacity:
        return "make one of the tiles smaller, or give them equal sizes"
    sizes = {size for alloc in alive for size in alloc.result.type.get_shape() if size > 1}
    fitting = [(_largest(alive, size, capacity, alignment), size) for size in sorted(sizes)]
    choices = [f"{smaller} in place of {size}" for smaller, size in fitting if smaller]
    if not choices:
        return "no single tile size can shrink enough; use fewer copies or smaller tiles"
    return f"the largest tile that fits has {', or '.join(choices)}"


def _largest(alive: list[AllocOp], size: int, capacity: int, alignment: int) -> int:
    """The largest size below `size` that fits in its place everywhere; 0 if none does."""
    low, high = 0, size - 1
    while low < high:
        middle = (low + high + 1) // 2
        if _bytes(alive, size, middle, alignment) <= capacity:
            low = middle
        else:
            high = middle - 1
    return low


def _bytes(alive: list[AllocOp], size: int, smaller: int, alignment: int) -> int:
    total = 0
    for alloc in alive:
        type_ = alloc.result.type
        shape = [smaller if s == size else s for s in type_.get_shape()]
        cut = MemRefType(type_.element_type, shape, type_.layout, type_.memory_space)
        total += -(-storage_bytes(cut) // alignment) * alignment * alloc.copy_count
    return total
