"""How fusion is asked for: one typed object for passes, Python and the command line."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

from xdsl.utils.exceptions import PassFailedException

DEFAULT_STRATEGY = "beam"

AUTO = "auto"
"""The name that switches automatic fusion."""

OBJECTIVES = ("time", "bytes", "kernels")


@dataclass(frozen=True)
class FusionOptions:
    """`disable` and `only` name patterns; `only` None: all. Automatic fusion goes by the name AUTO
    like the others: with `only` it is off unless it is among them.

    `min_ops` and `max_ops` bound the
    imported operators of a group, `max_depth` the longest path of operators in it (0: no bound);
    `enabled` False leaves every operator a kernel of its own; `plan` is the file of a saved plan to
    replay. After `time_budget` seconds of planning the best plan so far is taken (0: no bound);
    plans are kept in the folder `plan_cache` and taken from there for an equal graph, target and
    options.
    """

    strategy: str = DEFAULT_STRATEGY
    objective: str = "time"
    max_depth: int = 0
    min_ops: int = 1
    max_ops: int = 32
    disable: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    enabled: bool = True
    plan: str | None = None
    time_budget: float = 0.0
    plan_cache: str | None = None

    def check(self, patterns: Collection[str], strategies: Collection[str]) -> None:
        """Raises PassFailedException, with the nearest valid name, on what does not exist."""
        one_of("strategy", self.strategy, strategies)
        one_of("objective", self.objective, OBJECTIVES)
        for name in sorted(self.disable | (self.only or frozenset())):
            one_of("pattern", name, patterns)
        if not 1 <= self.min_ops <= self.max_ops or self.max_depth < 0:
            raise PassFailedException(
                "graph-fuse: min-ops is at least 1, max-ops not less, and max-depth at least 0"
            )
        if not self.time_budget >= 0:
            raise PassFailedException("graph-fuse: time-budget is 0 (no bound) or some seconds")
        if both := self.disable & (self.only or frozenset()):
            raise PassFailedException(f"graph-fuse: '{min(both)}' is both disabled and asked for")

    @property
    def automatic(self) -> bool:
        """Whether groups may grow beyond named patterns."""
        return self.enabled and self.strategy != "patterns" and self.allows(AUTO)

    def allows(self, name: str, *, automatic: bool = False) -> bool:
        """Whether a pattern may fire, or `automatic` fusion make a group of this name: whatever is
        not switched off, where it was asked for.
        """
        if name in self.disable:
            return False
        return self.only is None or name in self.only or (automatic and AUTO in self.only)


FEW = 12
"""Choices that a message names."""


def one_of(what: str, name: str, valid: Collection[str]) -> None:
    """Raises PassFailedException for a name that is none of these, with the nearest valid one, and
    with all of them where they are few.
    """
    if name in valid:
        return
    near = get_close_matches(name, valid, n=1)
    advice = [f"did you mean '{near[0]}'?"] if near else []
    if not near or len(valid) <= FEW:
        advice.append(f"expected one of {', '.join(list(valid)[:FEW])}")
    raise PassFailedException(f"graph-fuse: unknown {what} '{name}'; {' '.join(advice)}")
