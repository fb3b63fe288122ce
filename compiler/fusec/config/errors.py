"""What is wrong with a setting: which one, where it comes from, and what would be right."""

from collections.abc import Iterable
from difflib import get_close_matches

from xdsl.utils.exceptions import DiagnosticException


class ConfigError(DiagnosticException):
    """A setting that cannot be taken: a file, an environment variable or an option."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """Advice for an unknown name: the nearest valid one, else the first few."""
    names = list(valid)
    near = get_close_matches(name, names, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known: {', '.join(names[:8])}"
