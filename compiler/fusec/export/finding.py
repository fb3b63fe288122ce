"""What the check of a compiled module says: findings as data."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """`rule` is a stable name; `place` is `function:line` of the returned module, or of ours
    with `(source)` behind it.
    """

    rule: str
    severity: Severity
    message: str
    place: str

    @property
    def function(self) -> str:
        return self.place.partition(":")[0]


def error(rule: str, place: str, message: str) -> Finding:
    return Finding(rule, "error", message, place)


def warning(rule: str, place: str, message: str) -> Finding:
    return Finding(rule, "warning", message, place)
