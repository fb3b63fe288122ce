"""Which buffers get several copies: those asked for, as far as the copies fit their memory.

In: the accesses of a kernel and candidates among its allocs. Out: the property `copies` on allocs;
what fitted its memory before still does.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i64

from fusec.hw import Target
from fusec.npu.allocator import allocate
from fusec.npu.buffers import Alloc, FunctionAccesses
from fusec.npu.intervals import Intervals
from fusec.npu.liveness import live_ranges
from fusec.npu.plan import by_space, requests_of
from fusec_dialects.npu.attrs import Space
from fusec_dialects.npu.storage import storage_bytes


def rotate(
    found: FunctionAccesses,
    candidates: Sequence[Alloc],
    copies: int,
    target: Target,
    intervals: Intervals,
) -> None:
    """Gives each candidate `copies` copies, at most one for each iteration of its loop.

    Where not all fit a memory they are tried one by one, the smallest first, in program order among
    equals; one that does not fit stays single. A candidate that has `copies` keeps it.
    """
    wanted = {
        alloc: min(copies, intervals.trips(alloc.loop.op).high)
        for alloc in candidates
        if alloc.loop is not None and alloc.op.copies is None
    }
    for space, allocs in by_space(found).items():
        here = [alloc for alloc in allocs if wanted.get(alloc, 1) > 1]
        if not here or not _fit(found, allocs, space, target):
            continue
        for alloc in here:
            _set_copies(alloc, wanted[alloc])
        if _fit(found, allocs, space, target):
            continue
        for alloc in here:
            _set_copies(alloc, 1)
        for alloc in sorted(here, key=lambda alloc: storage_bytes(alloc.op.result.type)):
            _set_copies(alloc, wanted[alloc])
            if not _fit(found, allocs, space, target):
                _set_copies(alloc, 1)


def _fit(found: FunctionAccesses, allocs: Sequence[Alloc], space: Space, target: Target) -> bool:
    alignment, capacity = target.alignment(space), target.capacity(space)
    requests = requests_of(allocs, live_ranges(found), alignment)
    if sum(request.size for request in requests) <= capacity:
        return True
    return allocate(requests, alignment, capacity).peak <= capacity


def _set_copies(alloc: Alloc, copies: int) -> None:
    if copies == 1:
        alloc.op.properties.pop("copies", None)
    else:
        alloc.op.properties["copies"] = IntegerAttr(copies, i64)
