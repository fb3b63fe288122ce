"""The family of kernels that users write: one operator, whose registered `lower` is the kernel.

In: a region of one own operator. Out: its schedule, or a Refusal. Time and the check that `lower`
computes what the operator means come from who registered the kernel (`fusec.opbase`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from fusec.hw import Target
from fusec.schedule.region import Region
from fusec.schedule.types import Refusal, Schedule
from fusec.schedule.work import Estimate
from fusec_dialects.graph import OWN, GraphOp
from fusec_dialects.place import place


class Unsupported(Exception):
    """Raised by a `lower` that has no kernel for these shapes or types; the text says why."""


Lower: TypeAlias = Callable[[GraphOp, Any, list[Any], list[Any]], None]
"""Builds the kernel of an operator: the builder, the buffers of its operands and of its results."""


@dataclass(frozen=True)
class OwnKernel:
    """`estimate` gives the modelled time of the kernel for an operator, or why there is none."""

    lower: Lower
    estimate: Callable[[GraphOp, Target], Estimate | Refusal]


KERNELS: dict[str, OwnKernel] = {}
"""Own kernels by the operator's name."""


@dataclass(frozen=True)
class OwnSchedule(Schedule):
    """A kernel has no other parameters: its `lower` decides."""

    family: ClassVar[str] = "own"

    operator: str


def is_own(region: Region) -> bool:
    """Whether an operator of a user's is in a region."""
    return bool(OWN) and any(op.op_name in OWN for op in region.compute_ops)


def schedule_own(region: Region, target: Target) -> OwnSchedule | Refusal:
    """The schedule of a region that is one own operator with a kernel."""
    found = _operator(region)
    if isinstance(found, Refusal):
        return found
    estimate = KERNELS[found.op_name].estimate(found, target)
    return estimate if isinstance(estimate, Refusal) else OwnSchedule(found.op_name)


def check_own(region: Region, schedule: OwnSchedule, target: Target) -> Refusal | None:
    """Why a schedule is not that of a region; None if it is."""
    found = schedule_own(region, target)
    if isinstance(found, Refusal) or found == schedule:
        return found if isinstance(found, Refusal) else None
    return Refusal("schedule", f"the operator is {found.operator}, not {schedule.operator}")


def estimate_own(region: Region, target: Target) -> Estimate:
    """The time of a region that has a schedule of this family."""
    op = region.compute_ops[0]
    found = KERNELS[op.op_name].estimate(op, target)
    if isinstance(found, Refusal):
        raise ValueError(str(found))
    return found


def _operator(region: Region) -> GraphOp | Refusal:
    """The one operator of a region, or why it is no kernel of this family."""
    own = next(op for op in region.compute_ops if op.op_name in OWN)
    if own.op_name not in KERNELS:
        return Refusal(
            "own-operator",
            f"{place(own)} is an operator of yours without a kernel, so the host computes it",
        )
    if len(region.compute_ops) > 1:
        return Refusal(
            "own-kernel",
            f"{place(own)} has a kernel of its own, which takes in no other operator",
        )
    if region.strides:
        return Refusal(
            "own-strides", f"{place(own)}: a kernel of yours reads and writes whole tensors"
        )
    return own
