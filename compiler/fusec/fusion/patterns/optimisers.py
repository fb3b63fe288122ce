"""Updates of an optimiser: new weights, and what it remembers, from a gradient.

What is remembered is a result as well. Scalars are numbers or values of one element.
"""

from __future__ import annotations

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.cores import Check, Core, Words
from fusec.fusion.patterns.terms import Apply, Found, Term, apply
from fusec_dialects.graph.base import tensor_type

SCALARS = frozenset(
    ["rate", "decay", "momentum", "beta1", "beta2", "gamma1", "gamma2", "epsilon", "kept"]
)
"""Names that stand for values of one element."""


def _descended(step: Term) -> Apply:
    return apply("sub", "w", apply("mul", step, "rate"))


_DECAYED = apply("add", "g", apply("mul", "w", "decay"))
"""The gradient with weight decay."""


def _velocity(gradient: Term) -> Apply:
    return apply("add", apply("mul", "v", "momentum"), gradient)


def _mean(old: str, beta: str, gamma: str, new: Term) -> Apply:
    """beta old + gamma new."""
    return apply("add", apply("mul", old, beta), apply("mul", new, gamma))


def _updates() -> dict[Words, tuple[Apply, tuple[Apply, ...]]]:
    """Each update's new weights, and what of it is remembered."""
    found: dict[Words, tuple[Apply, tuple[Apply, ...]]] = {}
    for name, gradient in ((), "g"), (("decay",), _DECAYED):
        found["sgd", *name] = _descended(gradient), ()
        v = _velocity(gradient)
        found["momentum", *name] = _descended(v), (v,)
        nesterov = apply("add", gradient, apply("mul", v, "momentum"))
        found["nesterov", *name] = _descended(nesterov), (v,)
        m = _mean("m", "beta1", "gamma1", gradient)
        s = _mean("s", "beta2", "gamma2", apply("mul", gradient, gradient))
        step = apply("div", m, apply("add", apply("sqrt", s), "epsilon"))
        found["adam", *name] = _descended(step), (m, s)
        total = apply("add", "s", apply("mul", gradient, gradient))
        slowed = apply("div", gradient, apply("add", apply("sqrt", total), "epsilon"))
        found["adagrad", *name] = _descended(slowed), (total,)
        mean = _mean("s", "beta2", "gamma2", apply("mul", gradient, gradient))
        even = apply("div", gradient, apply("add", apply("sqrt", mean), "epsilon"))
        found["rmsprop", *name] = _descended(even), (mean,)
    m, s = (
        _mean("m", "beta1", "gamma1", "g"),
        _mean("s", "beta2", "gamma2", apply("mul", "g", "g")),
    )
    step = apply("div", m, apply("add", apply("sqrt", s), "epsilon"))
    shrunk = apply("sub", apply("mul", "w", "kept"), apply("mul", step, "rate"))
    found["adamw",] = shrunk, (m, s)
    return found


def _is_update(kept: tuple[Apply, ...]) -> Check:
    """Whether the new weights and what is remembered leave the model, and everything has their
    shape but the scalars."""

    def check(dag: Dag, root: int, found: Found) -> bool:
        shape = tensor_type(dag.ops[root].results[0]).get_shape()
        if dag.users[root] != [-1] or any(-1 not in dag.users[found.at[t]] for t in kept):
            return False
        for name, value in found.values.items():
            size = tensor_type(value).get_shape()
            if size != shape and (name not in SCALARS or any(n != 1 for n in size)):
                return False
        return True

    return check


OPTIMISERS: dict[Words, Core] = {
    words: Core(
        "optimiser",
        (root,),
        check=_is_update(kept),
        escapes=frozenset(kept),
        meaning="new weights, and what is remembered, in one pass over them",
    )
    for words, (root, kept) in _updates().items()
}
"""Updates by their words."""
