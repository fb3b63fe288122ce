"""Checks of npu-verify on buffers: all placed or none, capacity, alignment, overlap, first write.

In: one function with its accesses, and the target. Out: nothing, or a VerifyException.
"""

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

from fusec.hw import Target
from fusec.npu.allocator import Request
from fusec.npu.buffers import Access, Alloc, FunctionAccesses
from fusec.npu.intervals import Intervals
from fusec.npu.liveness import live_ranges
from fusec.npu.module import HOST_ATTRIBUTE
from fusec.npu.overflow import name_of
from fusec.npu.plan import by_space, copy_bytes, requests_of
from fusec_dialects.npu.attrs import Space, space_of
from fusec_dialects.npu.base import NpuOp
from fusec_dialects.npu.cube import MmadOp
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.place import place


def check_all_placed(functions: Sequence[FuncOp]) -> None:
    """Either no alloc of a module's functions has an address, or all; then no mmad is on l1."""
    allocs: list[AllocOp] = []
    on_l1: list[MmadOp] = []
    for op in (op for function in functions for op in function.walk()):
        if isinstance(op, AllocOp):
            allocs.append(op)
        elif isinstance(op, MmadOp) and op.on_l1:
            on_l1.append(op)
    if all(alloc.address is None for alloc in allocs):
        return
    for alloc in allocs:
        if alloc.address is None:
            raise VerifyException(
                f"{place(alloc)}: {name_of(alloc)} has no address, but other buffers have; "
                "run npu-place"
            )
    for mmad in on_l1:
        raise VerifyException(
            f"{place(mmad)}: works on l1 although the buffers are placed; "
            "run npu-expand-l0 before npu-place"
        )


def check_memory(function: FuncOp, found: FunctionAccesses, target: Target) -> None:
    """Every buffer of a function, and every pair of buffers that are alive at once."""
    on_host = HOST_ATTRIBUTE in function.attributes
    uses = found.by_buffer()
    for alloc in found.allocs:
        _check_alloc(alloc, on_host)
        _check_first_write(alloc, uses[alloc.op.result])
    ranges = live_ranges(found)
    for space, allocs in by_space(found).items():
        alignment, capacity = target.alignment(space), target.capacity(space)
        for alloc in allocs:
            _check_size(alloc.op, space, capacity, alignment)
        placed = [alloc for alloc in allocs if alloc.op.address is not None]
        _check_overlap(placed, requests_of(placed, ranges, alignment), space)


def _check_alloc(alloc: Alloc, on_host: bool) -> None:
    op = alloc.op
    if space_of(op.result.type) == Space.GM and not on_host:
        raise VerifyException(
            f"{place(op)}: {name_of(op)} is in gm; a kernel gets its gm buffers as arguments"
        )
    if alloc.loop is None and op.copy_count > 1:
        raise VerifyException(
            f"{place(op)}: {name_of(op)} has {op.copy_count} copies but stands in no loop; "
            "a buffer rotates in the loop that directly holds it"
        )


def _check_first_write(alloc: Alloc, uses: Sequence[Access]) -> None:
    """The first access in program order is a write; an mmad's `init` clears its accumulator."""
    if not uses or uses[0].writes or not isinstance(uses[0].op, NpuOp):
        return
    first = uses[0].op
    init = first.init if isinstance(first, MmadOp) and uses[0].view is first.acc else None
    if init is not None and Intervals(None).of(init).constant != 0:
        return
    raise VerifyException(
        f"{place(first)}: reads {name_of(alloc.op)} before anything is written to it"
    )


def _check_size(alloc: AllocOp, space: Space, capacity: int, alignment: int) -> None:
    size = copy_bytes(alloc, alignment) * alloc.copy_count
    start = 0 if alloc.address is None else alloc.address.value.data
    if start % alignment:
        raise VerifyException(
            f"{place(alloc)}: {name_of(alloc)} at {start} is not aligned to the {alignment} bytes "
            f"of {space}"
        )
    if start + size > capacity:
        raise VerifyException(
            f"{place(alloc)}: {name_of(alloc)} takes bytes {start} to {start + size} of {space}, "
            f"which has {capacity}"
        )


def _check_overlap(allocs: Sequence[Alloc], requests: Sequence[Request], space: Space) -> None:
    """Sweeps over the positions with the buffers that are alive, sorted by address."""
    alive: list[int] = []
    for i in sorted(range(len(requests)), key=lambda i: requests[i].first):
        now, start = requests[i], requests[i].at or 0
        alive = [j for j in alive if requests[j].last >= now.first]
        for j in alive:
            other = requests[j].at or 0
            if start < other + requests[j].size and other < start + now.size:
                a, b = allocs[j].op, allocs[i].op
                raise VerifyException(
                    f"{place(b)}: {name_of(b)} at {start} overlaps {name_of(a)} at {other} in "
                    f"{space} while both are alive"
                )
        alive.append(i)
