"""What each kernel computes, in words: its operators and element types, to say what a refusal is
about.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from fusec_dialects.graph import ConstantOp, GraphOp, KernelOp
from fusec_dialects.graph.base import tensor_type


def kernel_contents(fused: ModuleOp) -> dict[str, str]:
    """By the kernel's name, like `conv, global_average_pool (f32)`; constants are left out."""
    found: dict[str, str] = {}
    for kernel in fused.body.block.ops:
        if isinstance(kernel, KernelOp):
            found[kernel.sym_name.data] = _contents(kernel)
    return found


def _contents(kernel: KernelOp) -> str:
    operators = [
        op
        for op in kernel.body.block.ops
        if isinstance(op, GraphOp) and not isinstance(op, ConstantOp)
    ]
    names = dict.fromkeys(op.op_name for op in operators)
    values = (value for op in operators for value in (*op.operands, *op.results))
    types = dict.fromkeys(str(tensor_type(value).element_type) for value in values)
    return f"{', '.join(names)} ({', '.join(types)})"
