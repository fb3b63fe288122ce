"""The named pipelines, as the text that `-p` takes, their expansion, and a run of passes.

In: pass text that may name pipelines. Out: pass text that names passes only, or the passes.
"""

import re
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError, VerifyException

from fusec_dialects.collector import without_collector
from fusec_dialects.errors import InvalidResultError

STAGES: dict[str, tuple[str, ...]] = {
    "prepare": ("graph-infer-shapes", "graph-simplify", "graph-raise"),
    "optimise": (
        "graph-fuse",
        "graph-fold-weights",
        "graph-assign-layout",
        "graph-in-place",
        "graph-outline",
    ),
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


def parse_passes(
    text: str, known: Mapping[str, Callable[[], type[ModulePass]]]
) -> list[ModulePass]:
    """The passes of a text. Raises ValueError for text that cannot be read and unknown names."""
    try:
        specs = list(parse_pipeline(expand(text)))
    except ArgSpecParseError as error:
        raise ValueError(f"the pass list {text!r} cannot be read: {error}") from error
    for spec in specs:
        if spec.name not in known:
            raise ValueError(unknown_name(spec.name, known.keys()))
    return [known[spec.name]().from_pass_spec(spec) for spec in specs]


_WATCHER: ContextVar[Callable[[str, ModuleOp], None] | None] = ContextVar(
    "fusec.watcher", default=None
)


@contextmanager
def watching(watcher: Callable[[str, ModuleOp], None]) -> Generator[None]:
    """While this is entered, `watcher(pass name, module)` is called after each pass."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def apply_passes(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    ctx: Context,
    after: Callable[[str, float], None] | None = None,
    *,
    more: bool = False,
) -> None:
    """Applies passes in place; `after(name, seconds)` is called after each.

    The module is verified at the end, unless `more` of fusec's passes follow, and before and after
    each pass that is not one of fusec's: that takes as long as the passes themselves. Raises what a
    pass raises, and InvalidResultError where IR does not verify.
    """
    unchecked: list[str] = []
    for number, one in enumerate(passes):
        start = time.perf_counter()
        with without_collector():
            one.apply(ctx, module)
        unchecked.append(one.name)
        rest = passes[number + 1 :]
        own_next = _is_own(rest[0]) if rest else more
        if not (_is_own(one) and own_next):
            _verify(module, unchecked)
            unchecked = []
        if after is not None:
            after(one.name, time.perf_counter() - start)
        if (watcher := _WATCHER.get()) is not None:
            watcher(one.name, module)


def _is_own(one: ModulePass) -> bool:
    return type(one).__module__.startswith("fusec.")


def _verify(module: ModuleOp, names: Sequence[str]) -> None:
    """Raises InvalidResultError with the passes since the last check."""
    try:
        module.verify()
    except VerifyException as error:
        quoted = ", ".join(f"'{name}'" for name in names)
        what = f"the pass {quoted}" if len(names) == 1 else f"one of the passes {quoted}"
        raise InvalidResultError(f"{what} left IR that does not verify: {error}") from error
