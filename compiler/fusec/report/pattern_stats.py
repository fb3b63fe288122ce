"""How often each rule, or fusion pattern, was tried, matched and applied: a table for each pass.

In: counts of the rewrite driver, decisions of graph-fuse. Out: lines of text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from fusec.fusion.remarks import Decisions
from fusec.rewrite.statistics import RuleCounts

HEAD = ("tried", "matched", "applied")


def fusion_counts(decisions: Decisions) -> dict[str, RuleCounts]:
    """Patterns and automatic groups by name: sites where one fitted, groups that it became.

    A pattern is asked about a whole graph at once, so `tried` says nothing.
    """
    sites = Counter(name for name, _ in {(r.pattern, r.ops) for r in decisions.remarks})
    made = Counter(decisions.groups)
    names = sorted(sites.keys() | made.keys())
    return {n: RuleCounts(0, max(sites[n], made[n]), made[n]) for n in names}


def add_counts(to: dict[str, RuleCounts], more: Mapping[str, RuleCounts]) -> None:
    """Adds counts of another run of the same pass."""
    for name, new in more.items():
        sum_ = to.setdefault(name, RuleCounts())
        sum_.tried += new.tried
        sum_.matched += new.matched
        sum_.applied += new.applied


def stats_lines(passes: Mapping[str, Mapping[str, RuleCounts]]) -> Iterator[str]:
    """A table for each pass, rules in the order in which they are tried; those that looked at
    nothing are only counted."""
    for name, counts in passes.items():
        shown = {rule: c for rule, c in counts.items() if c.tried or c.matched}
        width = max((len(rule) for rule in (*shown, name)), default=0) + 2
        yield f"{name:{width}}" + "".join(f"{text:>9}" for text in HEAD)
        for rule, c in shown.items():
            tried = f"{c.tried or '-':>9}"
            yield f"  {rule:{width - 2}}{tried}{c.matched:9d}{c.applied:9d}"
        if idle := len(counts) - len(shown):
            yield f"  {idle} rule{'s' if idle > 1 else ''} found no operator to look at"
