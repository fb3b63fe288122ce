"""Every source of configuration put together: what is said, files, environment.

In order of strength: what a caller says, the JSON file, the switch file, the environment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fusec.config.environment import Environment, read_environment
from fusec.config.errors import ConfigError
from fusec.config.fusion_file import read_fusion_file
from fusec.config.fusion_options import FusionOptions
from fusec.config.settings import Settings, layered
from fusec.config.switch_file import Switches, read_switch_file
from fusec.fusion.patterns import Pattern, all_patterns
from fusec.fusion.patterns.cann import RULES, UnknownRule, resolve


@dataclass(frozen=True)
class Configured:
    """The options that all sources give, the environment, and notes for the user."""

    fusion: FusionOptions
    environment: Environment
    notes: tuple[str, ...] = ()


def configure(
    said: Settings,
    variables: Mapping[str, str],
    *,
    below: Sequence[Settings] = (),
    config_file: Path | None = None,
    switch_file: Path | None = None,
) -> Configured:
    """Options of fusion from every source; files that are named here go before the environment's,
    `below` behind what is said and before the files.

    Raises ConfigError with the source, the key and the nearest valid name.
    """
    environment = read_environment(variables)
    patterns = all_patterns()
    sources = [said, *below]
    notes: list[str] = []
    if (path := config_file or environment.config_path) is not None:
        settings = read_fusion_file(path, _Names(patterns))
        if settings.only is not None:
            found = resolve(sorted(settings.only), patterns)
            settings = replace(settings, only=found.patterns)
            notes += found.notes
        sources.append(settings)
    if switch_file is not None:
        switched, more = _switched(read_switch_file(switch_file), patterns)
        sources.append(switched)
        notes += more
    return Configured(layered(*sources, environment.settings), environment, tuple(notes))


class _Names(Collection[str]):
    """Names of patterns, ours and CANN's, however people write them."""

    def __init__(self, patterns: dict[str, Pattern]) -> None:
        self._patterns = patterns

    def __contains__(self, name: object) -> bool:
        try:
            resolve([str(name)], self._patterns)
        except UnknownRule:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        yield from (*self._patterns, *RULES)

    def __len__(self) -> int:
        return len(self._patterns) + len(RULES)


def _switched(switches: Switches, patterns: dict[str, Pattern]) -> tuple[Settings, tuple[str, ...]]:
    """With everything off, only what the file switches on is left."""
    try:
        off = resolve(switches.off, patterns)
        on = resolve((name for name, is_on in switches.rules.items() if is_on), patterns)
    except UnknownRule as error:
        raise ConfigError(f"{switches.source}: {error}") from error
    only = on.patterns - off.patterns if switches.everything is False else None
    settings = Settings(switches.source, disable=off.patterns, only=only)
    return settings, (*off.notes, *on.notes)
