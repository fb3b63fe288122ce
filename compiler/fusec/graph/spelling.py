"""Rules that are tables: spellings of an operator of one operand, as expressions.

A spelling names its operand "x"; other names are scalar constants, which become attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from fusec.graph.query import attr
from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import Captures, Pattern, Table, scalar_of
from fusec_dialects.graph import AttrValue, GraphOp

Attributes = Callable[[Mapping[str, float], Captures], "dict[str, AttrValue] | None"]
"""The attributes of the operator from the named constants; None where the spelling is another."""


@dataclass(frozen=True)
class Spelling:
    """One way to write `operator`; `label` says what of the numbers it keeps (design, section 4).

    `limits` are the `min` and `max` of the clip inside of the pattern, where there is one.
    """

    operator: str
    pattern: Pattern
    label: str = "reorder"
    attrs: Attributes = lambda numbers, found: dict(numbers)
    limits: tuple[float | None, float | None] | None = None


def constant_attrs(**attrs: AttrValue) -> Attributes:
    """The same attributes whatever was found."""
    return lambda numbers, found: dict(attrs)


def rules_of(name: str, spellings: Sequence[Spelling]) -> tuple[Rule, ...]:
    """One rule for each root operator, which tries its spellings in order."""
    table = Table((spelling.pattern, spelling) for spelling in spellings)

    def apply(op: GraphOp, rewriter: Rewriter) -> bool:
        for found, spelling in table.matches(op):
            rewriter.found = True
            if _apply(spelling, op, found, rewriter):
                return True
        return False

    return tuple(Rule(f"{name}-{root}", (f"graph.{root}",), apply) for root in table.roots)


def _apply(spelling: Spelling, op: GraphOp, found: Captures, rewriter: Rewriter) -> bool:
    if not _limited(spelling, found):
        return False
    x, types = found.values["x"], [op.results[0].type]
    numbers = {k: scalar_of(v) for k, v in found.values.items() if k != "x"}
    known = {k: v for k, v in numbers.items() if v is not None and isfinite(v)}
    if x.type != types[0] or len(known) < len(numbers):
        return False
    attrs = spelling.attrs(known, found)
    if attrs is None:
        return False
    return rewriter.replace(rewriter.build(spelling.operator, [x], attrs, types))


def _limited(spelling: Spelling, found: Captures) -> bool:
    if spelling.limits is None:
        return True
    clips = [o for o in found.ops if isinstance(o, GraphOp) and o.op_name == "clip"]
    return all(limits_of(clip) == spelling.limits for clip in clips)


def limits_of(clip: GraphOp) -> tuple[float | None, float | None]:
    """`min` and `max` of a clip, None where there is none."""
    low, high = (attr(clip, key) if key in clip.properties else None for key in ("min", "max"))
    return (
        float(low) if isinstance(low, int | float) else None,
        float(high) if isinstance(high, int | float) else None,
    )
