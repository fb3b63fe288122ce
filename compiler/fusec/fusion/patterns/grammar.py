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

from xdsl.ir import Attribute

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.chain import ACTIVATION, following, words_of
from fusec.fusion.patterns.terms import Apply, apply, find, is_private, readers
from fusec.fusion.patterns.words import ACTIVATIONS, OTHERS, X
from fusec_dialects.graph.base import element_name, python_value, tensor_type

OUT = ("cast", "quant")
"""How a result leaves: in 16 bits, or as 8-bit integers; one of them."""

CONV = ("bias", "bn", "residual", ACTIVATION, "residual", *OUT)
POOLED = ("bias", "bn", "residual", ACTIVATION, "residual", "gap", *OUT)
TRANSPOSED = ("bias", "residual", "relu", "cast")
INTEGER = ("rescale", "bias", "residual", ACTIVATION, "residual", *OUT)
MATMUL = ("scale", "bias", "residual", ACTIVATION, "gate", "residual", *OUT)

SLOTS: dict[str, tuple[str, ...]] = {
    "conv": POOLED,
    "conv1d": POOLED,
    "conv3d": CONV,
    "depthwise_conv": POOLED,
    "grouped_conv": CONV,
    "conv_transpose": TRANSPOSED,
    "matmul": MATMUL,
    "batch_matmul": MATMUL,
    "gemm": MATMUL,
    "matmul_integer": INTEGER,
}
"""Anchors with their slots in order. A product with a number behind a convolution is no slot:
`prepare` makes it a part of the filter. A transposed convolution is a transposition of all
positions between two inputs behind a convolution: what follows has to stay on the cube core."""

FRONTS: dict[str, str] = {
    "conv": "pad",
    "conv1d": "pad",
    "conv3d": "pad",
    "depthwise_conv": "pad",
    "grouped_conv": "pad",
    "matmul": "dequant",
    "batch_matmul": "dequant",
    "gemm": "dequant",
    "matmul_integer": "quantise",
}
"""What may stand before an anchor: a pad by zeros that is not yet the convolution's own, an operand
that comes in 8-bit integers, or one that is made 8-bit integers of."""

FREE = frozenset(["relu", "relu6", "leaky_relu", "gelu", "gelu_tanh", "silu", "hard_swish"])
"""Activations that residuals and scales go with; the others follow bias and norm alone."""


@dataclass(frozen=True)
class Pattern:
    """A named pattern; the one with the most benefit is tried first. What it has not fused yet,
    every other one may take."""

    name: str
    family: str
    benefit: int
    doc: str
    words: tuple[str, ...]


CONTRACTION_BENEFIT = 100
"""What a contraction adds to the benefit of a pattern, next to 10 for each word and operator: what
can stay on the cube core is not given to a vector kernel."""


def pattern_of(words: tuple[str, ...], family: str, contractions: int, operators: int) -> Pattern:
    """The pattern of a sentence with so many contractions and other operators in its expression."""
    doc = f"{', '.join(words)}, in one kernel"
    benefit = 10 * (len(words) + operators) + CONTRACTION_BENEFIT * contractions
    return Pattern("_".join(words), family, benefit, doc, words)


def sentences(slots: tuple[str, ...], start: int = 0) -> Iterator[tuple[str, ...]]:
    """Every choice of words for slots in their order, none of them among the choices."""
    yield ()
    for i in range(start, len(slots)):
        for rest in sentences(slots, i + 1):
            for word in words_of(slots[i]):
                yield (word, *rest)


def is_sentence(words: tuple[str, ...]) -> bool:
    """Whether words in the order of the slots go together.

    One residual at most, and one way out (cast or quant); a rare activation with nothing but bias,
    norm and a way out; a gate stands behind an activation (SwiGLU, GeGLU); with something before
    the anchor or a pool over the whole image neither residual, scale nor gate. A product of
    integers is rescaled before anything else.
    """
    if len(set(OUT).intersection(words)) > 1 or words.count("residual") > 1:
        return False
    behind = words[words.index("matmul_integer") + 1 :] if "matmul_integer" in words else ()
    if behind and behind[0] != "rescale":
        return False
    alone = {*FRONTS.values(), "gap"}.intersection(words)
    extra = alone | {"residual", "scale"}.intersection(words)
    if "gate" in words:
        return words[words.index("gate") - 1] in FREE and not extra
    rare = any(w in ACTIVATIONS and w not in FREE for w in words)
    return not (extra and rare) and (not alone or len(extra) == 1)


@cache
def contraction_patterns() -> dict[str, Pattern]:
    """Every sentence of at least one slot, by name."""
    found: dict[str, Pattern] = {}
    for anchor, slots in SLOTS.items():
        fronts = ((), *((front,) for front in (FRONTS.get(anchor),) if front is not None))
        tails = list(sentences(slots))
        for front in fronts:
            for tail in tails:
                words = (*front, anchor, *tail)
                if (len(words) > 1 or anchor == "conv_transpose") and is_sentence(words):
                    pattern = pattern_of(words, anchor, 1, 0)
                    found.setdefault(pattern.name, pattern)
    return found


@dataclass(frozen=True)
class Match:
    """Operators by number and the words that they stand for, in the order of the sentence."""

    ops: tuple[int, ...]
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return "_".join(self.words)


def anchor_of(dag: Dag, i: int) -> str | None:
    """The word of a contraction; None for what anchors no sentence."""
    name = dag.names[i]
    if name in ("gemm", "matmul_integer"):
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
    """Prefixes of the longest chain of slots behind an anchor, the longest first; those with what
    stands before it ahead of the others."""
    first = anchor_of(dag, anchor)
    if first is None:
        return []
    found: list[Match] = []
    apart = _side_by_side(dag, anchor)
    if apart is not None:
        found += _sentences(dag, anchor, (anchor, apart), "conv_transpose")
    front = _front(dag, anchor, FRONTS.get(first))
    plain = _sentences(dag, anchor, (anchor,), first)
    if front is not None:
        word, before = front
        found += [Match((*before, *m.ops), (word, *m.words)) for m in plain]
    return found + [m for m in plain if len(m.ops) > 1]


def _sentences(dag: Dag, anchor: int, ops: tuple[int, ...], first: str) -> list[Match]:
    """What begins with these operators, which are the word `first`; the longest first."""
    slots, words = SLOTS[first], (first,)
    if _own_bias(dag, anchor):
        words = (first, "bias")
        slots = slots[slots.index("bias") + 1 :]
    chains = following(dag, ops[-1], anchor, slots, through=len(ops) > 1)
    return [Match((*ops, *more), (*words, *said)) for more, said in reversed(chains)]


def _own_bias(dag: Dag, anchor: int) -> bool:
    return dag.names[anchor] in ("conv", "gemm") and len(dag.operands[anchor]) == 3


def _side_by_side(dag: Dag, conv: int) -> int | None:
    """The transposition that puts all positions between two inputs side by side: with it a
    convolution is a transposed convolution."""
    if dag.names[conv] != "conv":
        return None
    users = set(readers(dag, conv))
    if len(users) != 1:
        return None
    (user,) = users
    if user < 0 or dag.names[user] != "transpose":
        return None
    n = len(tensor_type(dag.ops[conv].results[0]).shape) - 2
    beside = (0, 1, *(axis for i in range(n) for axis in (2 + n + i, 2 + i)))
    return user if python_value(dag.ops[user].properties["perm"]) == beside else None


def _dequantised() -> tuple[Apply, ...]:
    """(x - zero point) scale, in f32 or in 16 bits."""
    wide = apply("cast", X, to="f32")
    found: list[Apply] = []
    for centred in (wide, apply("sub", wide, "%zero")):
        factor = apply("mul", centred, "%scale")
        found += [factor, *(apply("cast", factor, to=to) for to in ("f16", "bf16"))]
    return tuple(found)


DEQUANTISED = _dequantised()


def _front(dag: Dag, anchor: int, word: str | None) -> tuple[str, tuple[int, ...]] | None:
    """What stands before an anchor, and nothing else reads."""
    source = dag.operands[anchor][0]
    if word is None or source < 0 or dag.is_constant(source) or dag.only_user(source) != anchor:
        return None
    if word == "pad":
        return (word, (source,)) if dag.names[source] == "pad" else None
    for form in DEQUANTISED if word == "dequant" else OTHERS["quant"]:
        found = find(dag, source, form, {})
        if found is None or not is_private(dag, source, found):
            continue
        if word == "quantise" or _is_byte(found.values[X].type):
            return word, tuple(sorted(found.ops))
    return None


def _is_byte(type_: Attribute) -> bool:
    return element_name(type_) in ("i8", "ui8")
