"""What two groups have in common that differ in sizes and names alone, and their sizes.

In: the operators of a function as numbers. Out: for a group a hashable key of operators, types and
edges, in which sizes above SMALL are numbered, and the sizes by that number: equal keys with equal
sizes are equal groups, equal keys share a template (see `schedule.templates`) where they are sized.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from fusec.fusion.dag import Dag
from fusec.schedule.sized import SMALL
from fusec.schedule.templates import has_template
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import dims_of

Sizes = tuple[int, ...]


class Form(NamedTuple):
    """A group without its sizes; `sized`: all of its operators may be in a template."""

    sized: bool
    rows: tuple[int | Sizes, ...]
    ends: tuple[int, ...]


class _Value(NamedTuple):
    """A value by number, with its type by number and its sizes; `rest`: what else is asked."""

    number: int
    type: int
    dims: Sizes


class _Facts(NamedTuple):
    """An operator by number; operands that are inline constants go by theirs alone. `sized`: it may
    be in a template."""

    sized: bool
    kind: int
    operands: tuple[_Value | int, ...]
    results: tuple[_Value, ...]


@dataclass(eq=False)
class GroupKeys:
    """The keys of the groups of one function; `numbers` of operators with their attributes, element
    types and constants are those of all functions whose keys are compared."""

    dag: Dag
    numbers: dict[object, int]
    _values: dict[SSAValue, _Value | None] = field(default_factory=dict[SSAValue, "_Value | None"])
    _facts: dict[int, _Facts | None] = field(default_factory=dict[int, "_Facts | None"])

    def key(
        self, ops: Iterable[int], outputs: Iterable[tuple[int, int]]
    ) -> tuple[Form, Sizes] | None:
        """Key and sizes of a group of these operators, in order; None where some are not known."""
        numbers: dict[int, int] = {}
        symbols: dict[int, int] = {}
        rows: list[int | Sizes] = []
        sized = True
        for i in ops:
            facts = self._facts[i] if i in self._facts else self._find(i)
            if facts is None:
                return None
            sized = sized and facts.sized
            rows.append(facts.kind)
            for value in (*facts.operands, *facts.results):
                if isinstance(value, int):
                    rows.append(value)
                    continue
                number = numbers.get(value.number)
                if number is not None:
                    rows.append(number)
                    continue
                numbers[value.number] = -len(numbers) - 1
                rows.append(value.type)
                rows.append(
                    tuple(
                        [
                            d if d <= SMALL else -symbols.setdefault(d, len(symbols)) - 1
                            for d in value.dims
                        ]
                    )
                )
        ends = tuple([numbers[self._result(i, r)] for i, r in outputs])
        return Form(sized, tuple(rows), ends), tuple(symbols)

    def _number(self, thing: object) -> int:
        return self.numbers.setdefault(thing, len(self.numbers))

    def _result(self, i: int, r: int) -> int:
        facts = self._facts[i]
        return -1 if facts is None else facts.results[r].number

    def _find(self, i: int) -> _Facts | None:
        found = self._facts[i] = self._make(i)
        return found

    def _make(self, i: int) -> _Facts | None:
        dag, op = self.dag, self.dag.ops[i]
        operands: list[_Value | int] = []
        for value, owner in zip(op.operands, dag.operands[i], strict=True):
            if owner >= 0 and dag.is_inline(owner):
                constant = dag.ops[owner]
                operands.append(self._number((*constant.properties.items(), value.type)))
                continue
            found = self._value(value)
            if found is None:
                return None
            operands.append(found)
        results = [self._value(r) for r in op.results]
        if any(r is None for r in results):
            return None
        kind = self._number((op.name, len(operands), *sorted(op.properties.items())))
        made = tuple(r for r in results if r is not None)
        return _Facts(has_template(op), kind, tuple(operands), made)

    def _value(self, value: SSAValue) -> _Value | None:
        if value not in self._values:
            self._values[value] = self._new(value)
        return self._values[value]

    def _new(self, value: SSAValue) -> _Value | None:
        if not isinstance(value.type, TensorType):
            return None
        type_ = tensor_type(value)
        dims = dims_of(type_)
        sizes = tuple(d for d in dims if isinstance(d, int))
        if len(sizes) < len(dims):
            return None
        asked = (type_.element_type, self.dag.is_known(value), value in self.dag.last)
        return _Value(len(self._values), self._number(asked), sizes)
