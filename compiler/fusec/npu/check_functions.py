"""Checks of npu-verify on the form of functions: arguments, the operators allowed, their core.

In: one kernel, or the host function. Out: nothing, or a VerifyException.
"""

from collections.abc import Collection, Iterable

from xdsl.dialects import memref, scf
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from fusec.npu.buffers import cores_of
from fusec.npu.intervals import Intervals
from fusec.npu.module import CORE_ATTRIBUTE
from fusec_dialects.npu.attrs import Core, Space, memref_type, space_of
from fusec_dialects.npu.base import NpuOp
from fusec_dialects.npu.control import BarrierOp, FlagOp, IndexOp, SyncBlockOp
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.place import place

ARGUMENT_TYPES = ("f32", "f16", "bf16", "i32", "i64", "i8", "ui8", "i1")
"""What a kernel reads and writes in gm."""

_HOST_TYPES = (*ARGUMENT_TYPES, "i16", "f64", "ui16", "ui32", "ui64")
"""What the host holds in gm: host calls work on more than kernels do."""

_KERNEL_OPS = (
    memref.SubviewOp,
    NpuOp,
    AllocOp,
    FlagOp,
    scf.ForOp,
    scf.YieldOp,
    memref.ReinterpretCastOp,
    memref.LoadOp,
    IndexOp,
    BarrierOp,
    SyncBlockOp,
    ReturnOp,
)

_HOST_OPS = (
    "npu.alloc",
    "npu.launch",
    "npu.host_call",
    "memref.reinterpret_cast",
    "func.return",
)

WORKSPACE_ATTRIBUTE = "npu.workspace"


def check_kernel(kernel: FuncOp, ops: Iterable[Operation], intervals: Intervals) -> None:
    """A kernel has gm buffers as arguments, no results, and operators of its own cores only."""
    cores = cores_of(kernel)
    if not cores:
        raise VerifyException(
            f"{place(kernel)}: @{kernel.sym_name.data}: {CORE_ATTRIBUTE} is "
            f'"vector", "cube" or "mixed", found {kernel.attributes[CORE_ATTRIBUTE]}'
        )
    _check_signature(kernel)
    for op in ops:
        if op.name.startswith("arith."):
            continue
        if not isinstance(op, _KERNEL_OPS):
            raise VerifyException(f"{place(op)}: '{op.name}' is not part of a kernel")
        if isinstance(op, NpuOp):
            _check_core(op, cores, kernel)
        elif isinstance(op, scf.ForOp):
            _check_loop(op, intervals)
        elif isinstance(op, memref.LoadOp) and space_of(op.memref.type) != Space.GM:
            raise VerifyException(f"{place(op)}: the scalar unit loads from gm only")


def check_host(host: FuncOp, ops: Iterable[Operation]) -> None:
    """The host function takes gm buffers and does nothing but launch, call, hold and reshape."""
    _check_signature(host, _HOST_TYPES)
    for op in ops:
        if op.name not in _HOST_OPS:
            raise VerifyException(f"{place(op)}: '{op.name}' is not part of the host function")
        if isinstance(op, AllocOp) and space_of(op.result.type) != Space.GM:
            raise VerifyException(f"{place(op)}: the host has buffers in gm only")


def _check_core(op: NpuOp, cores: tuple[Core, ...], kernel: FuncOp) -> None:
    core = op.agent().core
    if core not in cores:
        raise VerifyException(
            f"{place(op)}: runs on the {core} core, but the kernel has {CORE_ATTRIBUTE} = "
            f"{kernel.attributes[CORE_ATTRIBUTE]}"
        )


def _check_signature(function: FuncOp, types: Collection[str] = ARGUMENT_TYPES) -> None:
    name = f"{place(function)}: @{function.sym_name.data}"
    if function.function_type.outputs.data:
        raise VerifyException(f"{name}: returns results; they are arguments on the npu level")
    if len(function.body.blocks) != 1:
        raise VerifyException(f"{name}: has {len(function.body.blocks)} blocks, expected one")
    marked = False
    for index, argument in enumerate(function.body.block.args):
        type_ = memref_type(argument.type)
        if type_ is None or space_of(type_) != Space.GM:
            raise VerifyException(f"{name}: argument {index} is {argument.type}, not a gm buffer")
        if str(type_.element_type) not in types:
            raise VerifyException(
                f"{name}: argument {index} has elements of type {type_.element_type}, "
                f"expected {', '.join(types)}"
            )
        if marked and not argument_has(function, index, WORKSPACE_ATTRIBUTE):
            raise VerifyException(f"{name}: workspaces are the last arguments, not {index - 1}")
        marked = argument_has(function, index, WORKSPACE_ATTRIBUTE)


def argument_has(function: FuncOp, index: int, name: str) -> bool:
    """Whether an argument of a function carries an attribute."""
    attributes = function.arg_attrs
    return attributes is not None and name in attributes.data[index].data


def _check_loop(loop: scf.ForOp, intervals: Intervals) -> None:
    if loop.iter_args:
        raise VerifyException(f"{place(loop)}: a loop of a kernel carries no values (iter_args)")
    if intervals.of(loop.step).high < 1:
        raise VerifyException(f"{place(loop)}: the step of a loop is positive")
