"""CANN's variables of dumps: DUMP_GE_GRAPH (how much), DUMP_GRAPH_LEVEL (which), DUMP_GRAPH_PATH.

How much: 1 everything, 2 without the data of constants, 3 the graph of kernels alone, without their
bodies. Which: 1 after every pass, 2 after every stage, 3 the last, 4 the first; or names of stages
and passes with | between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fusec.config.errors import ConfigError

EVERYTHING, WITHOUT_DATA, STRUCTURE = 1, 2, 3
PASSES, STAGES, LAST, FIRST = 1, 2, 3, 4


@dataclass(frozen=True)
class DumpSettings:
    """`names`: only stages and passes of these names, in place of a `level`."""

    detail: int
    level: int = STAGES
    names: tuple[str, ...] = ()
    folder: Path = Path()


def read_dump(variables: Mapping[str, str]) -> DumpSettings | None:
    """None where DUMP_GE_GRAPH is not set: the others alone say nothing, but have to be right.

    Raises ConfigError with the variable and its valid values.
    """
    detail = variables.get("DUMP_GE_GRAPH", "").strip()
    if detail not in ("", "1", "2", "3"):
        raise ConfigError(
            f"DUMP_GE_GRAPH={detail}: expected 1 (everything), 2 (without data) or 3 (kernels only)"
        )
    level = variables.get("DUMP_GRAPH_LEVEL", "").strip() or str(STAGES)
    names = () if level.isdigit() else tuple(name.strip() for name in level.split("|"))
    if (level.isdigit() and level not in ("1", "2", "3", "4")) or "" in names:
        raise ConfigError(
            f"DUMP_GRAPH_LEVEL={level}: expected 1 (after every pass), 2 (after every stage), 3 "
            "(the last), 4 (the first), or names of stages and passes with | between"
        )
    if not detail:
        return None
    folder = Path(variables.get("DUMP_GRAPH_PATH", "").strip() or ".")
    return DumpSettings(int(detail), STAGES if names else int(level), names, folder)
