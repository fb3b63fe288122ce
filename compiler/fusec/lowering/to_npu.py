"""graph-to-npu: kernels become functions on buffers, calls a host function that launches them.

In: `graph.kernel`s with a schedule, `@main` that calls them. Out: one function for each distinct
kernel, `func.func @main` with `npu.host`, `@weights` with the constants that kernels read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from fusec.hw import Target
from fusec.lowering.copy import emit_copy
from fusec.lowering.emit import emit
from fusec.lowering.emitted import EmittedKernel
from fusec.lowering.host import HostBuilder, HostKernel
from fusec.lowering.layout import Layout
from fusec.lowering.weights import add_constants
from fusec.schedule.target import module_target
from fusec_dialects.graph import CallOp, KernelOp
from fusec_dialects.place import place


@dataclass(frozen=True)
class GraphToNpuPass(ModulePass):
    """Lower scheduled kernels and the calls between them."""

    name = "graph-to-npu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        kernels = [k for k in op.body.block.ops if isinstance(k, KernelOp)]
        main = next(
            (f for f in op.body.block.ops if isinstance(f, FuncOp) and f.sym_name.data == "main"),
            None,
        )
        if main is None:
            raise PassFailedException(f"{self.name}: the module has no function @main to lower")
        taken = {k.sym_name.data for k in kernels} | {"main", "weights"}
        library = _Library({k.sym_name.data: k for k in kernels}, target, taken)
        builder = HostBuilder(main, library.of_call, library.copy)
        host = builder.build()
        block = op.body.block
        block.insert_op_before(host, main)
        block.insert_ops_after(library.functions, host)
        for old in (main, *kernels):
            block.erase_op(old)
        add_constants(op, list(builder.constants.values()), host.location)


@dataclass
class _Library:
    """The functions made so far; kernels that come out equal share one."""

    kernels: dict[str, KernelOp]
    target: Target
    taken: set[str]
    functions: list[FuncOp] = field(default_factory=list[FuncOp])
    _made: dict[str, HostKernel] = field(default_factory=dict[str, HostKernel])
    _alike: dict[object, list[HostKernel]] = field(default_factory=dict[object, list[HostKernel]])

    def of_call(self, call: CallOp) -> HostKernel:
        """The function of the kernel that is called."""
        name = call.callee.string_value()
        found = self._made.get(name)
        if found is None:
            kernel = self.kernels.get(name)
            if kernel is None:
                raise PassFailedException(f"{place(call)}: no kernel @{name}")
            emitted = emit(kernel, self.target)
            found = self._made[name] = self._shared(emitted, kernel)
        return found

    def copy(self, layout: Layout, op: Operation) -> HostKernel:
        """A function that copies a tensor of this layout."""
        shape = tuple(size for size in layout.shape if size is not None)
        key = f"copy {shape} {layout.dtype}"
        found = self._made.get(key)
        if found is None:
            name = f"copy_{'x'.join(map(str, shape)) or 'scalar'}_{layout.dtype}"
            func = emit_copy(self._free(name), shape, layout.dtype, self.target, op.location)
            found = self._made[key] = self._add(EmittedKernel(func))
        return found

    def _free(self, name: str) -> str:
        number, free = 0, name
        while free in self.taken:
            number += 1
            free = f"{name}_{number}"
        self.taken.add(free)
        return free

    def _shared(self, emitted: EmittedKernel, kernel: KernelOp) -> HostKernel:
        """The same function made before for another kernel, else this one."""
        func = emitted.func
        key = (
            func.function_type,
            func.attributes["npu.core"],
            func.attributes["npu.blocks"],
            tuple(constant.name for constant in emitted.constants),
            sum(1 for _ in func.walk()),
        )
        alike = self._alike.setdefault(key, [])
        for other in alike:
            if other.kernel.func.body.is_structurally_equivalent(func.body):
                return other
        func.attributes["npu.pattern"] = StringAttr(kernel.pattern.data)
        alike.append(self._add(emitted))
        return alike[-1]

    def _add(self, emitted: EmittedKernel) -> HostKernel:
        func = emitted.func
        self.functions.append(func)
        return HostKernel(func.sym_name.data, emitted.blocks, emitted)
