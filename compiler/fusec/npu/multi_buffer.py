"""npu-multi-buffer: two copies of the buffers through which loops talk to memory.

In: npu IR, not placed. Out: `copies` on allocs that stand in a loop and are filled by MTE2, drained
by MTE3 or FIX, or in l0a and l0b. What fitted its memory before still does.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from fusec.hw import Target
from fusec.npu.buffers import Access, accesses
from fusec.npu.intervals import Intervals
from fusec.npu.module import blocks_of, copies_of, kernels, target_of
from fusec.npu.rotation import rotate
from fusec_dialects.npu.attrs import Pipe, Space, space_of


@dataclass(frozen=True)
class NpuMultiBufferPass(ModulePass):
    """`copies` is how many a rotating buffer gets where the kernel's schedule does not say it."""

    name = "npu-multi-buffer"
    copies: int = 2

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.copies < 1:
            raise PassFailedException(f"{self.name}: copies is at least 1, found {self.copies}")
        target = target_of(op)
        for kernel in kernels(op):
            _multi_buffer(kernel, copies_of(kernel, self.copies), target)


def _multi_buffer(kernel: FuncOp, copies: int, target: Target) -> None:
    if copies < 2:
        return
    found = accesses(kernel)
    intervals = Intervals(blocks_of(kernel))
    uses = found.by_buffer()
    candidates = [
        alloc
        for alloc in found.allocs
        if alloc.loop is not None
        and (
            space_of(alloc.op.result.type) in (Space.L0A, Space.L0B)
            or any(map(_crosses, uses[alloc.op.result]))
        )
    ]
    rotate(found, candidates, copies, target, intervals)


def _crosses(use: Access) -> bool:
    """Whether the buffer is filled from or drained to another memory, at the core's border."""
    if use.agent is None:
        return False
    return use.agent.pipe == Pipe.MTE2 if use.writes else use.agent.pipe in (Pipe.MTE3, Pipe.FIX)
