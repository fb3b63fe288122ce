"""The JSON file that GE_FUSION_CONFIG_PATH names: which patterns, and how large a group may be."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

from fusec.config.errors import ConfigError, nearest, read_text
from fusec.config.settings import Settings

KEYS: dict[str, type] = {
    "fusion_patterns": list,
    "auto_fusion": bool,
    "min_fusion_ops": int,
    "max_fusion_ops": int,
}
"""Keys of the file and the kinds of their values."""

_WORDS = {list: "a list of pattern names", bool: "true or false", int: "a whole number from 1"}

_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.S)


def without_comments(text: str) -> str:
    """JSON text whose comments are blanks, so that lines and columns stay."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return _COMMENT.sub(blank, text)


def read_json(path: Path) -> Any:
    """The content of a JSON file with comments; ConfigError with line and column otherwise."""
    try:
        return json.loads(without_comments(read_text(path)))
    except json.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise ConfigError(f"{place}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise ConfigError(f"'{path}' is nested too deeply") from error


def read_fusion_file(path: Path, known: Collection[str]) -> Settings:
    """What the file says; `known` are the valid names of patterns.

    Raises ConfigError with file, key and the nearest valid name.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected an object with {', '.join(KEYS)}")
    values = cast(dict[str, Any], content)
    for key, value in values.items():
        if key not in KEYS:
            raise ConfigError(f"{path}: unknown key '{key}'; {nearest(key, KEYS)}")
        kind = KEYS[key]
        if type(value) is not kind or (kind is int and value < 1):
            raise ConfigError(f"{path}: '{key}' is {json.dumps(value)}, expected {_WORDS[kind]}")
    names: list[Any] | None = values.get("fusion_patterns")
    for name in names or ():
        if not isinstance(name, str) or name not in known:
            advice = nearest(str(name), known)
            raise ConfigError(f"{path}: 'fusion_patterns': unknown pattern '{name}'; {advice}")
    return Settings(
        str(path),
        min_ops=values.get("min_fusion_ops"),
        max_ops=values.get("max_fusion_ops"),
        auto=values.get("auto_fusion"),
        only=None if names is None else frozenset(names),
    )
