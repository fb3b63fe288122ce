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


def find(
    dag: Dag,
    root: int,
    term: Apply,
    values: Mapping[str, SSAValue],
    *,
    through: bool = False,
) -> Found | None:
    """How `root` is this expression, `values` being known already; None where it is not.

    With `through`, views that the expression does not have may stand between its operators.
    """
    return next(_Search(dag, through).apply(root, term, Found(values)), None)


def is_private(dag: Dag, root: int, found: Found, escapes: frozenset[Apply] = frozenset()) -> bool:
    """Whether nothing outside of an expression uses a value inside of it, but for those of its root
    and of the terms that may escape; views between its operators are not outside."""
    ops = found.ops
    free = {root, *(found.at[term] for term in escapes)}
    return all(user in ops for i in ops if i not in free for user in readers(dag, i, ops))


def readers(dag: Dag, i: int, inside: frozenset[int] = frozenset()) -> Iterator[int]:
    """Who reads an operator's results, through views that are not `inside`."""
    stack = [i]
    while stack:
        for user in dag.users[stack.pop()]:
            if user >= 0 and user not in inside and dag.is_view(user):
                stack.append(user)
            else:
                yield user


@dataclass(frozen=True)
class _Search:
    """Finds every way in which operators of a function are an expression."""

    dag: Dag
    through: bool

    def apply(self, i: int, term: Apply, found: Found) -> Iterator[Found]:
        if (known := found.at.get(term)) is not None:
            if known == i:
                yield found
            return
        dag, op = self.dag, self.dag.ops[i]
        if dag.names[i] != term.op or len(op.operands) != len(term.operands):
            return
        for key, value in term.attrs:
            given = op.properties.get(key)
            if not _equal(None if given is None else python_value(given), value):
                return
        inside = Found(found.values, {**found.at, term: i})
        operands = list(zip(op.operands, dag.operands[i], strict=True))
        yield from self._operands(operands, term.operands, inside)
        if term.op in COMMUTATIVE and term.operands[0] != term.operands[-1]:
            yield from self._operands(operands[::-1], term.operands, inside)

    def _operands(
        self, operands: Sequence[tuple[SSAValue, int]], terms: Sequence[Term], found: Found
    ) -> Iterator[Found]:
        if not terms:
            yield found
            return
        (value, owner), term = operands[0], terms[0]
        for first in self._operand(value, owner, term, found):
            yield from self._operands(operands[1:], terms[1:], first)

    def _operand(self, value: SSAValue, owner: int, term: Term, found: Found) -> Iterator[Found]:
        dag = self.dag
        if isinstance(term, Apply):
            if self.through and owner >= 0 and dag.is_view(owner) and not dag.is_constant(owner):
                owner = dag.root(owner)
            if owner >= 0:
                yield from self.apply(owner, term, found)
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


def _equal(found: AttrValue, wanted: AttrValue) -> bool:
    """Numbers as exporters write them: to the precision of f32."""
    if isinstance(found, float) and isinstance(wanted, float):
        return isclose(found, wanted, rel_tol=1e-6)
    return found == wanted


def needs(term: Apply) -> frozenset[str]:
    """The operators that compute operands of an expression's last one."""
    return frozenset(t.op for t in term.operands if isinstance(t, Apply))


def sources(dag: Dag, i: int) -> set[str]:
    """The operators that compute an operator's operands, those behind views as well."""
    owners = dag.operands[i]
    names = {dag.names[o] for o in owners if o >= 0}
    return names.union(dag.names[dag.root(o)] for o in owners if dag.root(o) >= 0)


def size_of(term: Term) -> int:
    """How many operators an expression has, those that stand in several places once."""
    return len(applied(term))


def applied(term: Term) -> frozenset[Apply]:
    """The operators of an expression."""
    if not isinstance(term, Apply):
        return frozenset()
    return frozenset({term}).union(*map(applied, term.operands))


def replaced(term: Term, name: str, by: Term, made: dict[Apply, Apply] | None = None) -> Term:
    """An expression with another one in place of a name; shared operators stay shared."""
    done: dict[Apply, Apply] = {} if made is None else made
    if not isinstance(term, Apply):
        return by if term == name else term
    if term not in done:
        operands = tuple(replaced(t, name, by, done) for t in term.operands)
        done[term] = Apply(term.op, operands, term.attrs)
    return done[term]
