"""CANN's environment variables, read once into one typed object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fusec.config.dump import DumpSettings, read_dump
from fusec.config.errors import ConfigError
from fusec.config.settings import Settings

GLOBAL_TO_GE = {0: 3, 1: 2, 2: 1, 3: 0, 4: 0}
"""ASCEND_GLOBAL_LOG_LEVEL (0 debug ... 3 error, 4 none) on the scale of GE_LOG_LEVEL."""


@dataclass(frozen=True)
class Environment:
    """`log_level`: 0 errors, 1 summary, 2 matches and refusals, 3 everything; None: not said.
    `dump`: which IR is written where; None: none."""

    settings: Settings
    log_level: int | None = None
    config_path: Path | None = None
    dump: DumpSettings | None = None


def read_environment(variables: Mapping[str, str]) -> Environment:
    """Raises ConfigError, naming the variable and its valid values, on what is none of them."""
    level = _integer(variables, "GE_LOG_LEVEL", range(4))
    if level is None:
        given = _integer(variables, "ASCEND_GLOBAL_LOG_LEVEL", range(5))
        level = None if given is None else GLOBAL_TO_GE[given]
    switch = _integer(variables, "GE_FUSION_SWITCH", range(2))
    depth = _integer(variables, "GE_FUSION_MAX_DEPTH", range(1 << 31))
    path = variables.get("GE_FUSION_CONFIG_PATH")
    return Environment(
        Settings(
            "the environment", enabled=None if switch is None else bool(switch), max_depth=depth
        ),
        level,
        Path(path) if path else None,
        read_dump(variables),
    )


def _integer(variables: Mapping[str, str], name: str, valid: range) -> int | None:
    text = variables.get(name, "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit() and int(text) in valid:
        return int(text)
    expected = f"{valid.start} to {valid.stop - 1}" if len(valid) < 100 else "a number from 0"
    raise ConfigError(f"{name}={text}: expected {expected}")
