"""The pattern library: every named pattern, and what matches at an operator."""

from functools import cache

from fusec.config.fusion_options import AUTO
from fusec.fusion.dag import Dag
from fusec.fusion.patterns.grammar import Match, Pattern, contraction_patterns, matches
from fusec.fusion.patterns.norms import norm_matches, norm_patterns
from fusec.fusion.patterns.own import OWN

__all__ = [
    "AUTO",
    "AUTOMATIC",
    "PARALLEL",
    "Match",
    "Pattern",
    "all_patterns",
    "library",
    "matches_at",
]


PARALLEL = "parallel_products"
AUTOMATIC: dict[str, Pattern] = {
    AUTO: Pattern(AUTO, "automatic", 1, "whatever is legal and better by the objective", (AUTO,)),
    PARALLEL: Pattern(
        PARALLEL, "automatic", 1, "products of one value with known weights become one", (PARALLEL,)
    ),
}
"""Fusions without a pattern of their own, under the names that switch them off."""


@cache
def library() -> dict[str, Pattern]:
    """Every pattern that comes with fusec, by its name."""
    return {**contraction_patterns(), **norm_patterns(), **AUTOMATIC}


def all_patterns() -> dict[str, Pattern]:
    """Every named pattern, own fusions of this process among them."""
    own = {
        f.name: Pattern(f.name, "own", f.benefit, f.doc, (f.name,)) for f in OWN.fusions.values()
    }
    return {**library(), **own}


def matches_at(dag: Dag, op: int) -> list[Match]:
    """Patterns of the library anchored at an operator, the most benefit first."""
    patterns = library()
    found = [m for m in (*matches(dag, op), *norm_matches(dag, op)) if m.name in patterns]
    return sorted(found, key=lambda m: -patterns[m.name].benefit)
