"""Transpositions, slices and expansions that a kernel can do as an access map disappear into it.

First into every kernel that reads the result (a copy of the views in each), else into the kernel
that computes the operand, where nobody else reads that. What remains stays a kernel of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fusec.fusion.group import Group
from fusec.fusion.legality import Cost
from fusec.schedule.types import Refusal

if TYPE_CHECKING:
    from fusec.fusion.planner import Planner

MAX_VIEWS = 32
"""Views that one kernel takes in: each is asked about with all of the others."""


def absorb_movements(planner: Planner) -> None:
    """Tries every movement of the function that could be a view."""
    dag, cover = planner.dag, planner.cover
    for op in range(len(dag.ops)):
        group = cover.group_of(op)
        if group is None or not dag.is_access(op) or len(group.owned) > 1:
            continue
        if not _into_users(planner, op):
            _into_source(planner, op)


def _views_above(planner: Planner, op: int) -> set[int]:
    """The movement itself and the views between it and what is computed, the nearest ones."""
    dag = planner.dag
    found: set[int] = set()
    while op >= 0 and dag.is_access(op) and len(found) <= MAX_VIEWS:
        found.add(op)
        op = dag.operands[op][0]
    return found


def _views_below(planner: Planner, op: int) -> set[int] | None:
    """The views between a movement and its users; None where one of them is an output."""
    dag, cover = planner.dag, planner.cover
    found: set[int] = set()
    stack = [op]
    while stack:
        i = stack.pop()
        for user in dag.users[i]:
            if user < 0:
                return None
            if user not in cover.owner and user not in found:
                found.add(user)
                stack.append(user)
    return found


def _into_users(planner: Planner, op: int) -> bool:
    cover = planner.cover
    below = _views_below(planner, op)
    users = {cover.owner[t] for t in cover.targets(op)}
    if below is None or not users:
        return False
    views = _views_above(planner, op) | below
    if len(views) > MAX_VIEWS:
        return False
    judged: dict[int, Group] = {}
    own = planner.cost_of(op)
    key_of_op = cover.owner.pop(op)
    moved = cover.groups.pop(key_of_op)
    before = own.us if isinstance(own, Cost) else float("inf")
    after = 0.0
    for key in users:
        group = cover.groups[key]
        borrowed = group.borrowed | (views - group.owned)
        trial = replace(group, borrowed=borrowed)
        trial.borrowed = _needed(planner, trial)
        part, whole = planner.cost_of(key), planner.legal_cost(trial)
        if isinstance(whole, Refusal):
            break
        judged[key] = trial
        before += part.us if isinstance(part, Cost) else float("inf")
        after += whole.us
    if len(judged) < len(users) or not planner.affordable(after, before):
        cover.owner[op] = key_of_op
        cover.groups[key_of_op] = moved
        return False
    for key, trial in judged.items():
        planner.replace([key], trial)
    return True


def _needed(planner: Planner, group: Group) -> set[int]:
    """The borrowed views that lead to an operator of the group."""
    needed: set[int] = set()
    for i in sorted(group.borrowed, reverse=True):
        if any(u in group.owned or u in needed for u in planner.dag.users[i]):
            needed.add(i)
    return needed


def _into_source(planner: Planner, op: int) -> bool:
    dag, cover = planner.dag, planner.cover
    views: set[int] = set()
    i = dag.operands[op][0]
    while i >= 0 and i not in cover.owner and dag.is_access(i):
        if dag.only_user(i) is None:
            return False
        views.add(i)
        i = dag.operands[i][0]
    if i < 0 or i not in cover.owner or dag.only_user(i) is None:
        return False
    key = cover.owner[i]
    group = cover.groups[key]
    taken = group.owned | views | {op}
    if sum(map(dag.is_access, taken)) > MAX_VIEWS:
        return False
    return planner.take_views(key, group, views | {op})
