"""Schedules and estimates by structure, across passes: what fusion asked is not computed again.

In: the block of a group or kernel. Out: its schedule with the estimate of it, or a Refusal. Blocks
that differ in names and locations alone have one answer; refusals, which name places, are not kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from fusec.graph.outline import structure
from fusec.hw import Target
from fusec.schedule import cube, rows
from fusec.schedule.cost import estimate
from fusec.schedule.cube import CubeSearch
from fusec.schedule.cube_problem import cube_problem
from fusec.schedule.memory import Strides
from fusec.schedule.region import Region
from fusec.schedule.rows import RowsSearch
from fusec.schedule.rows_problem import rows_problem
from fusec.schedule.schedule import families_of, schedule
from fusec.schedule.types import Refusal, RefusalError, Schedule
from fusec.schedule.work import Estimate

LIMIT = 4096
"""Answers that are kept, those asked for last."""


class Answer(NamedTuple):
    """The best schedule of a block, and what it costs."""

    schedule: Schedule
    estimate: Estimate


_ANSWERS: OrderedDict[object, Answer] = OrderedDict()


def forget() -> None:
    """Drop every answer: what an operator of a user's is has changed."""
    _ANSWERS.clear()


def answer(
    block: Block, target: Target, strides: Mapping[SSAValue, Strides] | None = None
) -> Answer | Refusal:
    """The schedule of a block; `strides` as of `Region.of_block`."""
    region = Region.of_block(block, strides)
    places = tuple(region.strides.get(v) for v in (*region.inputs, *region.outputs))
    key = (structure(block), places, target)
    if (known := _ANSWERS.get(key)) is not None:
        _ANSWERS.move_to_end(key)
        return known
    found = schedule(region, target)
    if isinstance(found, Refusal):
        return found
    made = _ANSWERS[key] = Answer(found, estimate(region, found, target))
    if len(_ANSWERS) > LIMIT:
        _ANSWERS.popitem(last=False)
    return made


def refused(
    block: Block, target: Target, strides: Mapping[SSAValue, Strides] | None = None
) -> Refusal | None:
    """Why a block has no schedule; without a search where a fair one is found at once. `strides`
    as of `answer`."""
    region = Region.of_block(block, strides)
    names = families_of(region)
    if any(name in names and fair(region, target) for name, fair in FAIR.items()):
        return None
    found = answer(block, target, strides)
    return found if isinstance(found, Refusal) else None


def _has_cube(region: Region, target: Target) -> bool:
    try:
        problem = cube_problem(region)
    except RefusalError:
        return False
    return problem.alpha == 1.0 and cube.fair_us(CubeSearch(problem, target)) is not None


def _has_rows(region: Region, target: Target) -> bool:
    try:
        problem = rows_problem(region)
    except RefusalError:
        return False
    return rows.fair_us(RowsSearch(problem, target)) is not None


FAIR: dict[str, Callable[[Region, Target], bool]] = {"cube": _has_cube, "rows": _has_rows}
"""Families of which a few tiles say that there is a kernel."""
