"""In program order, every group joins those that it reads where that is legal and better."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fusec.fusion.dag import Dag
from fusec.fusion.group import Cover
from fusec.fusion.strategies.named import merge_named
from fusec.semantics.classes import FusionClass

if TYPE_CHECKING:
    from fusec.fusion.planner import Planner


def greedy(planner: Planner) -> None:
    """Named patterns, then one pass over the operators; each edge is tried once."""
    dag, cover = planner.dag, planner.cover
    merge_named(planner)
    merge_runs(planner)
    for op in range(len(dag.ops)):
        if op not in cover.owner or dag.is_access(op):
            continue
        if planner.out_of_time:
            return
        for found in sources(dag, cover, op):
            keys = {cover.owner[i] for i in (op, *found)}
            if len(keys) > 1:
                planner.try_merge(keys)


def merge_runs(planner: Planner) -> None:
    """Elementwise operators in a row become one group at once, before any joins what is ahead of
    the first: one question in place of one for each."""
    dag, cover = planner.dag, planner.cover
    for op in range(len(dag.ops)):
        if not _is_plain(planner, op) or any(
            _is_plain(planner, s) for s in direct_sources(dag, cover, op)
        ):
            continue
        run = [op]
        while len(run) < planner.options.max_ops:
            user = dag.only_user(run[-1])
            if user is None or not _is_plain(planner, user):
                break
            run.append(user)
        if len(run) > 2:
            planner.try_merge({cover.owner[i] for i in run})


def _is_plain(planner: Planner, op: int) -> bool:
    """An elementwise operator that is still a kernel of its own."""
    dag, cover = planner.dag, planner.cover
    known = dag.classes[op] == FusionClass.ELEMENTWISE or dag.names[op] == "batch_normalization"
    key = cover.owner.get(op) if known else None
    return key is not None and len(cover.groups[key].owned) == 1


def direct_sources(dag: Dag, cover: Cover, op: int) -> Iterator[int]:
    """Compute operators whose results an operator reads as they are."""
    for source in dict.fromkeys(dag.operands[op]):
        if source in cover.owner and not dag.is_access(source):
            yield source


def sources(dag: Dag, cover: Cover, op: int) -> Iterator[tuple[int, ...]]:
    """Compute operators whose results an operator reads, each with the movements between them that
    nothing else reads: these go along where the two become one group."""
    for source in dict.fromkeys(dag.operands[op]):
        through: list[int] = []
        while source >= 0 and dag.is_access(source):
            if source in cover.owner:
                if len(cover.groups[cover.owner[source]].owned) > 1:
                    break
                if dag.only_user(source) is None:
                    source = -1
                    break
                through.append(source)
            source = dag.operands[source][0]
        if source in cover.owner:
            yield (source, *through)
