"""Checks of npu-verify on launches and host calls: each argument is used as what it is on the
host.

In: the host function. Out: nothing, or a VerifyException.
"""

from collections.abc import Mapping
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import ReinterpretCastOp
from xdsl.ir import Block, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from fusec.npu.buffers import FunctionAccesses, alloc_of, base_of
from fusec.npu.check_functions import WORKSPACE_ATTRIBUTE, argument_has
from fusec.npu.module import blocks_of
from fusec.npu.overflow import name_of
from fusec.npu.parts import apart, part_of
from fusec.npu.views import layout_of
from fusec_dialects.npu.attrs import memref_type
from fusec_dialects.npu.control import LaunchOp
from fusec_dialects.npu.host import HostCallOp
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.place import place


class _Kernel(NamedTuple):
    """A kernel, and the numbers of the arguments that it reads and writes."""

    function: FuncOp
    reads: frozenset[int]
    writes: frozenset[int]


def check_launches(host: FuncOp, used: Mapping[FuncOp, FunctionAccesses]) -> None:
    """Every launch, host call, and reshape between them, in program order.

    `used` holds what each kernel of the module accesses.
    """
    kernels: dict[str, _Kernel] = {}
    written: set[SSAValue] = set()
    for op in host.body.block.ops:
        if isinstance(op, ReinterpretCastOp):
            _check_reshape(op)
        elif isinstance(op, LaunchOp):
            name = op.kernel.string_value()
            if name not in kernels:
                kernels[name] = _kernel(op, used)
            _check_launch(op, kernels[name], host, written)
            written.update(base_of(op.arguments[i]) for i in kernels[name].writes)
        elif isinstance(op, HostCallOp):
            _check_host_call(op, host, written)
            written.update(map(base_of, op.outputs))
    for argument in host.body.block.args:
        type_ = memref_type(argument.type)
        if type_ is not None and 0 in type_.get_shape():
            continue
        if argument_has(host, argument.index, "npu.output") and argument not in written:
            raise VerifyException(
                f"{place(host)}: @{host.sym_name.data}: nothing writes output {argument.index}"
            )


def _kernel(launch: LaunchOp, used: Mapping[FuncOp, FunctionAccesses]) -> _Kernel:
    function = SymbolTable.lookup_symbol(launch, launch.kernel)
    if not isinstance(function, FuncOp) or function not in used:
        raise VerifyException(f"{place(launch)}: {launch.kernel} is not a kernel")
    reads: set[int] = set()
    writes: set[int] = set()
    for access in used[function].accesses:
        owner = access.base.owner
        if isinstance(owner, Block) and owner is function.body.block:
            (writes if access.writes else reads).add(owner.args.index(access.base))
    return _Kernel(function, frozenset(reads), frozenset(writes))


def _check_launch(launch: LaunchOp, kernel: _Kernel, host: FuncOp, written: set[SSAValue]) -> None:
    where = f"{place(launch)}: {launch.kernel}"
    blocks = launch.blocks.value.data
    if blocks_of(kernel.function) not in (None, blocks):
        raise VerifyException(
            f"{where}: launched with {blocks} blocks, written for {blocks_of(kernel.function)}"
        )
    bases = [base_of(argument) for argument in launch.arguments]
    for index, base in enumerate(bases):
        what = f"{where}: argument {index}"
        alloc = alloc_of(base)
        if index in kernel.writes:
            shared = _shares(launch, kernel, bases, index)
            _check_written(what, base, host, 1 + shared)
        only_read = index in kernel.reads and index not in kernel.writes
        if only_read and alloc is not None and base not in written:
            raise VerifyException(f"{what}: {name_of(alloc)} is read before it is written")
        if argument_has(kernel.function, index, WORKSPACE_ATTRIBUTE):
            _check_workspace(what, base, alloc, blocks)


def _shares(launch: LaunchOp, kernel: _Kernel, bases: list[SSAValue], index: int) -> int:
    """How many other arguments of a launch share elements with one of them."""
    alike = [i for i, base in enumerate(bases) if base is bases[index]]
    if len(alike) == 1:
        return 0
    parts = {i: part_of(launch.arguments[i], kernel.function, i) for i in alike}
    mine = parts.pop(index)
    return sum(mine is None or other is None or not apart(mine, other) for other in parts.values())


def _check_host_call(call: HostCallOp, host: FuncOp, written: set[SSAValue]) -> None:
    where = f"{place(call)}: {call.op_type.data}"
    for index, value in enumerate(call.inputs):
        alloc = alloc_of(value)
        if alloc is not None and base_of(value) not in written:
            raise VerifyException(
                f"{where}: input {index}: {name_of(alloc)} is read before it is written"
            )
    extents = [_extent(value) for value in (*call.inputs, *call.outputs)]
    for index, value in enumerate(call.outputs):
        base, low, high = _extent(value)
        times = sum(other is base and a < high and low < b for other, a, b in extents)
        _check_written(f"{where}: output {index}", base, host, times, "the host")


def _extent(value: SSAValue) -> tuple[SSAValue, int, int]:
    """The buffer that a contiguous view of the host lies in, its first element there and the one
    behind its last; the offset of a cast counts from the buffer's start."""
    owner, type_ = value.owner, memref_type(value.type)
    low = owner.static_offsets.get_values()[0] if isinstance(owner, ReinterpretCastOp) else 0
    return base_of(value), low, low + (0 if type_ is None else prod(type_.get_shape()))


def _check_written(
    what: str, base: SSAValue, host: FuncOp, times: int, who: str = "the kernel"
) -> None:
    if times > 1:
        raise VerifyException(f"{what}: is written, and passed as another argument as well")
    if not isinstance(base.owner, Block):
        return
    index = base.owner.args.index(base)
    for role in ("npu.input", "npu.weight"):
        if argument_has(host, index, role):
            raise VerifyException(f"{what}: {who} writes it, but it is an {role}")


def _check_workspace(what: str, base: SSAValue, alloc: AllocOp | None, blocks: int) -> None:
    if alloc is None:
        raise VerifyException(f"{what}: a workspace is a buffer of the host's own (npu.alloc)")
    type_ = memref_type(base.type)
    if type_ is not None and type_.get_num_dims() and type_.get_shape()[0] < blocks:
        raise VerifyException(
            f"{what}: the workspace has {type_.get_shape()[0]} parts for {blocks} blocks"
        )


def _check_reshape(op: ReinterpretCastOp) -> None:
    """A view on the host is a contiguous part of the buffer, in any shape."""
    source, result = memref_type(op.source.type), memref_type(op.result.type)
    if source is None or result is None:
        return
    layout = layout_of(result)
    step: int = 1
    offset = op.static_offsets.get_values()[0]
    contiguous = offset >= 0 and DYNAMIC_INDEX not in layout.shape
    for size, stride in zip(reversed(layout.shape), reversed(layout.strides), strict=True):
        contiguous = contiguous and (stride == step or size == 1)
        step *= size
    if not contiguous or offset + step > prod(source.get_shape()):
        raise VerifyException(
            f"{place(op)}: on the host only a reshape of a contiguous part of a buffer is free"
        )
