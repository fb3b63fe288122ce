"""The placement of a function's buffers, space by space, as data; nothing is changed.

In: the accesses of a kernel or of the host function, and the target. Out: for each space its
buffers with live range, bytes and offset.
"""

from collections.abc import Iterable
from typing import NamedTuple

from xdsl.ir import SSAValue

from fusec.hw import Target
from fusec.npu.allocator import Plan, Request, allocate
from fusec.npu.buffers import Alloc, FunctionAccesses
from fusec.npu.liveness import Range, live_ranges
from fusec_dialects.npu.attrs import Space, space_of
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.npu.storage import storage_bytes


class SpacePlan(NamedTuple):
    """The buffers of one space in program order, a request for each, and where they go."""

    space: Space
    capacity: int
    allocs: tuple[AllocOp, ...]
    requests: tuple[Request, ...]
    plan: Plan

    @property
    def fits(self) -> bool:
        return self.plan.peak <= self.capacity


def copy_bytes(alloc: AllocOp, alignment: int) -> int:
    """The distance of two copies of a buffer: its bytes, rounded up to the alignment."""
    return -(-storage_bytes(alloc.result.type) // alignment) * alignment


def requests_of(
    allocs: Iterable[Alloc], ranges: dict[SSAValue, Range], alignment: int
) -> tuple[Request, ...]:
    """What each alloc asks of the allocator; one that has an address keeps it."""
    return tuple(
        Request(
            copy_bytes(alloc.op, alignment) * alloc.op.copy_count,
            *ranges[alloc.op.result],
            None if alloc.op.address is None else alloc.op.address.value.data,
        )
        for alloc in allocs
    )


def by_space(found: FunctionAccesses) -> dict[Space, list[Alloc]]:
    """The allocs of a function by memory; a buffer without a memory is in none."""
    spaces: dict[Space, list[Alloc]] = {}
    for alloc in found.allocs:
        space = space_of(alloc.op.result.type)
        if space is not None:
            spaces.setdefault(space, []).append(alloc)
    return spaces


def plan_function(found: FunctionAccesses, target: Target) -> list[SpacePlan]:
    """The plan of every space that the function has buffers in, fitting or not."""
    ranges = live_ranges(found)
    plans: list[SpacePlan] = []
    for space, allocs in by_space(found).items():
        alignment, capacity = target.alignment(space), target.capacity(space)
        requests = requests_of(allocs, ranges, alignment)
        plan = allocate(requests, alignment, capacity)
        plans.append(SpacePlan(space, capacity, tuple(a.op for a in allocs), requests, plan))
    return plans
