"""Which fusions spoil the numbers: the smallest set to switch off, found in few evaluations.

In: names and a judge. Switching off more is expected not to make a passing set fail; where it does,
the answer is still a set that passes and of which none can stay on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fusec.accuracy.reduce import minimize

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

    One culprit among n takes at most 3 + ceil(log2 n) evaluations, k of which each is needed
    3 + k (2 + ceil(log2 n)). Where one set can stand for another, the smaller of two is given.
    Raises NothingToBlame where the fusions named are not the cause.
    """
    known: dict[frozenset[str], bool] = {}

    def judge(off: Iterable[str]) -> bool:
        chosen = frozenset(off)
        if chosen not in known:
            known[chosen] = passes(chosen)
        return known[chosen]

    if judge(()):
        raise NothingToBlame("the numbers are right with every fusion on")
    if not judge(names):
        raise NothingToBlame("the numbers are wrong with every one of these fusions off as well")
    found = _needed(names, judge)
    if len(found) > 1 and any(judge(set(names) - {name}) for name in found):
        found = min(found, _needed(names[::-1], judge), key=len)
    if not judge(found):
        found = minimize(names, judge)
    return Culprits(tuple(name for name in names if name in found), len(known))


def _needed(names: Sequence[str], judge: Callable[[Iterable[str]], bool]) -> list[str]:
    """Names of which none can be left out, those that come first preferred."""
    found: list[str] = []
    rest = list(names)
    while rest and not judge(found):
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
    return found
