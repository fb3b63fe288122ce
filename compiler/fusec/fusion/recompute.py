"""Cheap producers are computed again in each of several readers, where that beats storing them.

A group of a few elementwise operators that only other groups read goes away: each reader borrows a
copy of its operators, as it borrows views.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fusec.fusion.group import Group
from fusec.fusion.legality import Cost
from fusec.fusion.objective import score_of
from fusec.semantics.classes import FusionClass

if TYPE_CHECKING:
    from fusec.fusion.planner import Planner

MOST = 4
"""Operators that are worth computing again; what is longer has results worth keeping."""

_CHEAP = frozenset({FusionClass.ELEMENTWISE, FusionClass.BROADCAST, FusionClass.VIEW})


def recompute_cheap(planner: Planner) -> None:
    """Tries every group of cheap operators, the last ones first, so that what only they read can
    follow."""
    for key in reversed(planner.cover.order()):
        group = planner.cover.groups[key]
        if _is_cheap(planner, group) and (readers := _readers(planner, key)):
            _copy_into(planner, key, readers)


def _is_cheap(planner: Planner, group: Group) -> bool:
    dag = planner.dag
    cheap = len(group.owned) <= MOST and not group.closed and not planner.cover.is_settled(group)
    return cheap and all(dag.classes[i] in _CHEAP for i in group.owned)


def _readers(planner: Planner, key: int) -> list[int]:
    """The groups that read a group, two at least; none where it makes an output of the function."""
    dag, cover = planner.dag, planner.cover
    stack = [(i, user) for i in cover.groups[key].owned for user in dag.users[i]]
    found: set[int] = set()
    while stack:
        _, user = stack.pop()
        if user < 0:
            return []
        if user in cover.owner:
            found.add(cover.owner[user])
        else:
            stack += [(user, u) for u in dag.users[user]]
    found.discard(key)
    return sorted(found) if len(found) > 1 else []


def _copy_into(planner: Planner, key: int, readers: list[int]) -> bool:
    cover = planner.cover
    group, own = cover.groups[key], planner.cost_of(key)
    made: list[tuple[int, Group]] = []
    costs: list[Cost] = []
    before = [own]
    for reader in readers:
        old = cover.groups[reader]
        if old.closed or cover.is_settled(old):
            return False
        both = planner.merged((old, group))
        trial = replace(old, borrowed=both.borrowed | (group.owned - old.owned))
        cost = None if planner.permits(trial) is not None else planner.legal_cost(trial)
        if not isinstance(cost, Cost):
            return False
        before.append(planner.cost_of(reader))
        made.append((reader, trial))
        costs.append(cost)
    after = score_of(planner.objective, costs)
    if not after.below(score_of(planner.objective, before)):
        return False
    us = sum(c.us for c in before if isinstance(c, Cost))
    if not planner.affordable(sum(c.us for c in costs), us):
        return False
    cover.remove(key)
    for reader, trial in made:
        planner.replace([reader], trial)
    planner.note("recomputed", group.owned, group.name)
    return True
