"""The words of the pattern language that are expressions: activations under their field's names,
quantisation, the scales of a product of integers, the scale and bias of a norm.

Each has the forms that `prepare` leaves of it, the first of which its example is made of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.terms import Apply, Found, Term, apply, find, is_private, needs, sources

X = "x"


_BELOW = apply("clip", X, min=None, max=0.0)


def _negative_exp(alpha: Term | None) -> Term:
    """alpha (exp(min(x, 0)) - 1), the part of ELU and its kin below zero."""
    below = apply("sub", apply("exp", _BELOW), 1.0)
    return below if alpha is None else apply("mul", below, alpha)


_SCALED = apply("clip", apply("mul", X, "$inverse"), min=None, max=0.0)
_CELU = apply("sub", apply("exp", _SCALED), 1.0)

ACTIVATIONS: dict[str, tuple[Apply, ...]] = {
    "relu": (apply("relu", X),),
    "relu6": (apply("clip", X, min=0.0, max=6.0),),
    "clip": (apply("clip", X),),
    "leaky_relu": (apply("leaky_relu", X),),
    "prelu": (apply("where", apply("less", X, 0.0), apply("mul", X, "%slope"), X),),
    "elu": (
        apply("add", apply("relu", X), _negative_exp(None)),
        apply("add", apply("relu", X), _negative_exp("$alpha")),
    ),
    "selu": (apply("add", apply("mul", apply("relu", X), "$gamma"), _negative_exp("$alpha")),),
    "celu": (apply("add", apply("relu", X), apply("mul", _CELU, "$alpha")),),
    "sigmoid": (apply("sigmoid", X),),
    "hard_sigmoid": (apply("hard_sigmoid", X),),
    "hard_swish": (apply("hard_swish", X),),
    "silu": (apply("swish", X, alpha=1.0),),
    "quick_gelu": (apply("swish", X, alpha=1.702),),
    "swish": (apply("swish", X),),
    "gelu": (apply("gelu", X, approximate="none"),),
    "gelu_tanh": (apply("gelu", X, approximate="tanh"),),
    "tanh": (apply("tanh", X),),
    "softplus": (apply("softplus", X),),
    "mish": (apply("mish", X),),
}
"""Forms by name; of names with an equal form the first one is taken."""


def _quantised(x: Term) -> tuple[Apply, ...]:
    """round(x / scale) + zero point, limited to the range of i8 or ui8; without a zero point too,
    and with the inverse scale as a factor."""
    found: list[Apply] = []
    for divided in (apply("div", x, "%scale"), apply("mul", x, "%scale")):
        whole = apply("round", divided)
        for shifted in (whole, apply("add", whole, "%zero")):
            limited = apply("clip", shifted)
            found += [apply("cast", limited, to=element) for element in ("i8", "ui8")]
    return tuple(found)


OTHERS: dict[str, tuple[Apply, ...]] = {
    "quant": (*_quantised(X), *_quantised(apply("cast", X, to="f32"))),
    "rescale": (
        apply("mul", apply("mul", apply("cast", X, to="f32"), "scale"), "%scale"),
        apply("mul", apply("cast", X, to="f32"), "scale"),
    ),
    "affine": (
        apply("add", apply("mul", X, "%scale"), "%bias"),
        apply("mul", X, "%scale"),
    ),
}
"""Words that are no activations, in the same way; the longer form first."""

EXPRESSIONS = {**ACTIVATIONS, **OTHERS}


def _depth(term: Term) -> int:
    if not isinstance(term, Apply):
        return 0
    return 1 + max((_depth(t) for t in term.operands), default=0)


_BY_ROOT: dict[str, list[tuple[str, Apply, frozenset[str]]]] = defaultdict(list)
for _word, _forms in EXPRESSIONS.items():
    for _form in _forms:
        _BY_ROOT[_form.op].append((_word, _form, needs(_form)))

_REACH = max(_depth(form) for forms in EXPRESSIONS.values() for form in forms)


def expression_on(dag: Dag, i: int, words: Collection[str]) -> tuple[str, int, Found] | None:
    """Which of these words stands on the result of `i` alone: its name, root and operators.

    Every user of `i` is part of it; nothing else sees a value inside of it. The word that reaches
    farthest is taken.
    """
    users = dag.users[i]
    if not users or users[0] < 0 or len(dag.ops[i].results) != 1:
        return None
    bound = {X: dag.ops[i].results[0]}
    root: int | None = max(users)
    best: tuple[str, int, Found] | None = None
    for _ in range(_REACH):
        if root is None:
            break
        names = sources(dag, root) if dag.names[root] in _BY_ROOT else set[str]()
        for word, form, needed in _BY_ROOT.get(dag.names[root], ()):
            if word not in words or not needed <= names:
                continue
            found = find(dag, root, form, bound)
            if found is None or not found.ops.issuperset(users):
                continue
            if is_private(dag, root, found):
                best = word, root, found
                break
        root = dag.only_user(root)
    return best
