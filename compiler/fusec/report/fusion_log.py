"""The log of fusion: lines with the word Fusion, as users of the graph engine grep for them.

In: remarks. Levels as GE_LOG_LEVEL: 0 errors, 1 summary, 2 every match and refusal, 3 everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from fusec.fusion.remarks import Remark

SUMMARY, DECISIONS, NUMBERS = 1, 2, 3
"""Levels from which the summary, each decision, and the numbers behind it are written."""


def log_lines(remarks: Sequence[Remark], groups: Sequence[str], level: int) -> Iterator[str]:
    """Lines for a level; `groups` are the names of the final groups."""
    if level >= DECISIONS:
        for remark in remarks:
            yield str(remark)
            if level >= NUMBERS and remark.numbers:
                numbers = ", ".join(f"{k} = {v}" for k, v in remark.numbers.items())
                yield f"Fusion numbers: {remark.pattern}: {numbers}"
    if level >= SUMMARY:
        yield from _summary(remarks, groups)


def _summary(remarks: Iterable[Remark], groups: Sequence[str]) -> Iterator[str]:
    yield f"Fusion summary: {len(groups)} kernels: {_counts(groups)}"
    refused = [r.reason for r in remarks if r.kind == "refused"]
    if refused:
        yield f"Fusion summary: {len(refused)} merges refused: {_counts(refused)}"


def _counts(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())
