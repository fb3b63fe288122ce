"""Without fusion each imported operator is one kernel, also one that is taken apart on the way.

In: a plan where every operator of the graph is a group. Out: those of one ONNX node are one group
where such a kernel exists and takes no longer; else (LSTM, ...) its parts join what they read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fusec.schedule.types import Refusal

if TYPE_CHECKING:
    from fusec.fusion.planner import Planner

MOST = 32
"""Operators that are tried as one kernel."""


def merge_nodes(planner: Planner) -> None:
    """Joins the parts of every ONNX node; of MLIR text those of every line."""
    dag, cover = planner.dag, planner.cover
    parts: dict[tuple[str, ...], list[int]] = {}
    for op in cover.owner:
        if not dag.is_settled(op):
            parts.setdefault(dag.imported(op), []).append(op)
    for node, ops in parts.items():
        if not node or len(ops) < 2:
            continue
        if len(ops) <= MOST and _merge(planner, ops):
            continue
        _merge_along_edges(planner, ops)


def _merge_along_edges(planner: Planner, ops: list[int]) -> None:
    """Each operator joins those that it reads, as far as that goes."""
    cover, inside = planner.cover, set(ops)
    for op in ops:
        for source in list(cover.sources(op)):
            mine, other = cover.owner[op], cover.owner[source]
            size = len(cover.groups[mine].owned) + len(cover.groups[other].owned)
            if source in inside and mine != other and size <= MOST:
                _merge(planner, (op, source))


def _merge(planner: Planner, ops: Iterable[int]) -> bool:
    """Whether the groups of these operators became one."""
    cover = planner.cover
    keys = sorted({cover.owner[i] for i in ops})
    merged = planner.merged(cover.groups[k] for k in keys)
    if cover.makes_cycle(keys):
        return False
    cost = planner.legal_cost(merged)
    if isinstance(cost, Refusal):
        return False
    apart = [c for c in map(planner.cost_of, keys) if not isinstance(c, Refusal)]
    if len(apart) == len(keys) and sum(c.us for c in apart) < cost.us:
        return False
    merged.name = planner.name_of(merged.owned)
    planner.replace(keys, merged)
    return True
