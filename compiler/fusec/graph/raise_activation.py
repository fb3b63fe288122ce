"""Activations from their spellings: sigmoid, swish, the hard ones, softplus, mish, leaky relu.

Which exporter writes what: torch writes SiLU as x sigmoid(x) and softplus with a threshold, Paddle
and TensorFlow the hard ones as relu6(x + 3) / 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from fusec.graph.query import producer, single
from fusec.graph.simplify_values import clip_of_clip, merged_clip
from fusec.graph.spelling import Spelling, constant_attrs, rules_of
from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import Captures, Pattern, scalar_of
from fusec_dialects.graph import AttrValue, GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.elements import FLOATS

SIXTH = 1.0 / 6.0
NEGATED: tuple[Pattern, ...] = (("neg", "x"), ("mul", "x", -1.0), ("sub", 0.0, "x"))
_GATE6: Pattern = ("clip", ("add", "x", 3.0))
_LOG_OF_DECAY: Pattern = ("log", ("add", ("exp", ("neg", ("abs", "x"))), 1.0))
_POWER: Pattern = ("exp", ("clip", "x"))
_ODDS: Pattern = ("mul", _POWER, ("add", _POWER, 2.0))


def _hard(numbers: Mapping[str, float], found: Captures) -> dict[str, AttrValue]:
    """alpha and beta of a line that is cut at 0 and 1, alpha perhaps as a divisor."""
    alpha = numbers["alpha"] if "alpha" in numbers else 1.0 / numbers["divisor"]
    return {"alpha": alpha, "beta": numbers["beta"]}


def _hard_swish(numbers: Mapping[str, float], found: Captures) -> dict[str, AttrValue] | None:
    """None where the hard sigmoid in it has another slope or offset."""
    for op in found.ops:
        if isinstance(op, GraphOp) and op.op_name == "hard_sigmoid":
            attrs = op.attrs()
            alpha, beta = attrs["alpha"], attrs["beta"]
            if not isinstance(alpha, float) or abs(alpha - SIXTH) > 2e-4 or beta != 0.5:
                return None
            wide = tensor_type(op.results[0]).element_type
            if abs(alpha - SIXTH) > 1e-7 and str(wide) not in ("f16", "bf16"):
                return None
    return {}


def _rising(numbers: Mapping[str, float], found: Captures) -> dict[str, AttrValue] | None:
    """max(x, alpha x) is a leaky relu for slopes from 0 to 1 only."""
    return dict(numbers) if 0.0 <= numbers["alpha"] <= 1.0 else None


def _steep(numbers: Mapping[str, float], found: Captures) -> dict[str, AttrValue] | None:
    """min(x, alpha x) is one for slopes above 1."""
    return dict(numbers) if numbers["alpha"] >= 1.0 else None


def _swish(numbers: Mapping[str, float], found: Captures) -> dict[str, AttrValue]:
    return {"alpha": numbers.get("alpha", 1.0)}


def _open(numbers: Mapping[str, float], found: Captures) -> dict[str, AttrValue] | None:
    """log(1 + exp(-|x|)) is but a part of the softplus that does not overflow."""
    inner = producer(found.values["x"], "neg")
    return None if inner is not None and producer(inner.operands[0], "abs") else {}


_EXP: tuple[Pattern, ...] = tuple(("add", ("exp", n), 1.0) for n in NEGATED)

_SIGMOIDS = tuple(
    Spelling("sigmoid", pattern, "finite", constant_attrs())
    for odds in _EXP
    for pattern in (("reciprocal", odds), ("div", 1.0, odds))
)

_SWISHES = (
    Spelling("swish", ("mul", "x", ("sigmoid", "x")), "reorder", _swish),
    Spelling("swish", ("mul", "x", ("sigmoid", ("mul", "x", "alpha"))), "reorder", _swish),
    *(Spelling("swish", ("div", "x", odds), "reorder", _swish) for odds in _EXP),
)

_HARD_SIGMOIDS = (
    Spelling(
        "hard_sigmoid",
        ("clip", ("add", ("mul", "x", "alpha"), "beta")),
        "exact",
        _hard,
        (0.0, 1.0),
    ),
    Spelling(
        "hard_sigmoid",
        ("clip", ("add", ("div", "x", "divisor"), "beta")),
        "reorder",
        _hard,
        (0.0, 1.0),
    ),
    *(
        Spelling(
            "hard_sigmoid",
            pattern,
            "reorder",
            constant_attrs(alpha=SIXTH, beta=0.5),
            (0.0, 6.0),
        )
        for pattern in (("div", _GATE6, 6.0), ("mul", _GATE6, SIXTH))
    ),
)

_HARD_SWISHES = (
    Spelling("hard_swish", ("mul", "x", ("hard_sigmoid", "x")), "reorder", _hard_swish),
    *(
        Spelling("hard_swish", pattern, "reorder", constant_attrs(), (0.0, 6.0))
        for pattern in (
            ("div", ("mul", "x", _GATE6), 6.0),
            ("mul", ("mul", "x", _GATE6), SIXTH),
            ("mul", ("mul", "x", SIXTH), _GATE6),
            ("mul", ("div", "x", 6.0), _GATE6),
        )
    ),
)

_SOFTPLUSES = (
    Spelling("softplus", ("add", ("relu", "x"), _LOG_OF_DECAY), "exact"),
    Spelling("softplus", ("add", ("clip", "x"), _LOG_OF_DECAY), "finite", limits=(0.0, None)),
    Spelling("softplus", ("log", ("add", ("exp", "x"), 1.0)), "reorder", _open),
    Spelling(
        "softplus",
        ("where", ("greater", "x", 20.0), "x", ("softplus", "x")),
        "reorder",
    ),
    Spelling(
        "softplus",
        ("where", ("less_or_equal", "x", 20.0), ("softplus", "x"), "x"),
        "reorder",
    ),
)

_MISHES = (
    Spelling("mish", ("mul", "x", ("tanh", ("softplus", "x")))),
    *(
        Spelling("mish", pattern, "reorder", limits=(None, 20.0))
        for pattern in (
            ("mul", "x", ("div", _ODDS, ("add", _ODDS, 2.0))),
            ("div", ("mul", "x", _ODDS), ("add", _ODDS, 2.0)),
        )
    ),
)

_SCALED: Pattern = ("mul", "x", "alpha")

_LEAKY = (
    *(
        Spelling("leaky_relu", pattern, "exact")
        for below in ("less", "less_or_equal")
        for above in ("greater", "greater_or_equal")
        for pattern in (
            ("where", (below, "x", 0.0), _SCALED, "x"),
            ("where", (above, "x", 0.0), "x", _SCALED),
        )
    ),
    Spelling("leaky_relu", ("max", "x", _SCALED), "exact", _rising),
    Spelling("leaky_relu", ("min", "x", _SCALED), "exact", _steep),
    Spelling(
        "leaky_relu",
        ("sub", ("relu", "x"), ("mul", ("relu", ("neg", "x")), "alpha")),
        "finite",
    ),
    Spelling(
        "leaky_relu",
        ("sub", ("relu", "x"), ("relu", ("mul", ("neg", "x"), "alpha"))),
        "finite",
        lambda numbers, found: dict(numbers) if numbers["alpha"] >= 0.0 else None,
    ),
)

_RELUS = (
    Spelling("relu", ("where", ("greater", "x", 0.0), "x", 0.0), "finite"),
    Spelling("relu", ("where", ("greater_or_equal", "x", 0.0), "x", 0.0), "finite"),
    Spelling("relu", ("where", ("less", "x", 0.0), 0.0, "x"), "finite"),
    Spelling("relu", ("where", ("less_or_equal", "x", 0.0), 0.0, "x"), "finite"),
    Spelling("relu", ("clip", "x"), "finite", limits=(0.0, None)),
)

SPELLINGS = (
    *_SIGMOIDS,
    *_SWISHES,
    *_HARD_SIGMOIDS,
    *_HARD_SWISHES,
    *_SOFTPLUSES,
    *_MISHES,
    *_LEAKY,
    *_RELUS,
)
"""All of them; of one root operator the first that fits is taken."""


def _bound(op: GraphOp, rewriter: Rewriter) -> bool:
    """max(x, number) and min(x, number) of floating numbers are clips."""
    key = {"max": "min", "min": "max"}[op.op_name]
    for x, limit in (tuple(op.operands), tuple(op.operands)[::-1]):
        number = scalar_of(limit)
        if number is None or not isfinite(number) or x.type != op.results[0].type:
            continue
        if tensor_type(x).element_type in FLOATS:
            types = [op.results[0].type]
            return rewriter.replace(rewriter.build("clip", [x], {key: number}, types))
    return False


def _limited_twice(op: GraphOp, rewriter: Rewriter) -> bool:
    """relu of clip and clip of relu are one clip."""
    inner = single(op.operands[0], "clip", "relu")
    if inner is None or inner.op_name == op.op_name:
        return False
    return merged_clip(inner, op, rewriter)


CLIP_RULES = (
    Rule("raise-bound", ("graph.max", "graph.min"), _bound),
    Rule("raise-limits", ("graph.clip", "graph.relu"), _limited_twice, 2),
    Rule("raise-clips", ("graph.clip",), clip_of_clip, 2),
)

ACTIVATION_RULES = (*CLIP_RULES, *rules_of("raise-activation", SPELLINGS))
