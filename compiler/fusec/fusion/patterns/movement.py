"""Named patterns of movements: two in a row that one kernel does, where no other kernel could.

`transpose_pad` moves elements once instead of twice. A movement that the kernel before or behind
could do on its way, as an access map, is left to it.
"""

from __future__ import annotations

from functools import cache

from fusec.fusion.dag import ACCESS, Dag
from fusec.fusion.patterns.grammar import Match, Pattern
from fusec.fusion.patterns.terms import readers

FAMILY = "movement"

BEHIND: dict[str, tuple[str, ...]] = {
    "transpose": ("pad", "concat", "gather"),
    "slice": ("transpose", "pad", "concat", "gather"),
    "pad": ("transpose", "slice", "concat"),
    "concat": ("transpose", "slice", "pad", "concat"),
    "gather": ("transpose",),
}
"""What one kernel does behind a movement; other pairs cancel or merge before, or need two."""

BENEFIT = 5
"""Movements come after everything that computes."""


@cache
def movement_patterns() -> dict[str, Pattern]:
    """Every pair, by name."""
    pairs = [(first, second) for first, behind in BEHIND.items() for second in behind]
    return {
        f"{first}_{second}": Pattern(
            f"{first}_{second}",
            FAMILY,
            BENEFIT,
            f"{first}, then {second}: each element moves once",
            (first, second),
        )
        for first, second in pairs
    }


def movement_matches(dag: Dag, anchor: int) -> list[Match]:
    """The pair that begins with an operator."""
    behind = BEHIND.get(dag.names[anchor])
    if behind is None:
        return []
    users = set(readers(dag, anchor))
    second = users.pop() if len(users) == 1 else -1
    if second < 0 or dag.names[second] not in behind or dag.is_constant(second):
        return []
    if _done_before(dag, anchor) or _done_behind(dag, second):
        return []
    return [Match((anchor, second), (dag.names[anchor], dag.names[second]))]


def _done_before(dag: Dag, op: int) -> bool:
    """Whether the kernel that computes the operand could move it."""
    source = dag.root(dag.operands[op][0])
    computed = source >= 0 and not dag.is_constant(source) and not dag.is_settled(source)
    alone = computed and set(readers(dag, source)) == {op}
    return dag.names[op] in ACCESS and alone


def _done_behind(dag: Dag, op: int) -> bool:
    """Whether the kernels that read the result could move it."""
    users = [user for user in readers(dag, op) if user >= 0 and not dag.is_settled(user)]
    return dag.names[op] in ACCESS and bool(users)
