"""Groups that read the same values and make parts of one concat become one group.

The halves of a rotary embedding: each reads both halves of the input, so one kernel reads once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from fusec.semantics.classes import FusionClass

if TYPE_CHECKING:
    from fusec.fusion.planner import Planner

_ALONE = frozenset({FusionClass.CONTRACTION, FusionClass.WINDOW, FusionClass.OPAQUE})
"""Classes of operators whose groups have a tile of their own."""

MOST_PARTS = 4
"""Groups that are tried as one."""


def merge_siblings(planner: Planner) -> None:
    """Tries the parts of every concat, all of one type, together."""
    dag, cover = planner.dag, planner.cover
    for op in range(len(dag.ops)):
        if dag.names[op] != "concat" or dag.is_constant(op):
            continue
        sources = list(dict.fromkeys(o for o in dag.operands[op] if o in cover.owner))
        keys = list(dict.fromkeys(cover.owner[o] for o in sources))
        types = {dag.ops[o].results[0].type for o in sources}
        if not 2 <= len(keys) <= MOST_PARTS or len(types) > 1:
            continue
        if all(_is_plain(planner, k) for k in keys) and _share(planner, keys):
            planner.try_merge(keys)


def _is_plain(planner: Planner, key: int) -> bool:
    dag = planner.dag
    return not any(
        dag.classes[i] in _ALONE or dag.is_access(i) for i in planner.cover.groups[key].owned
    )


def _share(planner: Planner, keys: list[int]) -> bool:
    """Whether every group reads something that the first one reads too, views looked through."""
    first, *others = (_inputs(planner, key) for key in keys)
    return all(first & other for other in others)


def _inputs(planner: Planner, key: int) -> set[SSAValue]:
    dag, owned = planner.dag, planner.cover.groups[key].owned
    found: set[SSAValue] = set()
    for i in owned:
        for value, owner in zip(dag.ops[i].operands, dag.operands[i], strict=True):
            source = owner
            while source >= 0 and dag.is_access(source) and source not in owned:
                value = dag.ops[source].operands[0]
                source = dag.operands[source][0]
            if source not in owned and not (source >= 0 and dag.is_constant(source)):
                found.add(value)
    return found
