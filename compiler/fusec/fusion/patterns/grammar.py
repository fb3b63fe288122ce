"""Named patterns of contractions: an anchor and ordered slots, each optional; the name is the
sentence.

`conv_bn_relu` is a convolution, batch norm and relu; `matmul_bias_gelu_residual` a matmul, bias,
GELU and an addition of something of the result's shape. Tables hold anchors, slots, their order and
what goes together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.words import ACTIVATIONS, activation_of
from fusec_dialects.graph.base import element_name, python_value, tensor_type

ACTIVATION = "activation"
"""The slot that any word of ACTIVATIONS fills."""

CONV = ("scale", "bias", "bn", "residual", ACTIVATION, "residual", "cast")
MATMUL = ("scale", "bias", "residual", ACTIVATION, "gate", "residual", "cast")

SLOTS: dict[str, tuple[str, ...]] = {
    "conv": CONV,
    "conv1d": CONV,
    "conv3d": CONV,
    "depthwise_conv": CONV,
    "grouped_conv": CONV,
    "matmul": MATMUL,
    "batch_matmul": MATMUL,
    "gemm": MATMUL,
}
"""Anchors with their slots in order."""

FREE = frozenset(["relu", "relu6", "leaky_relu", "gelu", "gelu_tanh", "silu", "hard_swish"])
"""Activations that residuals and scales go with; the others follow bias and norm alone."""


@dataclass(frozen=True)
class Pattern:
    """A named pattern; of two that match at one anchor the one with more benefit is tried first."""

    name: str
    family: str
    benefit: int
    doc: str
    words: tuple[str, ...]


def sentences(slots: tuple[str, ...], start: int = 0) -> Iterator[tuple[str, ...]]:
    """Every choice of words for slots in their order, none of them among the choices."""
    yield ()
    for i in range(start, len(slots)):
        words = tuple(ACTIVATIONS) if slots[i] == ACTIVATION else (slots[i],)
        for rest in sentences(slots, i + 1):
            for word in words:
                yield (word, *rest)


def is_sentence(words: tuple[str, ...]) -> bool:
    """Whether words in the order of the slots go together.

    One residual at most, and no cast behind it; a rare activation with nothing but bias and norm; a
    scale and a norm are one thing said twice; a gate stands behind an activation (SwiGLU, GeGLU).
    """
    if "gate" in words:
        gated = words[words.index("gate") - 1]
        return gated in FREE and not {"residual", "scale"}.intersection(words)
    extra = {"residual", "scale"}.intersection(words)
    rare = any(w in ACTIVATIONS and w not in FREE for w in words)
    if (extra and rare) or ("cast" in words and (rare or "residual" in words)):
        return False
    return words.count("residual") <= 1 and not {"scale", "bn"}.issubset(words)


@cache
def contraction_patterns() -> dict[str, Pattern]:
    """Every sentence of at least one slot, by name."""
    found: dict[str, Pattern] = {}
    for anchor, slots in SLOTS.items():
        for words in sentences(slots):
            if not words or not is_sentence(words):
                continue
            sentence = (anchor, *words)
            name = "_".join(sentence)
            doc = f"{anchor}, then {', '.join(words)}, in one kernel"
            found.setdefault(name, Pattern(name, anchor, 10 * len(words), doc, sentence))
    return found


@dataclass(frozen=True)
class Match:
    """Operators by number and the words that they stand for, from the anchor on."""

    ops: tuple[int, ...]
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return "_".join(self.words)


def anchor_of(dag: Dag, i: int) -> str | None:
    """The word of a contraction; None for what anchors no sentence."""
    name = dag.names[i]
    if name == "gemm":
        return name
    if name == "matmul":
        return "batch_matmul" if len(tensor_type(dag.ops[i].operands[1]).shape) > 2 else name
    if name != "conv":
        return None
    x = tensor_type(dag.ops[i].operands[0]).get_shape()
    groups = python_value(dag.ops[i].properties["group"])
    if groups != 1:
        return "depthwise_conv" if groups == x[1] else "grouped_conv"
    return {3: "conv1d", 4: "conv", 5: "conv3d"}.get(len(x))


def matches(dag: Dag, anchor: int) -> list[Match]:
    """Prefixes of the longest chain of slots behind an anchor, the longest first."""
    first = anchor_of(dag, anchor)
    if first is None:
        return []
    slots = SLOTS[first]
    words: tuple[str, ...] = (first,)
    if _own_bias(dag, anchor):
        words = (first, "bias")
        slots = slots[slots.index("bias") + 1 :]
    chains = following(dag, anchor, anchor, slots)[1:]
    return [Match((anchor, *ops), (*words, *more)) for ops, more in reversed(chains)]


def following(
    dag: Dag, value: int, anchor: int, slots: tuple[str, ...]
) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
    """What fills slots behind an operator: every prefix of the chain, the empty one first.

    A chain ends where a value has a second user or is an output of the model.
    """
    found: list[tuple[tuple[int, ...], tuple[str, ...]]] = [((), ())]
    at = 0
    while (step := _next(dag, value, anchor)) is not None:
        word, value, inside = step
        slot = ACTIVATION if word in ACTIVATIONS else word
        if slot not in slots[at:]:
            break
        at = slots.index(slot, at) + 1
        ops, words = found[-1]
        found.append(((*ops, *inside), (*words, word)))
    return found


def _own_bias(dag: Dag, anchor: int) -> bool:
    return dag.names[anchor] in ("conv", "gemm") and len(dag.operands[anchor]) == 3


def _next(dag: Dag, value: int, anchor: int) -> tuple[str, int, list[int]] | None:
    """The word behind a value, the operator whose result it gives, and its operators in order."""
    if (activation := activation_of(dag, value)) is not None:
        word, root, found = activation
        return word, root, sorted(found.ops)
    user = dag.only_user(value)
    word = None if user is None else _word(dag, value, user, anchor)
    return None if user is None or word is None else (word, user, [user])


def _word(dag: Dag, value: int, user: int, anchor: int) -> str | None:
    """The slot that one operator fills behind `value`."""
    name = dag.names[user]
    if name == "batch_normalization":
        others = dag.operands[user][1:]
        known = all(o >= 0 and dag.is_constant(o) for o in others)
        return "bn" if known and dag.operands[user][0] == value else None
    if name == "cast":
        return "cast" if element_name(dag.ops[user].results[0].type) in ("f16", "bf16") else None
    if name not in ("add", "mul", "div") or dag.operands[user].count(value) != 1:
        return None
    side = 1 - dag.operands[user].index(value)
    if name == "div" and side == 0:
        return None
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
    same = other.get_shape() == result.get_shape()
    by_channel = source >= 0 and dag.is_constant(source) and _is_bias(dag, anchor, other, result)
    if name == "mul" and same and not (source >= 0 and dag.is_constant(source)):
        return "gate"
    if name != "add":
        return "scale" if by_channel or (source >= 0 and dag.is_inline(source)) else None
    if by_channel:
        return "bias"
    return "residual" if same else None


def _is_bias(
    dag: Dag, anchor: int, other: TensorType[Attribute], result: TensorType[Attribute]
) -> bool:
    """Whether an operand varies along the output channels only."""
    rank = len(result.get_shape())
    shape = (1,) * (rank - len(other.get_shape())) + other.get_shape()
    axis = 1 if dag.names[anchor] == "conv" else rank - 1
    expected = tuple(d if i == axis else 1 for i, d in enumerate(result.get_shape()))
    return shape == expected
