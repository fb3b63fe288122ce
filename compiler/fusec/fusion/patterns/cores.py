"""Named patterns around an expression: what stands before it, the expression, what follows.

`residual_layer_norm_cast` is an addition, layer norm and a cast; `scale_mask_softmax` a product
with a number, an additive mask and softmax; `adam` is an expression alone. Tables hold expressions
and the slots around them; operators are found from the last one, by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from xdsl.ir import SSAValue

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.chain import Link, following
from fusec.fusion.patterns.grammar import Match, Pattern, is_sentence, pattern_of, sentences
from fusec.fusion.patterns.terms import (
    Apply,
    Found,
    applied,
    find,
    is_private,
    needs,
    readers,
    replaced,
    size_of,
    sources,
)
from fusec.fusion.patterns.words import X
from fusec_dialects.graph.base import element_name, tensor_type

Check = Callable[[Dag, int, Found], bool]


@dataclass(frozen=True)
class Core:
    """Forms of an expression on `x`, the slots before it, the nearest last, and those behind it.

    `check` is asked about what was found, `escapes` are inner terms that others may use as well,
    `narrow` says that `x` may be widened to f32 first and the result narrowed again, `outside` that
    the last operator stays a kernel by itself: a concat that is written in place.
    """

    family: str
    forms: tuple[Apply, ...]
    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    check: Check | None = None
    escapes: frozenset[Apply] = frozenset()
    narrow: bool = False
    outside: bool = False
    meaning: str = ""


Words = tuple[str, ...]


@dataclass(frozen=True)
class _Form:
    """One expression to look for."""

    words: Words
    core: Core
    term: Apply
    escapes: frozenset[Apply]
    widens: Apply | None = None

    @cached_property
    def needed(self) -> frozenset[str]:
        """Without these before the last operator there is nothing to find."""
        return needs(self.term)


@dataclass(frozen=True)
class _Place:
    """Where an expression was found."""

    form: _Form
    found: Found


class Cores:
    """The patterns of tables of expressions by their words."""

    def __init__(self, tables: Mapping[Words, Core]) -> None:
        self.tables = tables
        self._by_root: dict[str, list[_Form]] = {}
        forms = [form for words, core in tables.items() for form in _forms(words, core)]
        for form in sorted(forms, key=lambda form: -size_of(form.term)):
            self._by_root.setdefault(form.term.op, []).append(form)

    def patterns(self) -> dict[str, Pattern]:
        """Every sentence around an expression of at least two operators or words, by name."""
        found: dict[str, Pattern] = {}
        for words, core in self.tables.items():
            names = [term.op for term in applied(core.forms[0])]
            contractions = names.count("matmul")
            for sentence in self._sentences(words, core):
                operators = len(names) - 1
                pattern = pattern_of(sentence, core.family, contractions, operators)
                found[pattern.name] = pattern
        return found

    @staticmethod
    def _sentences(words: Words, core: Core) -> Iterator[Words]:
        fronts = [
            tuple(s for s, on in zip(core.before, bits, strict=True) if on)
            for bits in product((False, True), repeat=len(core.before))
        ]
        for front, behind in product(fronts, sentences(core.behind)):
            sentence = (*front, *words, *behind)
            alone = not front and not behind and size_of(core.forms[0]) == 1
            if not alone and is_sentence(sentence):
                yield sentence

    def matches(self, dag: Dag, root: int) -> list[Match]:
        """Chains through the expression whose last operator is `root`, the longest first."""
        place = self._at(dag, root)
        if place is None:
            return []
        form, found = place.form, place.found
        core, inside = form.core, found.ops
        ops = tuple(sorted(inside - {root} if core.outside else inside))
        narrow = None
        if form.widens is not None:
            narrow = element_name(dag.ops[found.at[form.widens]].operands[0].type)
        behinds = following(dag, root, root, core.behind, narrow=narrow, through=True)
        matches = [
            Match((*front, *ops, *more), (*said, *form.words, *words))
            for front, said in _fronts(dag, core.before, found)
            for more, words in behinds
            if said or words or len(ops) > 1
        ]
        return sorted(matches, key=lambda m: -len(m.words))

    def _at(self, dag: Dag, root: int) -> _Place | None:
        forms = self._by_root.get(dag.names[root])
        names = sources(dag, root) if forms else set[str]()
        for form in forms or ():
            if not form.needed <= names:
                continue
            found = find(dag, root, form.term, {}, through=True)
            if found is None or not is_private(dag, root, found, form.escapes):
                continue
            if form.core.check is None or form.core.check(dag, root, found):
                return _Place(form, found)
        return None


def _forms(words: Words, core: Core) -> Iterator[_Form]:
    for term in core.forms:
        yield _Form(words, core, term, core.escapes)
        if core.narrow:
            widened = Apply("cast", (X,), (("to", "f32"),))
            wide = replaced(term, X, widened)
            if isinstance(wide, Apply):
                yield _Form(words, core, wide, frozenset(), widened)


def _fronts(dag: Dag, slots: tuple[str, ...], found: Found) -> list[Link]:
    """What fills slots before an expression: each part that ends at it, none first."""
    fronts: list[Link] = [((), ())]
    inside, value = set(found.ops), found.values.get(X)
    for slot in reversed(slots):
        producer = _producer(dag, inside, value)
        if producer is None or not _fills(dag, producer, slot):
            continue
        ops, words = fronts[-1]
        fronts.append(((producer, *ops), (slot, *words)))
        inside, value = {producer}, _main_operand(dag, producer)
    return fronts


def _producer(dag: Dag, users: set[int], value: SSAValue | None) -> int | None:
    """The operator that computes a value which nothing but `users` reads."""
    for user in users:
        for operand, owner in zip(dag.ops[user].operands, dag.operands[user], strict=True):
            if operand is value:
                owner = dag.root(owner)
                private = owner >= 0 and users.issuperset(readers(dag, owner))
                return owner if private and not dag.is_constant(owner) else None
    return None


def _main_operand(dag: Dag, op: int) -> SSAValue | None:
    """The operand of the result's shape that is not constant."""
    shape = tensor_type(dag.ops[op].results[0]).get_shape()
    for source, value in zip(dag.operands[op], dag.ops[op].operands, strict=True):
        constant = source >= 0 and dag.is_constant(source)
        if not constant and tensor_type(value).get_shape() == shape:
            return value
    return None


def _fills(dag: Dag, op: int, slot: str) -> bool:
    """Whether an operator is what a slot before an expression asks for."""
    name = dag.names[op]
    scalars = [o for o in dag.operands[op] if o >= 0 and dag.is_inline(o)]
    match slot:
        case "scale":
            return name in ("mul", "div") and len(scalars) == 1
        case "choose":
            return name == "where" and len(scalars) == 1
        case _:
            return name == "add" and not scalars
