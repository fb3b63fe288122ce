"""Named patterns of contractions: an anchor and ordered slots, each optional; the name is the
sentence.

`conv_bn_relu` is a convolution, batch norm and relu; `matmul_bias_gelu_residual` a matmul, bias,
GELU and an addition of something of the result's shape. Tables hold anchors, slots and their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from fusec.fusion.dag import Dag
from fusec_dialects.graph.base import tensor_type

ACTIVATIONS = ("relu", "gelu", "tanh", "sigmoid", "leaky_relu", "clip")
"""Operators that fill the activation slot, each under its own name."""

SLOTS: dict[str, tuple[str, ...]] = {
    "conv": ("bias", "bn", "residual", "activation", "residual"),
    "matmul": ("bias", "residual", "activation", "residual"),
    "gemm": ("bias", "residual", "activation", "residual"),
}
"""Anchors with their slots in order."""


@dataclass(frozen=True)
class Pattern:
    """A named pattern; of two that match at one anchor the one with more benefit is tried first."""

    name: str
    family: str
    benefit: int
    doc: str


def _sentences(slots: tuple[str, ...], start: int = 0) -> Iterator[tuple[str, ...]]:
    yield ()
    for i in range(start, len(slots)):
        words = ACTIVATIONS if slots[i] == "activation" else (slots[i],)
        for rest in _sentences(slots, i + 1):
            for word in words:
                yield (word, *rest)


@cache
def contraction_patterns() -> dict[str, Pattern]:
    """Every sentence of at least one slot, by name."""
    found: dict[str, Pattern] = {}
    for anchor, slots in SLOTS.items():
        for words in _sentences(slots):
            if words:
                name = "_".join((anchor, *words))
                doc = f"{anchor}, then {', '.join(words)}, in one kernel"
                found.setdefault(name, Pattern(name, anchor, 10 * len(words), doc))
    return found


@dataclass(frozen=True)
class Match:
    """Operators by number and the words that they stand for, from the anchor on."""

    ops: tuple[int, ...]
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return "_".join(self.words)


def matches(dag: Dag, anchor: int) -> list[Match]:
    """Prefixes of the longest chain of slots behind an anchor, the longest first.

    A chain ends where a value has a second user or is an output of the model.
    """
    slots = SLOTS.get(dag.names[anchor])
    if slots is None:
        return []
    ops, words = [anchor], [dag.names[anchor]]
    at = 0
    if _own_bias(dag, anchor):
        words.append("bias")
        at = slots.index("bias") + 1
    found: list[Match] = []
    while (user := dag.only_user(ops[-1])) is not None:
        word = _word(dag, ops[-1], user, anchor)
        slot = "activation" if word in ACTIVATIONS else word
        if slot is None or slot not in slots[at:] or word is None:
            break
        at = slots.index(slot, at) + 1
        ops.append(user)
        words.append(word)
        found.append(Match(tuple(ops), tuple(words)))
    return found[::-1]


def _own_bias(dag: Dag, anchor: int) -> bool:
    return dag.names[anchor] in ("conv", "gemm") and len(dag.operands[anchor]) == 3


def _word(dag: Dag, value: int, user: int, anchor: int) -> str | None:
    """The slot that `user` fills behind `value`."""
    name = dag.names[user]
    if name in ACTIVATIONS:
        return name
    if name == "batch_normalization":
        others = dag.operands[user][1:]
        known = all(o >= 0 and dag.is_constant(o) for o in others)
        return "bn" if known and dag.operands[user][0] == value else None
    if name != "add" or dag.operands[user].count(value) != 1:
        return None
    side = 1 - dag.operands[user].index(value)
    mine, other, result = (
        tensor_type(v)
        for v in (
            dag.ops[value].results[0],
            dag.ops[user].operands[side],
            dag.ops[user].results[0],
        )
    )
    if mine.get_shape() != result.get_shape():
        return None
    source = dag.operands[user][side]
    if source >= 0 and dag.is_constant(source) and _is_bias(dag, anchor, other, result):
        return "bias"
    return "residual" if other.get_shape() == result.get_shape() else None


def _is_bias(
    dag: Dag, anchor: int, other: TensorType[Attribute], result: TensorType[Attribute]
) -> bool:
    """Whether an operand varies along the output channels only."""
    rank = len(result.get_shape())
    shape = (1,) * (rank - len(other.get_shape())) + other.get_shape()
    axis = 1 if dag.names[anchor] == "conv" else rank - 1
    expected = tuple(d if i == axis else 1 for i, d in enumerate(result.get_shape()))
    return shape == expected
