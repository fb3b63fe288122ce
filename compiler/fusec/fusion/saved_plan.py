"""A plan as data that a person can read, edit and replay: groups by the names of their operators.

`graph` is a fingerprint of the operators, their types and edges; a plan for another graph is
refused, and so is a group that legality refuses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, cast

from xdsl.utils.exceptions import PassFailedException

from fusec.config.errors import nearest
from fusec.fusion.dag import Dag
from fusec.fusion.group import Group
from fusec.fusion.planner import Planner
from fusec.schedule.types import Refusal

VERSION = 1


def fingerprint(dag: Dag) -> str:
    """Sixteen hexadecimal digits that change with any operator, attribute, type or edge."""
    digest = sha256()
    for i, op in enumerate(dag.ops):
        types = " ".join(str(r.type) for r in op.results)
        attributes = " ".join(f"{k}={v}" for k, v in sorted(op.properties.items()))
        digest.update(f"{dag.names[i]} {dag.operands[i]} {attributes} {types}\n".encode())
    return digest.hexdigest()[:16]


def labels(dag: Dag) -> list[str]:
    """A name for each operator: its place, with `#2` behind the second one of that place."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for i in range(len(dag.ops)):
        place = dag.place(i)
        seen[place] += 1
        found.append(place if seen[place] == 1 else f"{place}#{seen[place]}")
    return found


def save(planner: Planner) -> dict[str, Any]:
    """The plan of a planner that has run, as JSON's types."""
    names = labels(planner.dag)
    groups = sorted(planner.cover.groups.values(), key=lambda g: min(g.owned))
    return {
        "version": VERSION,
        "graph": fingerprint(planner.dag),
        "groups": [_entry(group, names) for group in groups],
    }


def _entry(group: Group, names: list[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": group.name, "ops": [names[i] for i in sorted(group.owned)]}
    if group.borrowed:
        entry["views"] = [names[i] for i in sorted(group.borrowed)]
    return entry


def replay(planner: Planner, plan: object) -> None:
    """Makes the cover what a saved plan says; operators that it leaves out are kernels alone.

    Raises PassFailedException for another version or graph, operators that do not exist or stand in
    two groups, and groups that are not legal, with legality's reason.
    """
    content = cast(dict[str, Any], plan) if isinstance(plan, dict) else {}
    if content.get("version") != VERSION:
        raise PassFailedException(f"plan: expected an object with version {VERSION}")
    if content.get("graph") != (graph := fingerprint(planner.dag)):
        raise PassFailedException(
            f"plan: it is for the graph {content.get('graph')}, this one is {graph}; make it anew"
        )
    numbers = {name: i for i, name in enumerate(labels(planner.dag))}
    taken: dict[int, str] = {}
    for entry in _entries(content):
        _group(planner, entry, numbers, taken)
    _drop_absorbed(planner, taken)


def _drop_absorbed(planner: Planner, taken: dict[int, str]) -> None:
    """A movement that every reader has as a view of its own is no kernel any more."""
    cover, dag = planner.cover, planner.dag
    readers: dict[int, set[int]] = {}
    for group in cover.groups.values():
        for i in group.borrowed:
            readers.setdefault(i, set()).update(group.ops())
    for i, inside in readers.items():
        if i in cover.owner and i not in taken and inside.issuperset(dag.users[i]):
            del cover.groups[cover.owner.pop(i)]


def _entries(content: dict[str, Any]) -> Iterable[dict[str, Any]]:
    groups = content.get("groups")
    if not isinstance(groups, list):
        raise PassFailedException("plan: 'groups' has to be a list")
    for entry in cast(list[Any], groups):
        if not isinstance(entry, dict):
            raise PassFailedException("plan: a group has to be an object with name and ops")
        yield cast(dict[str, Any], entry)


def _group(
    planner: Planner, entry: dict[str, Any], numbers: dict[str, int], taken: dict[int, str]
) -> None:
    name = str(entry.get("name", ""))
    owned = _numbers(f"plan: group '{name}'", entry.get("ops"), numbers)
    borrowed = _numbers(f"plan: group '{name}'", entry.get("views", []), numbers)
    for i in owned:
        if i in taken:
            label = planner.dag.place(i)
            raise PassFailedException(f"plan: '{label}' is in '{taken[i]}' and in '{name}'")
        taken[i] = name
    compute = [i for i in owned if i in planner.cover.owner]
    keys = sorted({planner.cover.owner[i] for i in compute})
    if not keys:
        raise PassFailedException(f"plan: group '{name}' has no operator that computes")
    group = Group(set(owned), name, set(borrowed) - set(owned))
    if len(keys) > 1 and planner.cover.makes_cycle(keys):
        raise PassFailedException(f"plan: group '{name}' would wait for itself")
    answer = planner.legal_cost(group)
    if isinstance(answer, Refusal) and (len(keys) > 1 or len(owned) > 1):
        raise PassFailedException(f"plan: group '{name}' is not legal: {answer}")
    planner.replace(keys, group)


def _numbers(place: str, names: object, numbers: dict[str, int]) -> list[int]:
    if not isinstance(names, list):
        raise PassFailedException(f"{place}: expected a list of operators' names")
    found: list[int] = []
    for name in cast(list[Any], names):
        if not isinstance(name, str) or name not in numbers:
            advice = nearest(str(name), numbers)
            raise PassFailedException(f"{place}: unknown operator '{name}'; {advice}")
        found.append(numbers[name])
    return found
