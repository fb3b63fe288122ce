"""ATC's `--fusion_switch_file`: rules by name, on or off, as JSON or as lines `XPass:off`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from fusec.config.errors import ConfigError, nearest, read_text
from fusec.config.fusion_file import read_json

GROUPS = ("GraphFusion", "UBFusion")
_LINE = re.compile(r"\s*([\w.-]+)\s*:\s*(\w+)\s*", re.ASCII)


@dataclass(frozen=True)
class Switches:
    """Rules by name; `everything` is what `ALL` says, of either group, where it says something."""

    source: str
    rules: dict[str, bool] = field(default_factory=dict[str, bool])
    everything: bool | None = None

    @property
    def off(self) -> list[str]:
        """Names of the rules that are switched off, in the file's order."""
        return [name for name, on in self.rules.items() if not on]


def read_switch_file(path: Path) -> Switches:
    """Raises ConfigError with file, place and what was expected."""
    text = read_text(path)
    return _json(path) if text.lstrip().startswith(("{", "/")) else _lines(path, text)


def _json(path: Path) -> Switches:
    content = read_json(path)
    top = cast(dict[str, Any], content) if isinstance(content, dict) else {}
    switch = top.get("Switch")
    if not isinstance(switch, dict):
        raise ConfigError(f'{path}: expected {{"Switch": {{"GraphFusion": {{...}}}}}}')
    rules: dict[str, bool] = {}
    everything: bool | None = None
    for group, entries in cast(dict[str, Any], switch).items():
        if group not in GROUPS:
            raise ConfigError(f"{path}: unknown key '{group}'; {nearest(group, GROUPS)}")
        if not isinstance(entries, dict):
            raise ConfigError(f"{path}: '{group}' has to be an object of rule names")
        for name, value in cast(dict[str, Any], entries).items():
            on = _state(f"{path}: '{group}', '{name}'", value)
            if name != "ALL":
                rules[name] = on
            elif not on or everything is None:
                everything = on
    return Switches(str(path), rules, everything)


def _lines(path: Path, text: str) -> Switches:
    rules: dict[str, bool] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise ConfigError(f"{path}:{number}: expected a line like SomeFusionPass:off")
        rules[match[1]] = _state(f"{path}:{number}: '{match[1]}'", match[2])
    return Switches(str(path), rules)


def _state(place: str, value: object) -> bool:
    if value not in ("on", "off"):
        raise ConfigError(f"{place} is {value!r}, expected on or off")
    return value == "on"
