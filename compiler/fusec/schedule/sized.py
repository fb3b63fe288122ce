"""A problem of a kernel family as a function of the sizes in it.

In: a problem in which each size is a prime of its own. Out: a `Sized`, whose numbers are products
of these sizes; `at` gives the problem for other sizes. What is shared in the problem stays shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar, cast

from xdsl.ir import Attribute, Operation, SSAValue

from fusec.hw import Target
from fusec.schedule.axes import Axes
from fusec.schedule.plan_tables import Tilings, kept_of, ports_of
from fusec.schedule.ports import Lie
from fusec.schedule.program import Program

SMALL = 16
"""Sizes up to this are numbers like others: they decide what is small."""

PRIMES = (10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079, 10091, 10093, 10099, 10103)
"""Stand for sizes; more different sizes are not told apart. No product of a few small sizes is one
of them, or the sum of two."""

T = TypeVar("T")
Memo = dict[int, object]
Make = Callable[[Sequence[int], Memo], Any]
"""Makes a part of a problem for sizes; what was made already is found by its number."""


class NoTemplate(Exception):
    """A number that is no product of sizes."""


class Monomial(NamedTuple):
    """`factor` times the sizes of these numbers."""

    factor: int
    sizes: tuple[int, ...]

    def of(self, sizes: Sequence[int]) -> int:
        """Its value."""
        found = self.factor
        for number in self.sizes:
            found *= sizes[number]
        return found

    @classmethod
    def find(cls, value: int) -> Monomial:
        """Of a number made of PRIMES; raises NoTemplate."""
        sizes: list[int] = []
        rest = value
        for number, prime in enumerate(PRIMES):
            while rest and rest % prime == 0:
                rest //= prime
                sizes.append(number)
        if not -1 <= rest <= SMALL**3:
            raise NoTemplate
        return cls(rest, tuple(sizes))


def monomials(values: Iterable[int]) -> tuple[Monomial, ...]:
    """One for each; raises NoTemplate."""
    return tuple(map(Monomial.find, values))


class SizedProgram:
    """A vector program with sizes of axes, and strides of ports by axis, as monomials."""

    def __init__(self, program: Program, target: Target) -> None:
        ports = ports_of(program)
        if any(port.picked is not None or port.offset for port in ports):
            raise NoTemplate
        self.program = program
        self._target = target
        self._sizes = monomials(program.axes.sizes)
        self._strides = [
            {axis: Monomial.find(stride) for axis, stride in port.strides.items()} for port in ports
        ]
        self._kept = kept_of(program, target)

    def tilings(self, sizes: Sequence[int]) -> Tilings:
        """Those of the program with these sizes."""
        made = tuple([s.of(sizes) for s in self._sizes])
        lies = [Lie({a: s.of(sizes) for a, s in one.items()}, one.keys()) for one in self._strides]
        return Tilings(self.program, self._target, (made, lies, self._kept))

    def at(self, sizes: Sequence[int]) -> Program:
        """The program for these sizes; its axes know no graph values."""
        old = self.program
        made = {
            id(port): replace(port, strides={a: s.of(sizes) for a, s in one.items()})
            for port, one in zip(ports_of(old), self._strides, strict=True)
        }
        steps = [s if s.port is None else replace(s, port=made[id(s.port)]) for s in old.steps]
        axes = Axes(tuple(s.of(sizes) for s in self._sizes), {}, {}, (), old.axes.spaces)
        found = Program(axes, old.vals, steps, old.resident, old.resident_value)
        found.kept = self._kept
        return found


class Sized(Generic[T]):
    """A problem: numbers, tuples, mappings, and frozen dataclasses of these, vector programs."""

    def __init__(self, problem: T, target: Target) -> None:
        """Raises NoTemplate where a number is no product of sizes."""
        self._problem = problem
        self._target = target
        self._done: dict[int, Make | None] = {}
        self._make = self._of(problem)

    def at(self, sizes: Sequence[int]) -> T:
        """The problem for these sizes."""
        return self._problem if self._make is None else self._make(sizes, {})

    def _of(self, part: object) -> Make | None:
        """What makes a part; None where it has no sizes."""
        if isinstance(part, bool | float | str | Operation | SSAValue | Attribute):
            return None
        if isinstance(part, int):
            found = Monomial.find(part)
            return (lambda sizes, memo: found.of(sizes)) if found.sizes else None
        if id(part) not in self._done:
            self._done[id(part)] = self._shared(part)
        return self._done[id(part)]

    def _shared(self, part: object) -> Make | None:
        make = self._compound(part)
        if make is None:
            return None

        def once(sizes: Sequence[int], memo: Memo) -> object:
            if id(part) not in memo:
                memo[id(part)] = make(sizes, memo)
            return memo[id(part)]

        return once

    def _compound(self, part: object) -> Make | None:
        if isinstance(part, Program):
            sized = SizedProgram(part, self._target)
            return lambda sizes, memo: sized.at(sizes)
        if isinstance(part, tuple | list):
            return self._sequence(cast("tuple[object, ...] | list[object]", part))
        if isinstance(part, Mapping):
            return self._mapping(cast("Mapping[object, object]", part))
        if is_dataclass(part) and not isinstance(part, type):
            return self._record(part)
        return None

    def _sequence(self, part: tuple[object, ...] | list[object]) -> Make | None:
        makes = [self._of(one) for one in part]
        if not any(makes):
            return None
        whole: Callable[[list[object]], object] = getattr(type(part), "_make", type(part))
        pairs = list(zip(part, makes, strict=True))
        return lambda sizes, memo: whole(
            [one if make is None else make(sizes, memo) for one, make in pairs]
        )

    def _mapping(self, part: Mapping[object, object]) -> Make | None:
        makes = [(key, one, self._of(key), self._of(one)) for key, one in part.items()]
        if not any(key or one for _, _, key, one in makes):
            return None
        return lambda sizes, memo: {
            (key if new_key is None else new_key(sizes, memo)): (
                one if new is None else new(sizes, memo)
            )
            for key, one, new_key, new in makes
        }

    def _record(self, part: Any) -> Make | None:
        named = [(f.name, self._of(getattr(part, f.name))) for f in fields(part) if f.init]
        changed = [(name, make) for name, make in named if make is not None]
        if not changed:
            return None
        return lambda sizes, memo: replace(
            part, **{name: make(sizes, memo) for name, make in changed}
        )
