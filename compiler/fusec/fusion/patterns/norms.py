"""Named patterns around norms and softmax: what is added or scaled before, what follows behind.

`residual_layer_norm_cast` is an addition, layer norm and a cast; `scale_mask_softmax` a product
with a number, an additive mask and softmax. Tables hold the norms' forms and the slots around.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import product

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.grammar import (
    ACTIVATION,
    Match,
    Pattern,
    following,
    is_sentence,
    sentences,
)
from fusec.fusion.patterns.terms import Apply, Found, apply, find, is_private
from fusec.fusion.patterns.words import X
from fusec_dialects.graph.base import tensor_type

_MEAN_SQUARE = apply("add", apply("reduce_mean", apply("mul", X, X)), "$epsilon")
_RMS = apply("div", X, apply("sqrt", _MEAN_SQUARE))


@dataclass(frozen=True)
class Norm:
    """Forms of a norm on `x`, the slots before it, the nearest last, and those behind it."""

    family: str
    forms: tuple[Apply, ...]
    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()


NORMS: dict[str, Norm] = {
    "layer_norm": Norm(
        "norm",
        (
            apply("layer_normalization", X, "%scale", "%bias"),
            apply("layer_normalization", X, "%scale"),
        ),
        ("residual",),
        (ACTIVATION, "residual", "cast"),
    ),
    "rms_norm": Norm(
        "norm",
        (apply("mul", _RMS, "%scale"), _RMS),
        ("residual",),
        (ACTIVATION, "residual", "cast"),
    ),
    "bn": Norm(
        "norm",
        (apply("batch_normalization", X, "%scale", "%bias", "%mean", "%variance"),),
        ("residual",),
        (ACTIVATION, "residual", "cast"),
    ),
    "softmax": Norm("softmax", (apply("softmax", X),), ("scale", "mask"), ("cast",)),
    "log_softmax": Norm("softmax", (apply("log_softmax", X),), ("scale", "mask"), ("cast",)),
}
"""Norms by their words; of two forms with one root the longer one stands first."""

_BY_ROOT: dict[str, list[tuple[str, Apply]]] = defaultdict(list)
for _word, _norm in NORMS.items():
    for _form in _norm.forms:
        _BY_ROOT[_form.op].append((_word, _form))


@cache
def norm_patterns() -> dict[str, Pattern]:
    """Every sentence around a norm of at least one slot, by name."""
    found: dict[str, Pattern] = {}
    for word, norm in NORMS.items():
        fronts = [
            tuple(s for s, on in zip(norm.before, bits, strict=True) if on)
            for bits in product((False, True), repeat=len(norm.before))
        ]
        for front, behind in product(fronts, sentences(norm.behind)):
            words = (*front, word, *behind)
            if len(words) == 1 or not is_sentence(words):
                continue
            name = "_".join(words)
            doc = f"{', '.join(words)}, in one kernel"
            found[name] = Pattern(name, norm.family, 10 * len(words), doc, words)
    return found


def norm_matches(dag: Dag, root: int) -> list[Match]:
    """Chains through the norm whose last operator is `root`, the longest first."""
    core = _norm_at(dag, root)
    if core is None:
        return []
    word, found = core
    fronts = _fronts(dag, NORMS[word].before, found)
    behinds = following(dag, root, root, NORMS[word].behind)
    matches = [
        Match((*front_ops, *sorted(found.ops), *ops), (*front_words, word, *words))
        for front_ops, front_words in fronts
        for ops, words in behinds
        if front_words or words
    ]
    return sorted(matches, key=lambda m: -len(m.words))


def _norm_at(dag: Dag, root: int) -> tuple[str, Found] | None:
    for word, form in _BY_ROOT.get(dag.names[root], ()):
        found = find(dag, root, form, {})
        if found is not None and is_private(dag, root, found):
            return word, found
    return None


def _fronts(
    dag: Dag, slots: tuple[str, ...], found: Found
) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
    """What fills slots before a norm: each part that ends at the norm, none first."""
    fronts: list[tuple[tuple[int, ...], tuple[str, ...]]] = [((), ())]
    inside, value = set(found.ops), found.values[X]
    for slot in reversed(slots):
        producer = _producer(dag, inside, value)
        if producer is None or not _fills(dag, producer, slot):
            continue
        ops, words = fronts[-1]
        fronts.append(((producer, *ops), (slot, *words)))
        inside, value = {producer}, _main_operand(dag, producer)
    return fronts


def _producer(dag: Dag, users: set[int], value: object) -> int | None:
    """The operator that computes a value which nothing but `users` reads."""
    for user in users:
        for operand, owner in zip(dag.ops[user].operands, dag.operands[user], strict=True):
            if operand is value:
                return owner if owner >= 0 and users.issuperset(dag.users[owner]) else None
    return None


def _main_operand(dag: Dag, op: int) -> object:
    """The operand of the result's shape that is not constant."""
    shape = tensor_type(dag.ops[op].results[0]).get_shape()
    for source, value in zip(dag.operands[op], dag.ops[op].operands, strict=True):
        constant = source >= 0 and dag.is_constant(source)
        if not constant and tensor_type(value).get_shape() == shape:
            return value
    return None


def _fills(dag: Dag, op: int, slot: str) -> bool:
    if dag.is_constant(op):
        return False
    scalars = [o for o in dag.operands[op] if o >= 0 and dag.is_inline(o)]
    if slot == "scale":
        return dag.names[op] in ("mul", "div") and len(scalars) == 1
    return dag.names[op] == "add" and not scalars
