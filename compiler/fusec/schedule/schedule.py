"""The schedule of a region: which kernel family it is, and the pass graph-schedule.

In: a set of operators and a target. Out: a frozen schedule of the family that the anchor decides,
or a Refusal. The pass puts `npu.schedule` on every kernel; one that a user wrote is only checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from fusec.hw import Target
from fusec.schedule import vector
from fusec.schedule.attention import check_attention, schedule_attention
from fusec.schedule.attention_schedule import AttentionSchedule
from fusec.schedule.cost import estimate
from fusec.schedule.cube import schedule_cube
from fusec.schedule.cube_problem import cube_problem
from fusec.schedule.cube_schedule import CubeSchedule, check
from fusec.schedule.depthwise import check_depthwise, schedule_depthwise
from fusec.schedule.depthwise_problem import is_depthwise
from fusec.schedule.depthwise_schedule import DepthwiseSchedule
from fusec.schedule.expand import expand
from fusec.schedule.mixed import MixedSchedule, check_mixed, schedule_mixed
from fusec.schedule.mixed_problem import problem_of
from fusec.schedule.movement import MovementSchedule, check_movement, schedule_movement
from fusec.schedule.own import OwnSchedule, check_own, is_own, schedule_own
from fusec.schedule.region import Region
from fusec.schedule.rows import check_rows_region, schedule_rows
from fusec.schedule.rows_schedule import RowsSchedule
from fusec.schedule.small_contraction import all_small, contractions_of
from fusec.schedule.target import module_target
from fusec.schedule.types import Refusal, RefusalError, Schedule, ScheduleError
from fusec.schedule.vector import VectorSchedule
from fusec.schedule.window import WindowSchedule, check_window, schedule_window
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.errors import DoesNotFitError
from fusec_dialects.graph import KernelOp
from fusec_dialects.npu.attrs import ScheduleAttr
from fusec_dialects.place import place

ATTRIBUTE = "npu.schedule"

Scheduler = Callable[[Region, Target], Schedule | Refusal]
Checker = Callable[[Region, Any, Target], Refusal | None]


@dataclass(frozen=True)
class Family:
    """A kernel family: its schedules, how one is found, how one that is given is checked."""

    type: type[Schedule]
    schedule: Scheduler
    check: Checker


def _cube(region: Region, target: Target) -> Schedule | Refusal:
    try:
        return schedule_cube(cube_problem(region), target)
    except RefusalError as error:
        return error.refusal


def _check_cube(region: Region, schedule: CubeSchedule, target: Target) -> Refusal | None:
    try:
        return check(cube_problem(region), schedule, target)
    except RefusalError as error:
        return error.refusal


def _mixed(region: Region, target: Target) -> Schedule | Refusal:
    try:
        return schedule_mixed(problem_of(region), target)
    except RefusalError as error:
        return error.refusal


def _check_mixed(region: Region, schedule: MixedSchedule, target: Target) -> Refusal | None:
    try:
        return check_mixed(problem_of(region), schedule, target)
    except RefusalError as error:
        return error.refusal


def _check_vector(region: Region, schedule: VectorSchedule, target: Target) -> Refusal | None:
    try:
        vector.check(expand(region), schedule, target)
    except RefusalError as error:
        return error.refusal
    except ScheduleError as error:
        return Refusal("schedule", str(error))
    return None


FAMILIES: dict[str, Family] = {
    "cube": Family(CubeSchedule, _cube, _check_cube),
    "mixed": Family(MixedSchedule, _mixed, _check_mixed),
    "rows": Family(RowsSchedule, schedule_rows, check_rows_region),
    "attention": Family(AttentionSchedule, schedule_attention, check_attention),
    "depthwise": Family(DepthwiseSchedule, schedule_depthwise, check_depthwise),
    "vector": Family(VectorSchedule, vector.schedule_vector, _check_vector),
    "window": Family(WindowSchedule, schedule_window, check_window),
    "movement": Family(MovementSchedule, schedule_movement, check_movement),
    "own": Family(OwnSchedule, schedule_own, check_own),
}


def families_of(region: Region) -> tuple[str, ...]:
    """The families that may take a region, best first, by the operators in it."""
    if is_own(region):
        return ("own",)
    classes = {fusion_class(op.op_name) for op in region.compute_ops}
    if FusionClass.CONTRACTION in classes:
        if len(contractions_of(region)) > 1 and any(
            op.op_name in SOFTMAX for op in region.compute_ops
        ):
            return ("attention", "vector") if all_small(region) else ("attention",)
        if any(map(is_depthwise, region.compute_ops)):
            return ("depthwise", "cube", "mixed")
        if not all_small(region):
            return ("cube", "mixed", "rows")
        if len(contractions_of(region)) > 1:
            return ("vector", "rows")
        return ("cube", "mixed", "rows", "vector")
    if any(op.op_name in WINDOWS for op in region.compute_ops):
        return ("window",)
    if classes <= {FusionClass.MOVEMENT, FusionClass.VIEW, FusionClass.BROADCAST}:
        return ("movement", "vector")
    return ("vector",)


SOFTMAX = frozenset({"softmax"})
WINDOWS = frozenset({"max_pool", "average_pool", "global_average_pool"})

NOT_MINE = frozenset(
    {"epilogue", "several-outputs", "gemm-alpha", "operator", "channel-multiplier"}
)
"""Reasons that say no more than that another family may take the region."""

FOR_ROWS = frozenset({"operand-computed", "epilogue-reduction", "contraction-count"})
"""Reasons that say no more than this where kernels on row blocks are tried."""


def schedule(region: Region, target: Target) -> Schedule | Refusal:
    """The schedule of a region on a target, of the first family that takes the region; a small
    contraction goes to the cube or to the vector cores, whichever takes less time by the model.

    The refusal is that of the first family that has a reason of its own, else of the last.
    """
    refusals: list[Refusal] = []
    names = families_of(region)
    either = names[-1] == "vector" and len(names) > 2
    found: Schedule | None = None
    for name in names:
        if found is not None and not (either and name == "vector"):
            continue
        answer = FAMILIES[name].schedule(region, target)
        if isinstance(answer, Refusal):
            refusals.append(answer)
        elif found is None or _us(region, answer, target) < _us(region, found, target):
            found = answer
    if found is not None:
        return found
    others = NOT_MINE | FOR_ROWS if "rows" in names else NOT_MINE
    return next((r for r in refusals if r.reason not in others), refusals[-1])


def _us(region: Region, answer: Schedule, target: Target) -> float:
    return estimate(region, answer, target).us


def schedule_from_attr(attr: ScheduleAttr) -> Schedule:
    """The schedule that an attribute describes; raises ScheduleError."""
    family = FAMILIES.get(attr.family.data)
    if family is None:
        raise VerifyException(
            f"no kernels of family '{attr.family.data}' yet, only {', '.join(FAMILIES)}"
        )
    return family.type.from_attr(attr)


def check_schedule(region: Region, given: Schedule, target: Target) -> Refusal | None:
    """Why a schedule does not fit a region or a target; None if it does."""
    return FAMILIES[given.family].check(region, given, target)


@dataclass(frozen=True)
class GraphSchedulePass(ModulePass):
    """Schedule every kernel. `target` is a built-in name or a path; it becomes the module's."""

    name = "graph-schedule"
    target: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op, self.target)
        for kernel in op.body.block.ops:
            if isinstance(kernel, KernelOp):
                _schedule_kernel(kernel, target)


def _schedule_kernel(kernel: KernelOp, target: Target) -> None:
    given = kernel.attributes.get(ATTRIBUTE)
    if given is None:
        from fusec.schedule.known import answer

        found = answer(kernel.body.block, target)
        if isinstance(found, Refusal):
            raise _error(kernel, found, target)
        kernel.attributes[ATTRIBUTE] = found.schedule.to_attr()
        return
    region = Region.of_block(kernel.body.block)
    refusal = check_schedule(region, read_schedule(kernel), target)
    if refusal is not None:
        raise _error(kernel, refusal, target)


def read_schedule(kernel: KernelOp) -> Schedule:
    """The schedule on a kernel; raises PassFailedException where it is absent or malformed."""
    attr = kernel.attributes.get(ATTRIBUTE)
    if not isinstance(attr, ScheduleAttr):
        raise PassFailedException(f"{named(kernel)} has no schedule; run graph-schedule first")
    try:
        return schedule_from_attr(attr)
    except VerifyException as error:
        raise PassFailedException(f"{named(kernel)}: {error}") from error


def named(kernel: KernelOp) -> str:
    """Where a kernel stands, with its name."""
    return f"{place(kernel)} @{kernel.sym_name.data}"


def _error(kernel: KernelOp, refusal: Refusal, target: Target) -> PassFailedException:
    message = (
        f'{named(kernel)} ("{kernel.pattern.data}") cannot be built for {target.name}: '
        f"{refusal.reason}: {refusal.message}"
    )
    if refusal.reason.endswith("capacity"):
        return DoesNotFitError(message)
    if len(Region.of_block(kernel.body.block).compute_ops) == 1:
        message += " (--allow-opaque leaves operators without a kernel to the host)"
    return PassFailedException(message)
