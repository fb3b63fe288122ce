"""How groups grow beyond named patterns: strategies by name, own ones among them.

A strategy is called with the planner after own fusions were applied; it may begin with named
patterns (`merge_named`), and merges groups by `try_merge`, or decides by `cost_of`, `permits`,
`legal_cost` and calls `replace`. It stops soon after `out_of_time` is true; the cover is the best
plan so far at any moment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from fusec.fusion.strategies.beam import Beam
from fusec.fusion.strategies.dp import Intervals
from fusec.fusion.strategies.greedy import greedy
from fusec.fusion.strategies.named import merge_named

if TYPE_CHECKING:
    from fusec.fusion.planner import Planner

Strategy: TypeAlias = "Callable[[Planner], None]"


STRATEGIES: dict[str, Strategy] = {
    "patterns": merge_named,
    "greedy": greedy,
    "dp": Intervals(),
    "beam": Beam(),
}


def register_strategy(name: str, strategy: Strategy) -> None:
    """Make `strategy` known to graph-fuse, the commands and Python under a name.

    Raises ValueError for a name that is taken.
    """
    if name in STRATEGIES or name == "none":
        raise ValueError(f"a strategy '{name}' exists already")
    STRATEGIES[name] = strategy
