"""Writes the pages that follow from the code: dialects, passes, patterns, targets, levels.

In: the registry. Out: `docs/reference/*.md` and `docs/levels.md`, rewritten whole. `python -m
fusec.tools.docs` from the root of the repository; `pages()` is what a test compares them with.
"""

import dataclasses
import inspect
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import (
    IRDLOperation,
    OptionalDef,
    OptOperandDef,
    OptResultDef,
    VarOperandDef,
    VarResultDef,
)
from xdsl.passes import ModulePass, get_pass_option_infos

from fusec.fusion.patterns import CORES, library
from fusec.fusion.patterns.attention import ANCHORS
from fusec.fusion.patterns.attention import SLOTS as ATTENTION_SLOTS
from fusec.fusion.patterns.grammar import (
    CONTRACTION_BENEFIT,
    FREE,
    FRONTS,
    SLOTS,
    is_sentence,
)
from fusec.fusion.patterns.words import ACTIVATIONS
from fusec.hw import DEFAULT_TARGET, TARGETS, load_target
from fusec.pipelines import PIPELINES
from fusec.tools.levels_page import levels_page
from fusec.tools.output import write_text
from fusec.universe import FUSEC_UNIVERSE

FOLDER = Path("docs")

_NOTE = "<!-- Made by `make docs`; changes here are lost. -->"


def pages() -> dict[str, str]:
    """Path below `docs` -> text of each page."""
    dialects = {name: load() for name, load in FUSEC_UNIVERSE.all_dialects.items()}
    return {
        **{f"reference/{name}.md": _page(_dialect(dialect)) for name, dialect in dialects.items()},
        "reference/passes.md": _page(_passes()),
        "reference/patterns.md": _page(_patterns()),
        "reference/targets.md": _page(_targets()),
        "levels.md": _page(levels_page()),
    }


def _page(lines: Iterable[str]) -> str:
    return "\n".join([_NOTE, "", *lines]).rstrip() + "\n"


def _dialect(dialect: Dialect) -> Iterator[str]:
    operators, attributes = list(dialect.operations), list(dialect.attributes)
    module = sys.modules[operators[0].__module__.rpartition(".")[0]]
    yield from (f"# Dialect `{dialect.name}`", "", inspect.getdoc(module) or "", "")
    for operator in sorted(operators, key=lambda op: op.name):
        yield from _operator(operator)
    if attributes:
        yield from ("# Attributes", "")
    for attribute in sorted(attributes, key=lambda a: a.name):
        yield from (f"## `#{attribute.name}`", "", *_texts(attribute), "")


def _operator(operator: type[Operation]) -> Iterator[str]:
    yield from (f"## `{operator.name}`", "", *_texts(operator), "")
    if not issubclass(operator, IRDLOperation):
        return
    definition = operator.get_irdl_definition()
    named = (*definition.properties.items(), *definition.attributes.items())
    defaults: dict[str, object] = getattr(operator, "DEFAULTS", {})
    rows = {
        "operands": [_named(name, d) for name, d in definition.operands],
        "attributes": [
            f"{_named(n, d)} (default {defaults[n]})" if n in defaults else _named(n, d)
            for n, d in named
            if not n.endswith("SegmentSizes")
        ],
        "results": [_named(name, d) for name, d in definition.results],
        "regions": [f"`{name}`" for name, _ in definition.regions],
    }
    for title, names in rows.items():
        if names:
            yield f"- {title}: {', '.join(names)}"
    if definition.assembly_format:
        yield from ("", "```", f"{operator.name} {definition.assembly_format}", "```")
    yield ""


def _named(name: str, definition: object) -> str:
    if isinstance(definition, (OptOperandDef, OptResultDef, OptionalDef)):
        return f"`{name}` (optional)"
    if isinstance(definition, (VarOperandDef, VarResultDef)):
        return f"`{name}` (any number)"
    return f"`{name}`"


def _texts(cls: type[Operation] | type[Attribute]) -> Iterator[str]:
    """The class's documentation, then that of the classes of its dialect that it builds on."""
    seen: set[str] = set()
    for base in cls.__mro__:
        own = base.__doc__
        if not own or not base.__module__.startswith("fusec_dialects.") or own in seen:
            continue
        if base.__module__.endswith(".base") and seen:
            continue
        if seen:
            yield ""
        seen.add(own)
        yield inspect.cleandoc(own)


def _passes() -> Iterator[str]:
    yield from ("# Passes", "", "Named pipelines:", "", "| pipeline | passes |", "|---|---|")
    for name, passes in PIPELINES.items():
        yield f"| `{name}` | {', '.join(f'`{spec}`' for spec in passes)} |"
    yield ""
    for name, load in FUSEC_UNIVERSE.all_passes.items():
        yield from (f"## `{name}`", "", *_pass(load()), "")


def _pass(pass_class: type[ModulePass]) -> Iterator[str]:
    doc = pass_class.__doc__ or ""
    generated = doc.startswith(f"{pass_class.__name__}(")  # what dataclass writes in place of none
    module_doc = inspect.getdoc(sys.modules[pass_class.__module__]) or ""
    yield module_doc
    if doc and not generated:
        yield from ("", inspect.cleandoc(doc))
    options = get_pass_option_infos(pass_class)
    if not options:
        return
    fields = {field.name: field for field in dataclasses.fields(pass_class)}
    yield from ("", "| option | type | default |", "|---|---|---|")
    for option in options:
        default = fields[option.name].default
        shown = "required" if default is dataclasses.MISSING else f"`{default}`"
        kind = option.expected_type.strip("'").replace("|", "\\|")
        yield f"| `{option.name.replace('_', '-')}` | `{kind}` | {shown} |"


def _patterns() -> Iterator[str]:
    yield from ("# Patterns", "")
    yield "The names that `--disable-fusion`, `--only-fusion` and the options `disable` and `only`"
    yield "of `graph-fuse` take. The one with the most benefit is tried first: 10 for each word and"
    yield f"each operator of an expression, {CONTRACTION_BENEFIT} for each contraction."
    yield f"{len(library())} names in all; `fuse-opt --list-patterns` prints them."
    yield from ("", "## Contractions", "")
    yield "An anchor, then at least one of these in this order; one word may stand before it:"
    yield from ("", "| anchor | before it | slots | patterns |", "|---|---|---|---|")
    families = Counter(pattern.family for pattern in library().values())
    for anchor, slots in SLOTS.items():
        front = FRONTS.get(anchor, "")
        yield f"| `{anchor}` | {front} | {', '.join(slots)} | {families[anchor]} |"
    yield from ("", _paragraph(is_sentence.__doc__), "")
    yield from (
        "## Expressions",
        "",
        "| words | family | before | behind | |",
        "|---|---|---|---|---|",
    )
    for words, core in CORES.tables.items():
        slots = (", ".join(core.before), ", ".join(core.behind))
        yield f"| `{'_'.join(words)}` | {core.family} | {slots[0]} | {slots[1]} | {core.meaning} |"
    yield from ("", "## Attention", "", "| word | |", "|---|---|")
    for word, meaning in (*ANCHORS.items(), *ATTENTION_SLOTS.items()):
        yield f"| `{word}` | {meaning} |"
    yield from ("", "## Activations", "")
    free = ", ".join(f"`{word}`" for word in ACTIVATIONS if word in FREE)
    rare = ", ".join(f"`{word}`" for word in ACTIVATIONS if word not in FREE)
    yield f"With residuals, scales and gates: {free}."
    yield f"With bias and norm only: {rare}."


def _paragraph(text: str | None) -> str:
    return " ".join((text or "").split())


def _targets() -> Iterator[str]:
    yield from ("# Targets", "")
    yield f"`--target NAME`; `{DEFAULT_TARGET}` where none is named. Bytes of a core's memories:"
    spaces = ("l1", "l0a", "l0b", "l0c", "ub")
    yield from ("", f"| target | cube cores | vector cores | MHz | {' | '.join(spaces)} |")
    yield "|---" * (4 + len(spaces)) + "|"
    for name in TARGETS:
        target = load_target(name)
        sizes = " | ".join(str(target.capacity(space)) for space in spaces)
        cores = f"{target.cube_cores} | {target.vector_cores}"
        yield f"| `{name}` | {cores} | {target.clock_mhz:g} | {sizes} |"


def main() -> None:
    for name, text in pages().items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        write_text(FOLDER / name, text)
        print(FOLDER / name)


if __name__ == "__main__":
    main()
