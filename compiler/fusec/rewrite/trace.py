"""Which rules keep each other going, from the trace of what was applied because of what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LONGEST = 64
"""Rewrites that are looked at, one the cause of the next."""


@dataclass(frozen=True)
class Fired:
    """One rewrite: by which rule, of what, to what, and the rewrite that led to it, if any."""

    rule: str
    before: str
    after: tuple[str, ...]
    cause: Fired | None = None
    depth: int = 0

    def __str__(self) -> str:
        made = " and ".join(dict.fromkeys(self.after)) or "an operand"
        return f"'{self.rule}' ({self.before} to {made})"


def circle(last: Fired) -> tuple[Fired, ...]:
    """The rewrites that come again and again, each the cause of the next; () where none do."""
    steps: list[Fired] = []
    one: Fired | None = last
    while one is not None and len(steps) < LONGEST:
        steps.append(one)
        one = one.cause
    names = [step.rule for step in steps]
    for period in range(1, len(names) // 2 + 1):
        if names[period:] == names[:-period]:
            return tuple(steps[:period][::-1])
    return ()


def endless(last: Fired, fired: Sequence[tuple[str, int]]) -> str:
    """Why rewriting does not end: the rules of the circle, else those that fired most."""
    found = list(dict.fromkeys(map(str, circle(last))))
    total = sum(count for _, count in fired)
    start = f"rewriting does not end after {total} rewrites: "
    if len(found) == 1:
        return f"{start}the rule {found[0]} applies to what it makes; let it say no there"
    if found:
        *most, least = found
        other = "each other" if len(found) == 2 else "one another in a circle"
        return (
            f"{start}the rules {', '.join(most)} and {least} undo {other}; let one of them say no "
            "to what another makes"
        )
    counts = ", ".join(f"'{name}' {count} times" for name, count in fired[:3])
    return f"{start}the rules that fired most are {counts}"
