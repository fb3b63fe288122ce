"""Which rules a pass pipeline tried and applied, pass by pass; printed to stderr."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from fusec.fusion.remarks import Decisions, listening
from fusec.report.pattern_stats import add_counts, fusion_counts, stats_lines
from fusec.rewrite.statistics import RuleCounts, counting


class RuleLog:
    """Counts by pass; passes that run several times are added up."""

    def __init__(self) -> None:
        self.passes: dict[str, dict[str, RuleCounts]] = {}
        self._counts: dict[str, RuleCounts] = {}
        self._decisions = Decisions()

    @contextmanager
    def listening(self) -> Generator[None]:
        """What is counted while this is entered."""
        with counting() as self._counts, listening() as self._decisions:
            yield

    def finish(self, name: str) -> None:
        """The pass `name` has ended: what was counted since the last one is its."""
        found = {**self._counts, **fusion_counts(self._decisions)}
        if found:
            add_counts(self.passes.setdefault(name, {}), found)
        self._counts.clear()
        self._decisions.remarks.clear()
        self._decisions.groups.clear()

    def report(self, stream: TextIO = sys.stderr) -> None:
        """A table for each pass."""
        for line in stats_lines(self.passes):
            print(line, file=stream)
