"""Emits a scheduled kernel: the one table from family to emitter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.utils.exceptions import PassFailedException

from fusec.hw import Target
from fusec.lowering import attention, cube, depthwise, mixed, movement, own, rows, vector, window
from fusec.lowering.arguments import arguments_of, mark_parts
from fusec.lowering.emitted import EmittedKernel
from fusec.schedule.region import Region
from fusec.schedule.schedule import check_schedule, named, read_schedule
from fusec.schedule.types import RefusalError
from fusec_dialects.graph import KernelOp

EMITTERS: dict[str, Callable[[KernelOp, Any, Target], EmittedKernel]] = {
    "cube": cube.emit,
    "mixed": mixed.emit,
    "rows": rows.emit,
    "attention": attention.emit,
    "depthwise": depthwise.emit,
    "vector": vector.emit,
    "window": window.emit,
    "movement": movement.emit,
    "own": own.emit,
}


def emit(kernel: KernelOp, target: Target) -> EmittedKernel:
    """The function of a kernel by its schedule; raises PassFailedException for a wrong one."""
    schedule = read_schedule(kernel)
    refusal = check_schedule(Region.of_block(kernel.body.block), schedule, target)
    if refusal is not None:
        raise PassFailedException(f"{named(kernel)}: {refusal}")
    try:
        made = EMITTERS[schedule.family](kernel, schedule, target)
        mark_parts(made.func, arguments_of(kernel, made.constants, made.workspaces))
        return made
    except RefusalError as error:
        raise PassFailedException(f"{named(kernel)}: {error.refusal}") from error
