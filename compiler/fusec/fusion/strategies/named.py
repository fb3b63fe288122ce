"""Own fusions first, then the named patterns of the library, the most benefit first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fusec.fusion.patterns import proposals
from fusec.fusion.patterns.own import OWN
from fusec.schedule.own import KERNELS
from fusec.schedule.types import Refusal

if TYPE_CHECKING:
    from fusec.fusion.planner import Planner


def merge_own(planner: Planner) -> None:
    """Every site of every own fusion becomes a group that nothing joins."""
    dag, cover = planner.dag, planner.cover
    for match in OWN.matches(dag):
        name = match.fusion.name
        if name in KERNELS:
            continue  # an operator stands in its place already
        keys = {cover.owner[i] for i in match.ops if i in cover.owner}
        owned = set[int]().union(*(cover.groups[k].owned for k in keys))
        if not owned or not owned.issubset(match.ops):
            continue  # views alone are no kernel; or something else has a part of it
        if match.seen:
            escaped = ", ".join(dag.place(i) for i in match.seen)
            message = f"{escaped}: used outside of the fusion as well; make it an output"
            planner.note("refused", match.ops, name, Refusal("escapes", message))
            continue
        views = [i for i in match.ops if dag.is_access(i) and i not in cover.owner]
        if planner.try_merge(keys, name, views, automatic=False):
            cover.groups[min(keys)].closed = True


def merge_named(planner: Planner) -> None:
    """What the library finds, the most benefit first, where all of it is still unfused."""
    cover = planner.cover
    for match in proposals(planner.dag):
        keys = {cover.owner[i] for i in match.ops if i in cover.owner}
        alone = all(len(cover.groups[key].owned) == 1 for key in keys)
        if alone and len(keys) == len(match.ops):
            planner.try_merge(keys, match.name, automatic=False)
