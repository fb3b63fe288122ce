"""Places in refusals that are remembered: equal groups stand elsewhere.

In: a refusal for the block of a group whose operators have marks for locations. Out: one whose text
has the places of the operators of the group that asks.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from xdsl.dialects.builtin import LocationAttr

from fusec.fusion.dag import Dag
from fusec.fusion.group import Group
from fusec.schedule.types import Refusal
from fusec_dialects.locations import named, nodes, sources
from fusec_dialects.place import place_of_location

_SIGN = "\x1a"
"""Begins every mark; no name has it."""

_MARKED = re.compile(rf'(node )?"{_SIGN}(\d+)"(: )?')


@cache
def mark(number: int) -> LocationAttr:
    """The location of the operator of that number in the order of a group."""
    return named(f"{_SIGN}{number}")


def placed(refusal: Refusal, dag: Dag, group: Group) -> Refusal:
    """The refusal of a marked block, for a group of that structure."""
    if _SIGN not in refusal.message:
        return refusal
    ops = group.ops()

    def text(found: re.Match[str]) -> str:
        location = dag.ops[ops[int(found[2])]].location
        if found[1] is None:
            main = f'"{nodes(location)[-1]}"' if nodes(location) else (*sources(location), "")[-1]
        else:
            main = place_of_location(location)
        return main + (found[3] or "") if main else ""

    return replace(refusal, message=_MARKED.sub(text, refusal.message))
