"""`-t ascend-npu-ir`: every kernel of a module as HIVM text, in one module.

Before each kernel stands how Huawei's compiler is called on it; what HIVM cannot say is a comment,
and so are the operators that the host computes. Placed kernels are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException
from xdsl.utils.target import Target

from fusec.export.exported_kernel import ExportedKernel
from fusec.export.kernels import export_kernels, host_calls, is_placed
from fusec.npu.module import kernels as kernels_of
from fusec_dialects.place import place

ADVICE = (
    "export what the passes up to graph-to-npu or npu-multi-buffer give, like "
    "-p prepare,optimise,graph-schedule,graph-to-npu"
)


@dataclass(frozen=True)
class AscendNpuIrTarget(Target):
    """AscendNPU IR (HIVM) text of unplaced kernels."""

    name = "ascend-npu-ir"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        placed = [func for func in kernels_of(module) if is_placed(func)]
        if placed:
            names = ", ".join(f"@{func.sym_name.data}" for func in placed[:3])
            more = f" and {len(placed) - 3} more" if len(placed) > 3 else ""
            raise PassFailedException(
                f"{place(placed[0])}: {self.name}: kernels with addresses, or on L0 "
                f"({names}{more}): Huawei's compiler places buffers itself; {ADVICE}"
            )
        kernels, refused = export_kernels(module)
        if not kernels and not refused:
            raise PassFailedException(
                f"{place(module)}: {self.name}: the module has no kernels; {ADVICE}"
            )
        parts = [
            f"// {name} cannot be said in AscendNPU IR: {why}" for name, why in refused.items()
        ]
        parts += [f"// {op} is computed by the host ({n})" for op, n in host_calls(module).items()]
        parts.append("module {")
        parts += (f"// {kernel.name}: {_call(kernel)}\n{kernel.func_text}" for kernel in kernels)
        output.write("\n".join((*parts, "}", "")))


def _call(kernel: ExportedKernel) -> str:
    """The route, and the options if there are any."""
    return " ".join((f"route {kernel.route}", *kernel.options))
