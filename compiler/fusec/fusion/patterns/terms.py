"""Expressions of operators as data: what a word of a pattern looks like, found and built.

A term is an operator with its operands' terms, a number, or a name. `x` is the value that the
expression stands on; `$name` a constant of one element; `%name` a value that is known before the
model runs; any other name any value. A name stands for one value wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from typing import TypeAlias

from xdsl.ir import SSAValue

from fusec.fusion.dag import Dag
from fusec.rewrite.match import COMMUTATIVE, is_number
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.base import python_value


@dataclass(frozen=True, eq=False, repr=False)
class Apply:
    """An operator on terms. `attrs` have to be equal, None to be absent; others are free.

    One object stands for one operator wherever it is used; two that look alike may be two.
    """

    op: str
    operands: tuple[Term, ...]
    attrs: tuple[tuple[str, AttrValue], ...] = ()

    def __repr__(self) -> str:
        """Operands by the names of their operators: the whole could be exponentially long."""
        operands = (t.op if isinstance(t, Apply) else t for t in self.operands)
        return f"{self.op}({', '.join(map(str, operands))})"


Term: TypeAlias = "Apply | str | float"


def apply(op: str, *operands: Term, **attrs: AttrValue) -> Apply:
    """The term of an operator."""
    return Apply(op, operands, tuple(attrs.items()))


@dataclass(frozen=True)
class Found:
    """Values by name, and the number of the operator that each part of an expression is."""

    values: Mapping[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    at: Mapping[Apply, int] = field(default_factory=dict[Apply, int])

    @property
    def ops(self) -> frozenset[int]:
        return frozenset(self.at.values())


def find(dag: Dag, root: int, term: Apply, values: Mapping[str, SSAValue]) -> Found | None:
    """How `root` is this expression, `values` being known already; None where it is not."""
    return next(_apply(dag, root, term, Found(values)), None)


def is_private(dag: Dag, root: int, found: Found) -> bool:
    """Whether nothing outside of an expression uses a value inside of it, but for its root's."""
    ops = found.ops
    return all(user in ops for i in ops if i != root for user in dag.users[i])


def _apply(dag: Dag, i: int, term: Apply, found: Found) -> Iterator[Found]:
    if (known := found.at.get(term)) is not None:
        if known == i:
            yield found
        return
    op = dag.ops[i]
    if dag.names[i] != term.op or len(op.operands) != len(term.operands):
        return
    for key, value in term.attrs:
        given = op.properties.get(key)
        if not _equal(None if given is None else python_value(given), value):
            return
    inside = Found(found.values, {**found.at, term: i})
    operands = list(zip(op.operands, dag.operands[i], strict=True))
    yield from _operands(dag, operands, term.operands, inside)
    if term.op in COMMUTATIVE and term.operands[0] != term.operands[-1]:
        yield from _operands(dag, operands[::-1], term.operands, inside)


def _equal(found: AttrValue, wanted: AttrValue) -> bool:
    """Numbers as exporters write them: to the precision of f32."""
    if isinstance(found, float) and isinstance(wanted, float):
        return isclose(found, wanted, rel_tol=1e-6)
    return found == wanted


def _operands(
    dag: Dag, operands: Sequence[tuple[SSAValue, int]], terms: Sequence[Term], found: Found
) -> Iterator[Found]:
    if not terms:
        yield found
        return
    (value, owner), term = operands[0], terms[0]
    for first in _operand(dag, value, owner, term, found):
        yield from _operands(dag, operands[1:], terms[1:], first)


def _operand(dag: Dag, value: SSAValue, owner: int, term: Term, found: Found) -> Iterator[Found]:
    if isinstance(term, Apply):
        if owner >= 0:
            yield from _apply(dag, owner, term, found)
        return
    if not isinstance(term, str):
        if is_number(value, term):
            yield found
        return
    known = found.values.get(term)
    if known is not None:
        if known is value:
            yield found
        return
    if term[0] == "$" and not (owner >= 0 and dag.is_inline(owner)):
        return
    if term[0] == "%" and not dag.is_known(value):
        return
    yield Found({**found.values, term: value}, found.at)
