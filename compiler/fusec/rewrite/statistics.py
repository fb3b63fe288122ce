"""How often each rule was tried, found what it looks for, and was applied: for who listens."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class RuleCounts:
    """Operators that a rule was asked about, at which its expression was found, that it replaced.

    `tried` is 0 for what is not asked operator by operator.
    """

    tried: int = 0
    matched: int = 0
    applied: int = 0


_COUNTS: ContextVar[dict[str, RuleCounts] | None] = ContextVar("fusec.rule_counts", default=None)


@contextmanager
def counting() -> Generator[dict[str, RuleCounts]]:
    """Counts by the rules' names, in the order in which rules run first, filled in as they do."""
    counts: dict[str, RuleCounts] = {}
    token = _COUNTS.set(counts)
    try:
        yield counts
    finally:
        _COUNTS.reset(token)


def listening_counts() -> dict[str, RuleCounts] | None:
    """Where to count; None where nobody listens."""
    return _COUNTS.get()
