"""Schedules as data: the base of each family's schedule type, its attribute, and refusals.

A schedule is a frozen dataclass of plain values; `to_attr` and `from_attr` turn it into
`#npu.schedule<"family", {...}>` and back. A refusal is what a region gets instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from typing import ClassVar, Self, TypeAlias

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.utils.exceptions import VerifyException

from fusec_dialects.graph.base import attribute, python_value
from fusec_dialects.npu.attrs import ScheduleAttr

Number: TypeAlias = int | float | str | tuple[int, ...]


@dataclass(frozen=True)
class Refusal:
    """Why a region has no schedule: an identifier, a sentence with advice, numbers behind it."""

    reason: str
    message: str
    numbers: Mapping[str, Number] = field(default_factory=dict[str, Number])

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"


class RefusalError(Exception):
    """A refusal on its way up to whoever asked for a schedule (never leaves this package)."""

    def __init__(
        self, reason: str, message: str, numbers: Mapping[str, Number] | None = None
    ) -> None:
        super().__init__(message)
        self.refusal = Refusal(reason, message, numbers or {})


class ScheduleError(VerifyException):
    """A schedule attribute that a user wrote and that its family or the target does not allow."""


_KINDS: dict[str, tuple[type[object], ...]] = {
    "int": (int,),
    "bool": (bool,),
    "str": (str,),
    "float": (float, int),
    "tuple[int, ...]": (tuple,),
}
"""What the fields of a schedule may be declared as, and the Python types that they take."""


@dataclass(frozen=True)
class Schedule:
    """Base of the schedules; subclasses are frozen dataclasses of int, bool, str, float, tuples."""

    family: ClassVar[str] = ""

    def to_attr(self) -> ScheduleAttr:
        """`#npu.schedule<"family", {every field}>`."""
        values = {f.name: attribute(getattr(self, f.name)) for f in fields(self)}
        return ScheduleAttr(StringAttr(self.family), DictionaryAttr(values))

    @classmethod
    def from_attr(cls, attr: ScheduleAttr) -> Self:
        """The schedule that an attribute describes; raises ScheduleError for one that cannot be."""
        if attr.family.data != cls.family:
            raise ScheduleError(f"a '{attr.family.data}' schedule where '{cls.family}' is needed")
        given = {key: python_value(value) for key, value in attr.values.data.items()}
        declared = {f.name: f for f in fields(cls)}
        for key in given.keys() - declared.keys():
            near = get_close_matches(key, declared, n=1)
            advice = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(declared)}"
            raise ScheduleError(f"a '{cls.family}' schedule has no '{key}'; {advice}")
        for name, f in declared.items():
            if name in given:
                declared_as = f.type.__name__ if isinstance(f.type, type) else str(f.type)
                _check(cls.family, name, declared_as, given[name])
            elif f.default is MISSING and f.default_factory is MISSING:
                raise ScheduleError(f"a '{cls.family}' schedule needs '{name}' ({f.type})")
        return cls(**given)


def _check(family: str, name: str, declared: str, value: object) -> None:
    if isinstance(value, _KINDS[declared]) and (declared == "bool") == isinstance(value, bool):
        return
    raise ScheduleError(f"'{name}' of a '{family}' schedule is {value!r}, expected {declared}")
