"""`fusion_result.json` as ATC writes it: how often each fusion matched and took effect.

Beside CANN's keys stand the sites: where a fusion fitted, whether it was legal, whether it paid,
and whether it is in the plan, else the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

from fusec.fusion.remarks import Remark

SESSION = "session_and_graph_id_0_0"
"""The key of the one graph of one compilation."""

JUDGED = frozenset({"not-profitable"})
"""Reasons of fusions that are legal."""

SWITCHES = frozenset({"disabled", "max-ops", "max-depth", "min-ops"})
"""Reasons that come from options: legality was not asked."""


class Site(TypedDict):
    """One place where a fusion fitted. `legal` and `profitable` are null where it was not asked."""

    fusion: str
    ops: list[str]
    legal: bool | None
    profitable: bool | None
    applied: bool
    reason: str


class Times(TypedDict):
    """CANN's counters; the repository of tuned fusions does not exist here."""

    match_times: str
    effect_times: str
    repository_hit_times: str


class Graph(TypedDict):
    """One graph: named patterns under `graph_fusion`, automatic groups under `ub_fusion`."""

    graph_fusion: dict[str, Times]
    ub_fusion: dict[str, Times]
    sites: list[Site]


def fusion_result(
    remarks: Sequence[Remark], groups: Sequence[str], patterns: frozenset[str]
) -> dict[str, Graph]:
    """The content of the file; `groups` are the final groups' names, `patterns` the known names."""
    tried = {(r.pattern, r.ops): r for r in remarks}
    matched = Counter(name for name, _ in tried)
    applied = Counter(groups)
    named: dict[str, Times] = {}
    automatic: dict[str, Times] = {}
    for name in dict.fromkeys((*matched, *(g for g in groups if g in patterns))):
        times = Times(
            match_times=str(max(matched[name], applied[name])),
            effect_times=str(applied[name]),
            repository_hit_times="0",
        )
        (named if name in patterns else automatic)[name] = times
    sites = [_site(r) for r in tried.values()]
    return {SESSION: Graph(graph_fusion=named, ub_fusion=automatic, sites=sites)}


def _site(remark: Remark) -> Site:
    fused = remark.kind != "refused"
    asked = fused or remark.reason not in SWITCHES
    legal = asked and (fused or remark.reason in JUDGED)
    return Site(
        fusion=remark.pattern,
        ops=list(remark.ops),
        legal=legal if asked else None,
        profitable=fused if legal else None,
        applied=fused,
        reason=remark.reason,
    )
