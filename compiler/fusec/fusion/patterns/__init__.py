"""The pattern library: every named pattern, and what matches at an operator."""

from functools import cache

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.grammar import Match, Pattern, contraction_patterns, matches
from fusec.fusion.patterns.norms import NORM_PATTERNS, norm_matches

__all__ = ["Match", "Pattern", "all_patterns", "matches_at"]


@cache
def all_patterns() -> dict[str, Pattern]:
    """Every named pattern by its name."""
    return {**contraction_patterns(), **NORM_PATTERNS}


def matches_at(dag: Dag, op: int) -> list[Match]:
    """Named patterns anchored at an operator, the most benefit first."""
    patterns = all_patterns()
    found = [m for m in (*matches(dag, op), *norm_matches(dag, op)) if m.name in patterns]
    return sorted(found, key=lambda m: -patterns[m.name].benefit)
