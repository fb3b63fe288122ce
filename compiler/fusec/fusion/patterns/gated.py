"""Gated MLPs and rotary embeddings: two halves that meet.

A gate is an activation times something of its shape. Both come from products of one value, from one
product that was cut in two, or from anywhere else (the slot `gate` behind a product).
"""

from __future__ import annotations

from xdsl.ir import Operation

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.cores import Check, Core, Words
from fusec.fusion.patterns.grammar import OUT
from fusec.fusion.patterns.terms import Apply, Found, Term, apply, replaced
from fusec.fusion.patterns.words import ACTIVATIONS, X
from fusec.graph.query import ints
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type

GATES: dict[str, str] = {
    "glu": "sigmoid",
    "reglu": "relu",
    "geglu": "gelu",
    "geglu_tanh": "gelu_tanh",
    "swiglu": "silu",
}
"""Gated linear units by name, each with the activation of its gate."""


def _active(word: str, x: Term) -> Term:
    return replaced(ACTIVATIONS[word][0], X, x)


def _gated(word: str, gate: Term, value: Term) -> Apply:
    return apply("mul", _active(word, gate), value)


def _products(word: str) -> tuple[Apply, ...]:
    """Both products of x, with a bias each or none."""
    gate, value = apply("matmul", X, "%gate"), apply("matmul", X, "%up")
    biased = apply("add", gate, "%gate_bias"), apply("add", value, "%up_bias")
    return _gated(word, gate, value), _gated(word, *biased)


def _halves(word: str) -> tuple[Apply, ...]:
    return (_gated(word, apply("slice", X), apply("slice", X)),)


def _numbers(op: Operation, key: str) -> tuple[int, ...]:
    return ints(op, key) if isinstance(op, GraphOp) else ()


def _joined(word: str) -> tuple[Apply, ...]:
    product = apply("matmul", X, "%joined")
    found: list[Apply] = []
    for whole in (product, apply("add", product, "%joined_bias")):
        found.append(_gated(word, apply("slice", whole), apply("slice", whole)))
    return tuple(found)


def _is_cut_in_two(dag: Dag, _root: int, found: Found) -> bool:
    """Whether the slices are different halves of the last axis."""
    starts: set[int] = set()
    cuts = [dag.ops[i] for i in found.ops if dag.names[i] == "slice"]
    whole = tensor_type(cuts[0].operands[0]).get_shape()
    for op in cuts:
        if len(_numbers(op, "starts")) != 1:
            return False
        half = (*whole[:-1], whole[-1] // 2)
        if tensor_type(op.results[0]).get_shape() != half or whole[-1] % 2:
            return False
        starts.add(_numbers(op, "starts")[0])
    return starts == {0, whole[-1] // 2}


GATED: dict[Words, Core] = {
    **{
        (name,): Core(
            "gated",
            _products(word),
            (),
            ("residual", *OUT),
            meaning=f"two products of one value, {word} of the first times the second",
        )
        for name, word in GATES.items()
    },
    **{
        (name, "mlp"): Core(
            "gated",
            tuple(apply("matmul", form, "%down") for form in _products(word)),
            (),
            ("residual", *OUT),
            meaning="the same, and a product of the result",
        )
        for name, word in GATES.items()
    },
    **{
        ("joined", name): Core(
            "gated",
            _joined(word),
            (),
            ("residual", *OUT),
            _is_cut_in_two,
            meaning=f"one product, {word} of one half of its columns times the other half",
        )
        for name, word in GATES.items()
    },
    **{
        ("halves", name): Core(
            "gated",
            _halves(word),
            (),
            ("residual", *OUT),
            _is_cut_in_two,
            meaning=f"{word} of one half of the last axis times the other half",
        )
        for name, word in GATES.items()
    },
}
"""Contractions that share a kernel are small ones: a few rows, as when tokens come one by one."""


def _rotated() -> Apply:
    """[x1 cos1 - x2 sin1, x2 cos2 + x1 sin2], x1 and x2 the parts of x."""
    x1, x2 = apply("slice", X), apply("slice", X)
    first = apply("sub", apply("mul", x1, "cos1"), apply("mul", x2, "sin1"))
    second = apply("add", apply("mul", x2, "cos2"), apply("mul", x1, "sin2"))
    return apply("concat", first, second)


def _is_rotation(pairs: bool) -> Check:
    """Whether the slices are the halves of the last axis, or its even and odd entries."""

    def check(dag: Dag, root: int, found: Found) -> bool:
        whole = tensor_type(found.values[X]).get_shape()
        cuts = [dag.ops[i] for i in found.ops if dag.names[i] == "slice"]
        shapes = {tensor_type(cut.results[0]).get_shape()[-1] for cut in cuts}
        joined = tensor_type(dag.ops[root].results[0]).get_shape()
        if not pairs:
            return _is_cut_in_two(dag, root, found) and joined[-1] == whole[-1] > 2
        steps = {_numbers(cut, "steps") for cut in cuts}
        strided = steps == {(2,)} and shapes == {whole[-1] // 2}
        return (strided or (whole[-1] == 2 and shapes == {1})) and joined[-1] == 2

    return check


ROTARY: dict[Words, Core] = {
    words: Core(
        "rotary",
        (_rotated(),),
        check=_is_rotation(pairs),
        outside=True,
        meaning=f"rotary embedding by {'pairs' if pairs else 'halves'}; both parts are written "
        "where the concat has them",
    )
    for words, pairs in ((("rotary",), False), (("rotary", "interleaved"), True))
}
"""Both layouts: x1 and x2 are halves of the last axis, or neighbours."""
