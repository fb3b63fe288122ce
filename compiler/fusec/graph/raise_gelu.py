"""GELU from its spellings: x Phi(x) by erf, and the tanh approximation, in the orders exporters
write.
"""

from __future__ import annotations

from math import pi, sqrt

from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import Pattern, is_private, match
from fusec_dialects.graph import GraphOp

_ERF_ARGUMENTS: tuple[Pattern, ...] = (("div", "x", sqrt(2.0)), ("mul", "x", 1.0 / sqrt(2.0)))


def _erf_spellings() -> tuple[Pattern, ...]:
    found: list[Pattern] = []
    for argument in _ERF_ARGUMENTS:
        one_plus: Pattern = ("add", ("erf", argument), 1.0)
        found += [
            ("mul", "x", ("mul", one_plus, 0.5)),
            ("mul", ("mul", "x", one_plus), 0.5),
            ("mul", ("mul", "x", 0.5), one_plus),
        ]
    return tuple(found)


_CUBES: tuple[Pattern, ...] = (
    ("pow", "x", 3.0),
    ("mul", ("mul", "x", "x"), "x"),
)


def _tanh_spellings() -> tuple[Pattern, ...]:
    c, a = sqrt(2.0 / pi), 0.044715
    inner: list[Pattern] = [("mul", ("add", "x", ("mul", cube, a)), c) for cube in _CUBES]
    for square in (("mul", ("mul", "x", "x"), a), ("mul", ("mul", "x", a), "x")):
        one_plus_square: Pattern = ("add", square, 1.0)
        inner.append(("mul", ("mul", "x", one_plus_square), c))
        inner.append(("mul", ("mul", "x", c), one_plus_square))
    found: list[Pattern] = []
    for argument in inner:
        one_plus: Pattern = ("add", ("tanh", argument), 1.0)
        found += [
            ("mul", ("mul", "x", 0.5), one_plus),
            ("mul", ("mul", "x", one_plus), 0.5),
            ("mul", "x", ("mul", one_plus, 0.5)),
        ]
    return tuple(found)


def _rule(name: str, spellings: tuple[Pattern, ...], approximate: str) -> Rule:
    def apply(op: GraphOp, rewriter: Rewriter) -> bool:
        for spelling in spellings:
            found = match(op.results[0], spelling)
            if found is None or not is_private(op, found):
                continue
            x, types = found.values["x"], [op.results[0].type]
            if x.type != types[0]:
                continue
            attrs = {"approximate": approximate}
            return rewriter.replace(rewriter.build("gelu", [x], attrs, types))
        return False

    return Rule(name, ("graph.mul",), apply)


GELU_RULES = (
    _rule("raise-gelu-erf", _erf_spellings(), "none"),
    _rule("raise-gelu-tanh", _tanh_spellings(), "tanh"),
)
