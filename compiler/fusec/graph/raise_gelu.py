"""GELU from its spellings: x Phi(x) by erf, and the tanh approximation, in the orders exporters
write.
"""

from __future__ import annotations

from math import pi, sqrt

from fusec.graph.spelling import Spelling, constant_attrs, rules_of
from fusec.rewrite.match import Pattern

_ERF_ARGUMENTS: tuple[Pattern, ...] = (("div", "x", sqrt(2.0)), ("mul", "x", 1.0 / sqrt(2.0)))


def _erf_spellings() -> tuple[Pattern, ...]:
    found: list[Pattern] = []
    for argument in _ERF_ARGUMENTS:
        one_plus: Pattern = ("add", ("erf", argument), 1.0)
        found += [
            ("mul", "x", ("mul", one_plus, 0.5)),
            ("mul", ("mul", "x", one_plus), 0.5),
            ("mul", ("mul", "x", 0.5), one_plus),
            ("div", ("mul", "x", one_plus), 2.0),
            ("mul", "x", ("div", one_plus, 2.0)),
            ("mul", ("div", "x", 2.0), one_plus),
            ("mul", "x", ("add", ("mul", ("erf", argument), 0.5), 0.5)),
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


def _spelled(approximate: str, spellings: tuple[Pattern, ...]) -> tuple[Spelling, ...]:
    attrs = constant_attrs(approximate=approximate)
    return tuple(Spelling("gelu", spelling, "reorder", attrs) for spelling in spellings)


GELU_RULES = (
    *rules_of("raise-gelu-erf", _spelled("none", _erf_spellings())),
    *rules_of("raise-gelu-tanh", _spelled("tanh", _tanh_spellings())),
)
