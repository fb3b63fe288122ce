"""The pattern library: every named pattern, and what matches at an operator."""

from functools import cache

from fusec.config.fusion_options import AUTO
from fusec.fusion.dag import Dag
from fusec.fusion.patterns.attention import attention_matches, attention_patterns
from fusec.fusion.patterns.cores import Cores
from fusec.fusion.patterns.gated import GATED, ROTARY
from fusec.fusion.patterns.grammar import Match, Pattern, contraction_patterns, matches
from fusec.fusion.patterns.movement import movement_matches, movement_patterns
from fusec.fusion.patterns.norms import EMBEDDINGS, LOSSES, NORMS, SOFTMAX
from fusec.fusion.patterns.optimisers import OPTIMISERS
from fusec.fusion.patterns.own import OWN

__all__ = [
    "AUTO",
    "AUTOMATIC",
    "CORES",
    "PARALLEL",
    "Match",
    "Pattern",
    "all_patterns",
    "library",
    "matches_at",
    "proposals",
]


PARALLEL = "parallel_products"
AUTOMATIC: dict[str, Pattern] = {
    AUTO: Pattern(AUTO, "automatic", 1, "whatever is legal and better by the objective", (AUTO,)),
    PARALLEL: Pattern(
        PARALLEL, "automatic", 1, "products of one value with known weights become one", (PARALLEL,)
    ),
}
"""Fusions without a pattern of their own, under the names that switch them off."""

CORES = Cores({**NORMS, **SOFTMAX, **LOSSES, **EMBEDDINGS, **GATED, **ROTARY, **OPTIMISERS})
"""Every expression with slots around it."""


@cache
def library() -> dict[str, Pattern]:
    """Every pattern that comes with fusec, by its name."""
    return {
        **contraction_patterns(),
        **CORES.patterns(),
        **attention_patterns(),
        **movement_patterns(),
        **AUTOMATIC,
    }


def all_patterns() -> dict[str, Pattern]:
    """Every named pattern, own fusions of this process among them."""
    own = {
        f.name: Pattern(f.name, "own", f.benefit, f.doc, (f.name,)) for f in OWN.fusions.values()
    }
    return {**library(), **own}


def matches_at(dag: Dag, op: int) -> list[Match]:
    """Patterns of the library anchored at an operator, the most benefit first."""
    patterns = library()
    found = (
        *attention_matches(dag, op),
        *matches(dag, op),
        *CORES.matches(dag, op),
        *movement_matches(dag, op),
    )
    known = [m for m in found if m.name in patterns]
    return sorted(known, key=lambda m: -patterns[m.name].benefit)


def proposals(dag: Dag) -> list[Match]:
    """Everything that the library finds in a function: the most benefit first, then in program
    order of the anchors."""
    patterns = library()
    found = [m for i in range(len(dag.ops)) if not dag.is_constant(i) for m in matches_at(dag, i)]
    return sorted(found, key=lambda m: -patterns[m.name].benefit)
