"""npu-place: an address for every buffer.

In: npu IR without addresses; an alloc that has one keeps it. Out: `at N` on every alloc, in kernels
and, in gm, on the host: aligned, inside the memory's capacity, and no two buffers that are alive at
once share a byte.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from fusec.hw import Target
from fusec.npu.buffers import accesses
from fusec.npu.module import hosts, kernels, target_of
from fusec.npu.overflow import overflow_message
from fusec.npu.plan import plan_function
from fusec_dialects.errors import DoesNotFitError


@dataclass(frozen=True)
class NpuPlacePass(ModulePass):
    """Raises DoesNotFitError, with the buffers alive at the peak, where a memory overflows."""

    name = "npu-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = target_of(op)
        for function in (*kernels(op), *hosts(op)):
            _place(function, target)


def _place(function: FuncOp, target: Target) -> None:
    found = accesses(function)
    if all(alloc.op.address is not None for alloc in found.allocs):
        return
    for space in plan_function(found, target):
        if not space.fits:
            raise DoesNotFitError(overflow_message(function, space, target))
        for alloc, offset in zip(space.allocs, space.plan.offsets, strict=True):
            alloc.properties["address"] = IntegerAttr(offset, i64)
