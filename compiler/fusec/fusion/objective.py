"""What a plan is judged by: modelled time, bytes between groups, or the number of kernels.

Costs of groups add up; of two plans the one with the smaller sum is better, compared as a pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fusec.fusion.legality import Cost
from fusec.schedule.types import Refusal

SLACK = 1e-9
"""A merge has to be better by more than rounding of the model's arithmetic."""

MARGIN = 1e-3
"""Part of a whole plan's time below which two plans take equally long."""

DEAREST = 4.0
"""One kernel, or some bytes, less may take this many times longer, where these are counted."""


class Score(NamedTuple):
    """What the objective makes small, then what decides between equals."""

    first: float
    second: float

    def below(self, other: Score) -> bool:
        """Whether this plan is better by more than rounding."""
        if abs(self.first - other.first) > SLACK:
            return self.first < other.first
        return self.second < other.second - SLACK


NO_KERNEL = Score(1e9, 1e9)
"""What an operator that no kernel computes adds: whatever takes it in is better."""


def score(objective: str, cost: Cost | Refusal) -> Score:
    """What one group adds to a plan."""
    if isinstance(cost, Refusal):
        return NO_KERNEL
    if objective == "time":
        return Score(cost.us, cost.boundary)
    return Score(cost.boundary if objective == "bytes" else 1.0, cost.us)


def score_of(objective: str, costs: Iterable[Cost | Refusal]) -> Score:
    """What several groups add to a plan."""
    return added(score(objective, cost) for cost in costs)


def added(scores: Iterable[Score]) -> Score:
    """The sum of several."""
    first = second = 0.0
    for one in scores:
        first += one.first
        second += one.second
    return Score(first, second)


def clearly_better(objective: str, plan: Score, known: Score) -> bool:
    """Whether a plan is better by more than the model of times is worth in µs (MARGIN)."""
    if objective == "time":
        return plan.first < known.first * (1 - MARGIN)
    if plan.first != known.first:
        return plan.first < known.first
    return plan.second < known.second * (1 - MARGIN)


def affordable(objective: str, after: float, before: float) -> bool:
    """Whether a merge is worth its time, both in µs."""
    return after <= before * (1.0 if objective == "time" else DEAREST)


def profitable(objective: str, merged: Cost, parts: list[Cost]) -> Refusal | None:
    """None where one group is better than its parts, else the reason with both figures."""
    before = score_of(objective, parts)
    after = score(objective, merged)
    us = sum(p.us for p in parts)
    cheap = objective == "time" or affordable(objective, merged.us, us)
    if cheap and after.below(before):
        return None
    if objective == "bytes" and cheap:
        return not_profitable(after.first, before.first, "bytes")
    return not_profitable(merged.us, us)


def not_profitable(fused: float, apart: float, unit: str = "us", *, near: bool = False) -> Refusal:
    """The refusal that names both figures; `near`: those of equal operators with sizes near."""
    whose = "modelled, for sizes near these" if near else "modelled"
    return Refusal(
        "not-profitable",
        f"{fused:.1f} {unit} fused against {apart:.1f} {unit} apart ({whose})",
        {"fused": fused, "apart": apart},
    )
