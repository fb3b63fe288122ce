"""Schedules and estimates by structure, across passes: what fusion asked is not computed again.

In: the block of a group or kernel. Out: its schedule with the estimate of it, or a Refusal. Blocks
that differ in names and locations alone have one answer; refusals, which name places, are not kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from fusec.graph.outline import structure
from fusec.hw import Target
from fusec.schedule.cost import estimate
from fusec.schedule.memory import Strides
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
from fusec.schedule.types import Refusal, Schedule
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
