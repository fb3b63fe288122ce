"""npu-verify: what the verifiers of single operators cannot see.

In: npu IR, placed or not. Out: nothing, or a VerifyException that names the first fault found.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from fusec.npu.buffers import FunctionAccesses, accesses
from fusec.npu.check_flags import check_flags
from fusec.npu.check_functions import check_host, check_kernel
from fusec.npu.check_launches import check_launches
from fusec.npu.check_memory import check_all_placed, check_memory
from fusec.npu.check_operands import check_operands
from fusec.npu.check_views import check_views
from fusec.npu.intervals import Intervals
from fusec.npu.module import blocks_of, hosts, kernels, target_of
from fusec_dialects.dominance import verify_dominance


@dataclass(frozen=True)
class NpuVerifyPass(ModulePass):
    """Changes nothing. Races and bounds that depend on values are for the simulator to witness."""

    name = "npu-verify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = target_of(op)
        verify_dominance(op)
        used: dict[FuncOp, FunctionAccesses] = {}
        check_all_placed([*kernels(op), *hosts(op)])
        for kernel in kernels(op):
            ops = list(kernel.walk())[1:]
            intervals = Intervals(blocks_of(kernel))
            check_kernel(kernel, ops, intervals)
            check_views(ops, intervals)
            check_operands(ops, target)
            found = used[kernel] = accesses(kernel)
            check_memory(kernel, found, target)
            check_flags(kernel, ops, target)
        for host in hosts(op):
            ops = list(host.walk())[1:]
            check_host(host, ops)
            check_views(ops, Intervals(None))
            check_memory(host, accesses(host), target)
            check_launches(host, used)
