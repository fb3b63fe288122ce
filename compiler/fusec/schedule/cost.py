"""The modelled time of a scheduled region, for every family: what the planner compares.

In: region, schedule, target. Out: an `Estimate`; see `work` for the model and its constants.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusec.hw import Target
from fusec.schedule.attention import attention_work
from fusec.schedule.cube_problem import cube_problem
from fusec.schedule.cube_schedule import CubeSchedule
from fusec.schedule.cube_time import cube_work
from fusec.schedule.depthwise import depthwise_work
from fusec.schedule.depthwise_problem import depthwise_problem
from fusec.schedule.depthwise_schedule import DepthwiseSchedule
from fusec.schedule.expand import expand
from fusec.schedule.mixed import MixedSchedule, mixed_work
from fusec.schedule.mixed_problem import problem_of
from fusec.schedule.movement import MovementSchedule, movement_work
from fusec.schedule.own import OwnSchedule, estimate_own
from fusec.schedule.region import Region
from fusec.schedule.rows import rows_work
from fusec.schedule.types import Schedule
from fusec.schedule.vector import VectorSchedule, vector_work
from fusec.schedule.window import WindowSchedule, window_problem, window_work
from fusec.schedule.work import Estimate, Work, estimate_of


def _cube(region: Region, schedule: CubeSchedule, target: Target) -> Work:
    return cube_work(cube_problem(region), schedule, target)


def _mixed(region: Region, schedule: MixedSchedule, target: Target) -> Work:
    return mixed_work(problem_of(region), schedule, target)


def _depthwise(region: Region, schedule: DepthwiseSchedule, target: Target) -> Work:
    return depthwise_work(depthwise_problem(region), schedule, target)


def _vector(region: Region, schedule: VectorSchedule, target: Target) -> Work:
    return vector_work(expand(region), schedule, target)


def _window(region: Region, schedule: WindowSchedule, target: Target) -> Work:
    return window_work(window_problem(region), schedule, target)


def _movement(region: Region, schedule: MovementSchedule, target: Target) -> Work:
    return movement_work(region, schedule, target)


WORK: dict[str, Callable[[Region, Any, Target], Work]] = {
    "cube": _cube,
    "mixed": _mixed,
    "rows": rows_work,
    "attention": attention_work,
    "depthwise": _depthwise,
    "vector": _vector,
    "window": _window,
    "movement": _movement,
}


def estimate(region: Region, schedule: Schedule, target: Target) -> Estimate:
    """Time, cycles of the busiest core and traffic of one launch of a kernel."""
    if isinstance(schedule, OwnSchedule):
        return estimate_own(region, target)
    return estimate_of(WORK[schedule.family](region, schedule, target), target)
