"""Every kernel of a module as HIVM text, or the reason why there is none (level 1: no addresses).

In: unplaced npu IR. Out: kernels with the route and the options that each wants from the compiler.
"""

from __future__ import annotations

from collections import Counter

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from fusec.export.cube_text import CubeText
from fusec.export.exported_kernel import ExportedKernel
from fusec.export.mixed_text import MixedText
from fusec.export.reason import NotInHivm
from fusec.export.vector_text import VectorText
from fusec.npu.module import CORE_ATTRIBUTE, hosts, kernels
from fusec_dialects.npu.cube import MmadOp
from fusec_dialects.npu.host import HostCallOp
from fusec_dialects.npu.move import AllocOp


def export_kernels(module: ModuleOp) -> tuple[list[ExportedKernel], dict[str, str]]:
    """The kernels of a module in its order, and by name the reasons of those HIVM cannot say."""
    exported: list[ExportedKernel] = []
    refused: dict[str, str] = {}
    for func in kernels(module):
        try:
            exported.append(export_kernel(func))
        except NotInHivm as reason:
            refused[func.sym_name.data] = str(reason)
    return exported, refused


def host_calls(module: ModuleOp) -> dict[str, int]:
    """The ONNX operators that the host computes, which no kernel stands for, and how often."""
    found: Counter[str] = Counter()
    for host in hosts(module):
        for op in host.body.block.ops:
            if isinstance(op, HostCallOp):
                found[op.op_type.data] += 1
    return dict(found)


def export_kernel(func: FuncOp) -> ExportedKernel:
    """One kernel function; raises NotInHivm."""
    if is_placed(func):
        raise NotInHivm(
            func, "it is placed, or works on L0; export what graph-to-npu or npu-multi-buffer gives"
        )
    core = func.attributes.get(CORE_ATTRIBUTE)
    kind = core.data if isinstance(core, StringAttr) else ""
    name = func.sym_name.data
    if kind == "vector":
        return ExportedKernel(name, VectorText(func).write(), "compile")
    if kind == "cube":
        writer = CubeText(func)
        return ExportedKernel(name, writer.write(), "opt", writer.options())
    if kind == "mixed":
        writer = MixedText(func)
        return ExportedKernel(name, writer.write(), "compile", writer.options())
    raise NotInHivm(func, f"{CORE_ATTRIBUTE} is {kind or 'missing'}, not cube, vector or mixed")


def is_placed(func: FuncOp) -> bool:
    """Whether a kernel is in the form of later passes, which is not exported."""
    return any(_is_late(op) for op in func.walk())


def _is_late(op: Operation) -> bool:
    """Whether an operation is what later passes make: addresses, or operands in L0."""
    if isinstance(op, AllocOp):
        return op.address is not None
    return isinstance(op, MmadOp) and not op.on_l1
