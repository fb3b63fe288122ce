"""What one source of configuration says, and several laid over each other.

In order of strength: pass options, Python arguments, a JSON file, the environment. Off means off:
what any source switches off stays off.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from fusec.config.errors import LimitError
from fusec.config.fusion_options import AUTO, FusionOptions


@dataclass(frozen=True)
class Settings:
    """One source; None says nothing. `source` is what messages call it.

    `only`: just these named patterns, without automatic fusion unless `auto` is true. `min_ops` and
    `max_ops` bound the imported operators of a group.
    """

    source: str
    enabled: bool | None = None
    strategy: str | None = None
    objective: str | None = None
    max_depth: int | None = None
    min_ops: int | None = None
    max_ops: int | None = None
    auto: bool | None = None
    only: frozenset[str] | None = None
    plan: str | None = None
    time_budget: float | None = None
    plan_cache: str | None = None
    disable: frozenset[str] = frozenset()


def layered(*sources: Settings) -> FusionOptions:
    """The options that several sources give together, the strongest first.

    Raises LimitError where a limit contradicts another one, naming both sources.
    """
    chosen: dict[str, Any] = {}
    said_by: dict[str, str] = {}
    for settings in sources:
        for field in fields(settings):
            value = getattr(settings, field.name)
            if field.name in ("source", "disable") or value is None or field.name in chosen:
                continue
            chosen[field.name] = value
            said_by[field.name] = settings.source
    low, high = (chosen.get(k, getattr(FusionOptions, k)) for k in ("min_ops", "max_ops"))
    if low > high:
        first, second = (said_by.get(k, "the default") for k in ("min_ops", "max_ops"))
        raise LimitError(
            f"{first}: a group has to have {low} operators at least, but {second} allows {high} at "
            "most; lower the first or raise the second",
            (first, second),
        )
    if any(s.enabled is False for s in sources):
        chosen["enabled"] = False
    disable = frozenset[str]().union(*(s.disable for s in sources))
    auto, only = chosen.pop("auto", None), chosen.get("only")
    if auto is False:
        disable |= {AUTO}
    if only is not None:
        chosen["only"] = (only | {AUTO} if auto else only) - disable
    return FusionOptions(disable=disable, **chosen)
