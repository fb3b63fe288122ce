"""The named pipelines, as the text that `-p` takes, and their expansion inside such a text.

In: pass text that may name pipelines. Out: pass text that names passes only.
"""

import re
from collections.abc import Collection
from difflib import get_close_matches

STAGES: dict[str, tuple[str, ...]] = {
    "prepare": ("graph-infer-shapes", "graph-simplify", "graph-raise"),
    "optimise": ("graph-fuse", "graph-fold-weights", "graph-assign-layout", "graph-outline"),
    "compile": (
        "graph-schedule",
        "graph-to-npu",
        "npu-multi-buffer",
        "npu-expand-l0",
        "npu-place",
        "npu-sync",
        "npu-verify",
    ),
}
"""Stage -> its passes in order. A stage reads what the stage before it leaves."""

PIPELINES: dict[str, list[str]] = {
    **{name: list(passes) for name, passes in STAGES.items()},
    "default": [spec for passes in STAGES.values() for spec in passes],
}
"""Pipeline name -> pass texts in order."""

_STRING = r'"(?:\\.|[^"\\])*"'
_ELEMENT = re.compile(rf'(?:[^,{{\["]|{{(?:[^}}"]|{_STRING})*}}|\[[^\]]*\]|{_STRING})+')
"""One element of a pass text: a name with its options in braces or, for `mlir-opt`, in brackets."""


def expand(text: str) -> str:
    """`text` with each pipeline name replaced by its passes.

    Raises ValueError when a pipeline name carries options: they belong to one of its passes.
    """

    def passes(match: re.Match[str]) -> str:
        element = match.group().strip()
        name = element.partition("{")[0].strip()
        if name not in PIPELINES:
            return element
        if element != name:
            raise ValueError(
                f"the pipeline {name!r} takes no options; write out its passes "
                f"({','.join(PIPELINES[name])}) and give the options to one of them"
            )
        return ",".join(PIPELINES[name])

    return _ELEMENT.sub(passes, text)


def unknown_name(name: str, known: Collection[str]) -> str:
    """A message for a pass name that does not exist, with the nearest that does."""
    near = get_close_matches(name, [*known, *PIPELINES], n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "see --help for the list"
    return f"unknown pass {name!r}; {advice}"
