"""Reading a target's TOML: base files merged, then typed access that names file and key in errors.

In: a path. Out: a `Table`, of which every key was asked for once `done` has run.
"""

import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import cast

Raw = dict[str, object]


class TargetError(ValueError):
    """Something is wrong with a target: its name, its file, or what was asked of it."""


class UnknownTargetError(TargetError):
    """There is no target of this name, and no file of this path."""


class TargetFileError(TargetError):
    """A target's file cannot be read, or holds something it must not."""


def nearest(word: str, words: list[str]) -> str:
    """The advice at the end of a message: the nearest of `words`, or all of them."""
    close = get_close_matches(word, words, n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(sorted(words))}"


@dataclass(frozen=True)
class Table:
    """A TOML table, the file it is from, and its key there. Remembers which keys were read."""

    raw: Raw
    file: Path
    key: str = ""
    seen: set[str] = field(default_factory=lambda: set[str]())

    def fail(self, key: str, problem: str) -> TargetFileError:
        where = f"{self.key}.{key}" if self.key and key else self.key or key
        return TargetFileError(f"{self.file}: '{where}' {problem}")

    def value(self, key: str, wanted: str) -> object:
        self.seen.add(key)
        if key not in self.raw:
            raise self.fail(key, f"is missing; it must be {wanted}")
        return self.raw[key]

    def table(self, key: str) -> "Table":
        value = self.value(key, "a table")
        if not isinstance(value, dict):
            raise self.fail(key, f"must be a table, not {value!r}")
        name = f'"{key}"' if not key.isidentifier() else key
        return Table(cast(Raw, value), self.file, f"{self.key}.{name}" if self.key else name)

    def text(self, key: str) -> str:
        value = self.value(key, "a string")
        if not isinstance(value, str):
            raise self.fail(key, f"must be a string, not {value!r}")
        return value

    def number(self, key: str, *, above: float | None = None) -> float:
        """A finite number, at least 0, or more than `above` if that is given."""
        value = self.value(key, "a number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail(key, f"must be a number, not {value!r}")
        return self._in_range(key, float(value), above)

    def integer(self, key: str) -> int:
        """An integer, at least 1."""
        value = self.value(key, "an integer")
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fail(key, f"must be an integer, not {value!r}")
        if value < 1:
            raise self.fail(key, f"must be at least 1, not {value}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.value(key, "a list of strings")
        items = cast(list[object], value) if isinstance(value, list) else []
        if not items or not all(isinstance(item, str) for item in items):
            raise self.fail(key, f"must be a list of strings, not {value!r}")
        return tuple(cast(list[str], items))

    def numbers(self, key: str, count: int) -> tuple[float, ...]:
        """A list of `count` finite numbers, each at least 0."""
        value = self.value(key, f"a list of {count} numbers")
        items = cast(list[object], value) if isinstance(value, list) else []
        numbers = [i for i in items if isinstance(i, int | float) and not isinstance(i, bool)]
        if len(items) != count or len(numbers) != count:
            raise self.fail(key, f"must be a list of {count} numbers, not {value!r}")
        return tuple(self._in_range(key, float(number), None) for number in numbers)

    def integers(self, key: str, count: int) -> tuple[int, ...]:
        """A list of `count` integers, each at least 1."""
        value = self.value(key, f"a list of {count} integers")
        items = cast(list[object], value) if isinstance(value, list) else []
        numbers = [i for i in items if isinstance(i, int) and not isinstance(i, bool) and i > 0]
        if len(items) != count or len(numbers) != count:
            raise self.fail(key, f"must be a list of {count} integers of at least 1, not {value!r}")
        return tuple(numbers)

    def done(self) -> None:
        """Refuse keys that nobody asked for: a misspelt key must not be silently without effect."""
        for key in self.raw:
            if key not in self.seen:
                raise self.fail(key, f"is not a key of a target; {nearest(key, sorted(self.seen))}")

    def _in_range(self, key: str, value: float, above: float | None) -> float:
        if not 0 <= value < float("inf"):
            raise self.fail(key, f"must be a finite number, at least 0, not {value:g}")
        if above is not None and value <= above:
            raise self.fail(key, f"must be more than {above:g}, not {value:g}")
        return value


def read_merged(path: Path, builtin: Path, chain: tuple[Path, ...] = ()) -> Raw:
    """The file at `path`, over the file that its `base` names: a target in the folder `builtin`, or
    a path from the file's own folder. Tables merge key by key; anything else is replaced. A file
    without `name` is named as itself."""
    if path in chain:
        raise TargetFileError(f"{path}: 'base' leads back to this file")
    raw = _read(path)
    raw.setdefault("name", path.stem)
    base = raw.pop("base", None)
    if base is None:
        return raw
    if not isinstance(base, str):
        raise TargetFileError(f"{path}: 'base' must be a string, not {base!r}")
    below = path.parent / base if base.endswith(".toml") else builtin / f"{base}.toml"
    if not below.is_file():
        names = [file.stem for file in builtin.glob("*.toml")]
        raise TargetFileError(f"{path}: 'base' names no target: '{base}'; {nearest(base, names)}")
    return _merge(read_merged(below.resolve(), builtin, (*chain, path)), raw)


def _read(path: Path) -> Raw:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise TargetFileError(f"{path}: not valid TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise TargetFileError(f"{path}: not text in UTF-8: {error.reason}") from error
    except OSError as error:
        raise TargetFileError(f"{path}: cannot be read: {error.strerror}") from error


def _merge(below: Raw, above: Raw) -> Raw:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = _merge(cast(Raw, old), cast(Raw, value)) if both else value
    return merged
