"""Whether a merge pays, asked as little as the bounds of times allow.

In: a planner, the groups that would be one, the group that they would be. Out: None where it pays,
the refusal where it does not, UNDECIDED where bounds alone do not tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING

from fusec.fusion.group import Group
from fusec.fusion.legality import Cost
from fusec.fusion.objective import SLACK, affordable, not_profitable, profitable
from fusec.schedule.templates import Bounds
from fusec.schedule.types import Refusal

if TYPE_CHECKING:
    from fusec.fusion.planner import Planner

UNDECIDED = Refusal("undecided", "bounds do not tell")


def _vagueness(planner: Planner, key: int) -> float:
    """How far apart the bounds of a group are, in µs."""
    known = planner.bounds(planner.cover.groups[key])
    if isinstance(known, Refusal):
        return 0.0
    return inf if known.most is None else known.most - known.least


def decide(planner: Planner, keys: Iterable[int], merged: Group, bounds: Bounds) -> Refusal | None:
    """What bounds alone say of a merge that is legal: None where it pays, the refusal where it
    loses, UNDECIDED otherwise."""
    parts = [planner.cover.groups[k] for k in keys]
    known = [planner.bounds(part) for part in parts]
    least = sum(0.0 if isinstance(k, Refusal) else k.least for k in known)
    if planner.objective == "time":
        if bounds.least >= least:
            most = [None if isinstance(k, Refusal) else k.most for k in known]
            sums = [m for m in most if m is not None]
            if len(sums) == len(most) and bounds.least >= sum(sums):
                return not_profitable(bounds.least, sum(sums))
            return UNDECIDED
        return None if bounds.most is not None and bounds.most < least - SLACK else UNDECIDED
    if bounds.most is None or not affordable(planner.objective, bounds.most, least):
        return UNDECIDED
    moved = planner.cover.boundary_bytes
    fewer = planner.objective == "kernels" or moved(merged) < sum(map(moved, parts))
    return None if fewer else UNDECIDED


def weigh(
    planner: Planner, keys: Sequence[int], merged: Group, found: Cost, *, exact: bool
) -> Refusal | None:
    """Whether a legal merge pays: parts are asked one by one, until the bounds of the others
    decide."""
    if not exact:
        bounds = Bounds(found.us, found.us)
        for key in sorted(keys, key=lambda k: _vagueness(planner, k), reverse=True):
            decided = decide(planner, keys, merged, bounds)
            if decided is not UNDECIDED:
                return decided
            planner.cost_of(key)
    parts = [planner.cost_of(k) for k in keys]
    costs = [p for p in parts if isinstance(p, Cost)]
    if len(costs) < len(parts):
        return None
    return profitable(planner.objective, found, costs)
