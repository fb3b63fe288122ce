"""What is wrong with a setting: which one, where it comes from, and what would be right."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from xdsl.utils.exceptions import DiagnosticException


class ConfigError(DiagnosticException):
    """A setting that cannot be taken: a file, an environment variable or an option."""


class LimitError(ConfigError):
    """Limits that contradict each other; `sources` say them, "the default" among them."""

    def __init__(self, message: str, sources: tuple[str, str]) -> None:
        super().__init__(message)
        self.sources = sources


def nearest(name: str, valid: Iterable[str]) -> str:
    """Advice for an unknown name: the nearest valid one, else the first few."""
    names = list(valid)
    near = get_close_matches(name, names, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known: {', '.join(names[:8])}"


def read_text(path: Path) -> str:
    """The text of a configuration file; raises ConfigError where there is none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot read '{path}': {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"'{path}' is not UTF-8 text") from error
