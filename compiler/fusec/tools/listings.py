"""Options that print what fusec knows and exit: pipelines, patterns, a pattern's example."""

import argparse
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from fusec import pipelines
from fusec.tools.status import UsageError


def pattern_names(wanted: str | None) -> list[str]:
    """Names of patterns: all, those of a family, or those that a wildcard or part of a name fits.

    Raises UsageError where nothing does.
    """
    from fusec.fusion.patterns import all_patterns

    patterns = all_patterns()
    if wanted is None:
        return list(patterns)
    families = dict.fromkeys(p.family for p in patterns.values())
    if wanted in families:
        return [p.name for p in patterns.values() if p.family == wanted]
    shape = wanted if any(c in wanted for c in "*?[") else f"*{wanted}*"
    found = [name for name in patterns if fnmatchcase(name, shape)]
    if not found:
        raise UsageError(f"no pattern is called {wanted!r}; families: {', '.join(families)}")
    return found


def pattern_example(name: str) -> str:
    """MLIR text of the network that a pattern is shown on; raises UsageError for an unknown one."""
    from xdsl.dialects.builtin import f32

    from fusec.fusion.patterns import AUTOMATIC, all_patterns
    from fusec.fusion.patterns.examples import example
    from fusec.fusion.patterns.own import OWN

    patterns = all_patterns()
    if name in AUTOMATIC or name in OWN.fusions:
        raise UsageError(f"{name!r} has no example: it is no pattern of the library")
    if name not in patterns:
        near = get_close_matches(name, patterns, n=1)
        advice = f"did you mean {near[0]}?" if near else "see --list-patterns"
        raise UsageError(f"unknown pattern {name!r}; {advice}")
    return str(example(patterns[name], f32))


class _Listing(argparse.Action, ABC):
    """Prints lines and exits."""

    @abstractmethod
    def lines(self, value: str | None) -> Iterator[str]:
        """What to print for the option's value."""

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: object, values: Any, *_: object
    ) -> None:
        for line in self.lines(values if isinstance(values, str) else None):
            print(line)
        parser.exit()


class ListPipelines(_Listing):
    """`--list-pipelines`."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def lines(self, value: str | None) -> Iterator[str]:
        del value
        return (f"{name}: {','.join(passes)}" for name, passes in pipelines.PIPELINES.items())


class ListPatterns(_Listing):
    """`--list-patterns [FILTER]`."""

    def lines(self, value: str | None) -> Iterator[str]:
        return iter(pattern_names(value))


class PatternExample(_Listing):
    """`--pattern-example NAME`."""

    def lines(self, value: str | None) -> Iterator[str]:
        yield pattern_example(value or "")
