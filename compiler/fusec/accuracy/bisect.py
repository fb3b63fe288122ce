"""Which fusions spoil the numbers: the smallest set to switch off, found in few evaluations.

In: names and a judge. It is assumed that switching off more never makes a passing set fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Passes = Callable[[frozenset[str]], bool]
"""Whether the numbers are right with these fusions off."""


@dataclass(frozen=True)
class Culprits:
    """`names` off is enough and none of them can stay on; `evaluations` counts the runs."""

    names: tuple[str, ...]
    evaluations: int


class NothingToBlame(ValueError):
    """Numbers are right with every fusion on, or wrong with every one off; the text says which."""


def bisect(names: Sequence[str], passes: Passes) -> Culprits:
    """The smallest set of names, in the order given, whose switching off makes `passes` true.

    One culprit among n takes 3 + ceil(log2 n) evaluations, each further one 1 + ceil(log2 n).
    Raises NothingToBlame where the fusions named are not the cause.
    """
    count = 0

    def judge(off: Sequence[str]) -> bool:
        nonlocal count
        count += 1
        return passes(frozenset(off))

    if judge(()):
        raise NothingToBlame("the numbers are right with every fusion on")
    if not judge(names):
        raise NothingToBlame("the numbers are wrong with every one of these fusions off as well")
    found: list[str] = []
    rest = list(names)
    while rest and (not found or not judge(found)):
        # The shortest prefix of `rest` that is enough beside `found`: its last name is needed.
        low, high = 1, len(rest)
        while low < high:
            middle = (low + high) // 2
            if judge((*found, *rest[:middle])):
                high = middle
            else:
                low = middle + 1
        found.append(rest[high - 1])
        rest = rest[: high - 1]
    return Culprits(tuple(n for n in names if n in found), count)
