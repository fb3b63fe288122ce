"""What the passes on the npu level read from a module: target, kernels and host function."""

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from fusec.hw import DEFAULT_TARGET, Target, TargetError, load_target
from fusec_dialects.npu.attrs import ScheduleAttr

TARGET_ATTRIBUTE = "npu.target"
CORE_ATTRIBUTE = "npu.core"
HOST_ATTRIBUTE = "npu.host"
BLOCKS_ATTRIBUTE = "npu.blocks"
SCHEDULE_ATTRIBUTE = "npu.schedule"


def target_of(module: ModuleOp) -> Target:
    """The target of the module attribute `npu.target`, or the default one.

    Raises PassFailedException for an attribute that names no target.
    """
    name = module.attributes.get(TARGET_ATTRIBUTE)
    if name is not None and not isinstance(name, StringAttr):
        raise PassFailedException(f"module attribute {TARGET_ATTRIBUTE} is a string, found {name}")
    try:
        return load_target(DEFAULT_TARGET if name is None else name.data)
    except TargetError as error:
        raise PassFailedException(f"module attribute {TARGET_ATTRIBUTE}: {error}") from error


def kernels(module: ModuleOp) -> Iterator[FuncOp]:
    """The functions with a core, in the module's order."""
    for op in module.ops:
        if isinstance(op, FuncOp) and CORE_ATTRIBUTE in op.attributes and op.body.blocks:
            yield op


def hosts(module: ModuleOp) -> Iterator[FuncOp]:
    """The functions that launch kernels, in the module's order."""
    for op in module.ops:
        if isinstance(op, FuncOp) and HOST_ATTRIBUTE in op.attributes and op.body.blocks:
            yield op


def blocks_of(kernel: FuncOp) -> int | None:
    """How many blocks the kernel is launched with, where it says so."""
    blocks = kernel.attributes.get(BLOCKS_ATTRIBUTE)
    return blocks.value.data if isinstance(blocks, IntegerAttr) else None


def copies_of(kernel: FuncOp, default: int) -> int:
    """Copies of a rotating buffer: the schedule's `copies`, else `default`."""
    schedule = kernel.attributes.get(SCHEDULE_ATTRIBUTE)
    if not isinstance(schedule, ScheduleAttr):
        return default
    copies = schedule.values.data.get("copies")
    return copies.value.data if isinstance(copies, IntegerAttr) else default
