"""The words of the pattern language that are expressions: activations under their field's names.

Each has the forms that `prepare` leaves of it, the first of which its example is made of.
"""

from __future__ import annotations

from collections import defaultdict

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.terms import Apply, Found, Term, apply, find, is_private

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


def _depth(term: Term) -> int:
    if not isinstance(term, Apply):
        return 0
    return 1 + max((_depth(t) for t in term.operands), default=0)


_BY_ROOT: dict[str, list[tuple[str, Apply]]] = defaultdict(list)
for _word, _forms in ACTIVATIONS.items():
    for _form in _forms:
        _BY_ROOT[_form.op].append((_word, _form))

_REACH = max(_depth(form) for forms in ACTIVATIONS.values() for form in forms)


def activation_of(dag: Dag, i: int) -> tuple[str, int, Found] | None:
    """The activation that stands on the result of `i` alone: its name, root and operators.

    Every user of `i` is part of it; nothing else sees a value inside of it.
    """
    users = dag.users[i]
    if not users or users[0] < 0 or len(dag.ops[i].results) != 1:
        return None
    bound = {X: dag.ops[i].results[0]}
    root: int | None = max(users)
    for _ in range(_REACH):
        if root is None:
            return None
        for word, form in _BY_ROOT.get(dag.names[root], ()):
            found = find(dag, root, form, bound)
            if found is None or not found.ops.issuperset(users):
                continue
            if is_private(dag, root, found):
                return word, root, found
        root = dag.only_user(root)
    return None
