"""What one entry of the table is made of: attributes, the call with everything checked, the error.

A `Call` that exists has the right number of inputs, known element types, and every attribute of
the specification with the right kind, so the operators check only shapes and values.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from typing import TypeAlias, cast

import numpy as np

from fusec.semantics.dtypes import DATA_TYPES, FLOAT64, Array, DType, is_floating, np_dtype

AttrValue: TypeAlias = int | float | bool | str | tuple[int, ...] | tuple[float, ...]
Shape: TypeAlias = tuple[int, ...]


class SemanticsError(ValueError):
    """An operator that has no meaning: which one, why, and what would be right."""

    def __init__(self, operator: str, cause: str, advice: str):
        super().__init__(f"{operator}: {cause}; {advice}")
        self.operator = operator
        self.cause = cause
        self.advice = advice


class Kind(Enum):
    """What an attribute holds; the value is how an error message says it."""

    INT = "an int"
    FLOAT = "a float"
    NUMBER = "an int, a float or a bool"
    BOOL = "a bool"
    TEXT = "a str"
    DTYPE = "the name of an element type"
    INTS = "a tuple of ints"


@dataclass(frozen=True, slots=True)
class Attr:
    """One attribute of an operator. Without a default it must be given."""

    kind: Kind
    default: AttrValue | None = None
    choices: tuple[str, ...] = ()


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _fits(attr: Attr, value: AttrValue) -> bool:
    match attr.kind:
        case Kind.INT:
            return _is_int(value)
        case Kind.FLOAT:
            return isinstance(value, float) or _is_int(value)
        case Kind.NUMBER:
            return isinstance(value, int | float)
        case Kind.BOOL:
            return isinstance(value, bool) or (_is_int(value) and value in (0, 1))
        case Kind.TEXT:
            return isinstance(value, str)
        case Kind.DTYPE:
            return value in DATA_TYPES or value == attr.default
        case Kind.INTS:
            return isinstance(value, tuple) and all(_is_int(item) for item in value)


@dataclass(frozen=True, slots=True)
class Call:
    """One operator applied to values: inputs and attributes, checked."""

    name: str
    inputs: tuple[Array | None, ...]
    attrs: Mapping[str, AttrValue]
    oracle: bool = False

    def error(self, cause: str, advice: str) -> SemanticsError:
        return SemanticsError(self.name, cause, advice)

    def array(self, index: int) -> Array:
        array = self.inputs[index]
        if array is None:
            raise self.error(f"input {index} is absent", "only a trailing optional input may be")
        return array

    def optional(self, index: int) -> Array | None:
        return self.inputs[index] if index < len(self.inputs) else None

    def arrays(self) -> list[Array]:
        """All inputs, of an operator that has no optional ones."""
        return [self.array(index) for index in range(len(self.inputs))]

    def int_(self, name: str) -> int:
        return cast(int, self.attrs[name])

    def float_(self, name: str) -> float:
        return float(cast(float, self.attrs[name]))

    def number(self, name: str) -> int | float | bool:
        return cast(float, self.attrs[name])

    def bool_(self, name: str) -> bool:
        return bool(self.attrs[name])

    def text(self, name: str) -> str:
        return cast(str, self.attrs[name])

    def ints(self, name: str) -> tuple[int, ...]:
        return cast("tuple[int, ...]", self.attrs[name])

    def dtype(self, name: str, otherwise: DType | None = None) -> DType:
        """The element type that attribute `name` says; `otherwise` if it is empty."""
        text = self.text(name)
        if text == "":
            if otherwise is None:
                raise self.error(f"attribute '{name}' is empty", f"give {Kind.DTYPE.value}")
            return otherwise
        return np_dtype(text)

    def axis(self, rank: int, value: int | None = None) -> int:
        """Attribute `axis` (or `value`) as an index in 0..rank-1; negative counts from the end."""
        axis = self.int_("axis") if value is None else value
        if not -rank <= axis < rank:
            raise self.error(
                f"axis {axis} is outside a tensor of rank {rank}", f"use {-rank}..{rank - 1}"
            )
        return axis % rank

    def axes(self, rank: int, values: Sequence[int] | None = None) -> tuple[int, ...]:
        """Attribute `axes` (or `values`) as distinct indices in 0..rank-1, in the given order."""
        given = self.ints("axes") if values is None else values
        axes = tuple(self.axis(rank, value) for value in given)
        if len(set(axes)) != len(axes):
            raise self.error(f"axes {tuple(given)} name an axis twice", "name each axis once")
        return axes

    def same_dtype(self, arrays: Sequence[Array]) -> DType:
        """The one element type of all `arrays`."""
        names = [array.dtype.name for array in arrays]
        if len(set(names)) > 1:
            raise self.error(f"element types differ: {', '.join(names)}", "cast to one of them")
        return arrays[0].dtype

    def numeric(self, array: Array) -> Array:
        if array.dtype == np.bool_:
            raise self.error("has no meaning on bool", "cast to an integer type, or use and/or/xor")
        return array

    def floating(self, array: Array) -> Array:
        if not is_floating(array.dtype):
            raise self.error(f"has no meaning on {array.dtype.name}", "cast to a floating type")
        return array

    def rank(self, array: Array, least: int, what: str) -> int:
        """The rank of `array`, at least `least`."""
        if array.ndim < least:
            raise self.error(
                f"{what} has rank {array.ndim} (shape {array.shape})", f"give rank {least} or more"
            )
        return array.ndim

    def broadcast(self, *shapes: Shape) -> Shape:
        """The common shape under numpy's rules."""
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            text = ", ".join(map(str, shapes))
            raise self.error(
                f"shapes {text} do not broadcast", "sizes must agree from the right or be 1"
            ) from None

    def broadcast_into(self, shape: Shape, target: Shape, what: str) -> None:
        """Check that `shape` broadcasts to `target` without making it larger."""
        if len(shape) > len(target) or self.broadcast(shape, target) != target:
            raise self.error(
                f"{what} of shape {shape} would enlarge a result of shape {target}",
                "it must broadcast one way",
            )


@dataclass(frozen=True, slots=True)
class Semantic:
    """The meaning of one operator.

    `compute` takes a checked call and gives the results; it may return views of its inputs.
    `least` inputs are required, `most` allowed (None: any number); the rest may be None.
    """

    compute: Callable[[Call], list[Array]]
    least: int = 1
    most: int | None = 1
    attrs: Mapping[str, Attr] = field(default_factory=dict[str, Attr])

    def bind(
        self,
        name: str,
        inputs: Sequence[Array | None],
        attrs: Mapping[str, AttrValue],
        oracle: bool,
    ) -> Call:
        """The checked call. With `oracle`, floating inputs and type attributes become float64."""
        bound = self.bind_attrs(name, attrs)
        if not self.least <= len(inputs) or (self.most is not None and len(inputs) > self.most):
            raise SemanticsError(
                name,
                f"got {len(inputs)} inputs",
                f"it takes {self._counts()}; an absent one is None",
            )
        arrays = tuple(_checked(name, index, array, oracle) for index, array in enumerate(inputs))
        if any(array is None for array in arrays[: self.least]):
            raise SemanticsError(name, "a required input is None", f"it takes {self._counts()}")
        if oracle:
            bound = {key: _as_oracle(self.attrs[key], value) for key, value in bound.items()}
        return Call(name, arrays, bound, oracle)

    def bind_attrs(self, name: str, attrs: Mapping[str, AttrValue]) -> dict[str, AttrValue]:
        """`attrs` checked against the specification and completed with its defaults."""
        bound: dict[str, AttrValue] = {}
        for key in attrs:
            if key not in self.attrs:
                raise SemanticsError(name, f"unknown attribute '{key}'", nearest(key, self.attrs))
        for key, attr in self.attrs.items():
            value = attrs.get(key, attr.default)
            if value is None:
                raise SemanticsError(
                    name, f"attribute '{key}' is missing", f"give {attr.kind.value}"
                )
            if not _fits(attr, value):
                raise SemanticsError(
                    name, f"attribute '{key}' is {value!r}", f"give {attr.kind.value}"
                )
            if attr.choices and value not in attr.choices:
                raise SemanticsError(
                    name, f"attribute '{key}' is {value!r}", f"use one of {', '.join(attr.choices)}"
                )
            bound[key] = value
        return bound

    def _counts(self) -> str:
        if self.most is None:
            return f"{self.least} or more"
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


def nearest(word: str, words: Mapping[str, object]) -> str:
    """Advice after a name that does not exist."""
    close = get_close_matches(word, words, n=1)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"use one of {', '.join(words)}" if words else "it takes none"


def _checked(name: str, index: int, array: Array | None, oracle: bool) -> Array | None:
    if array is None:
        return None
    array = np.asarray(array)
    if array.dtype.name not in DATA_TYPES:
        raise SemanticsError(
            name, f"input {index} has element type {array.dtype}", f"use {', '.join(DATA_TYPES)}"
        )
    return array.astype(np.float64) if oracle and is_floating(array.dtype) else array


def _as_oracle(attr: Attr, value: AttrValue) -> AttrValue:
    if attr.kind is not Kind.DTYPE or not isinstance(value, str) or value == "":
        return value
    return FLOAT64.name if is_floating(np_dtype(value)) else value
