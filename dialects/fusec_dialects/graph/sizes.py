"""Sizes of tensors, known or named: the algebra under the shape rules.

A size is an int, or the name of a dynamic one ("?" where it has none; nothing is known of two "?").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .base import DimsAttr

Dim: TypeAlias = int | str
Shape: TypeAlias = tuple[Dim, ...]

UNNAMED = "?"


def dims_of(type_: TensorType) -> Shape:
    """Sizes of a tensor type, names for the dynamic ones.

    Raises VerifyException where `#graph.dims` contradicts the shape.
    """
    shape = tuple(UNNAMED if d == DYNAMIC_INDEX else d for d in type_.get_shape())
    if not isinstance(type_.encoding, DimsAttr):
        return shape
    dims = type_.encoding.values()
    plain = tuple(UNNAMED if isinstance(d, str) else d for d in dims)
    if plain != shape:
        raise VerifyException(
            f"#graph.dims<{text(dims)}> does not fit the shape {text(shape)}; "
            "give a name for each '?' and the size of every other axis"
        )
    return dims


@lru_cache(maxsize=1 << 14)
def make_type(element: Attribute, dims: Shape) -> TensorType:
    """The tensor type with these sizes; named dynamic sizes go into `#graph.dims`."""
    shape = [DYNAMIC_INDEX if isinstance(d, str) else d for d in dims]
    named = any(isinstance(d, str) and d != UNNAMED for d in dims)
    return TensorType(element, shape, DimsAttr.get(dims) if named else NoneAttr())


def text(dims: Sequence[Dim]) -> str:
    """`[N, 128]`, for messages."""
    return f"[{', '.join(map(str, dims))}]"


def agree(a: Dim, b: Dim) -> bool:
    """Whether two sizes may be equal."""
    return a == b or isinstance(a, str) or isinstance(b, str)


def all_agree(a: Shape, b: Shape) -> bool:
    """Whether two shapes may be equal."""
    return len(a) == len(b) and all(map(agree, a, b))


def certainly_equal(a: Shape, b: Shape) -> bool:
    """Whether two shapes are equal whatever the dynamic sizes are."""
    return a == b and UNNAMED not in a


def precise(a: Dim, b: Dim) -> Dim:
    """The more precise of two descriptions of one size; a number before a name, a before b."""
    if isinstance(b, int) or a == UNNAMED:
        return a if isinstance(a, int) else b
    return a


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from the front; raises VerifyException where there is none."""
    if not -rank <= axis < rank:
        raise VerifyException(
            f"axis {axis} is not one of a tensor of rank {rank}"
            + (f"; use {-rank} to {rank - 1}" if rank else "")
        )
    return axis % rank


def normal_axes(axes: Sequence[int], rank: int) -> list[int]:
    """Axes counted from the front, in order; raises VerifyException where one is named twice."""
    normal = [normal_axis(a, rank) for a in axes]
    if len(set(normal)) != len(normal):
        raise VerifyException(f"axes {list(axes)} name an axis twice")
    return normal


def broadcast(*shapes: Shape) -> Shape:
    """The numpy broadcast of shapes; raises VerifyException where sizes differ."""
    rank = max(map(len, shapes))
    result: list[Dim] = []
    for i in range(rank):
        sizes = {s[i - rank + len(s)] for s in shapes if i - rank + len(s) >= 0}
        others = sizes - {1}
        numbers = {s for s in others if isinstance(s, int)}
        if len(numbers) > 1:
            raise VerifyException(f"shapes {' and '.join(map(text, shapes))} do not broadcast")
        if numbers:
            result.append(numbers.pop())
        elif not others:
            result.append(1)
        else:
            result.append(others.pop() if len(others) == 1 else UNNAMED)
    return tuple(result)


def broadcasts_to(shape: Shape, target: Shape) -> bool:
    """Whether `shape` may broadcast to `target` without making it larger."""
    return len(shape) <= len(target) and all(
        s == 1 or agree(s, t)
        for s, t in zip(shape, target[len(target) - len(shape) :], strict=True)
    )


def _factors(dims: Shape) -> tuple[int, list[str]]:
    """The known factor of a number of elements, and the unknown ones, sorted."""
    number = prod(d for d in dims if isinstance(d, int))
    return (number, sorted(d for d in dims if isinstance(d, str))) if number else (0, [])


def product(dims: Shape) -> Dim:
    """The number of elements; the name of the only unknown size where all others are 1."""
    number, names = _factors(dims)
    if not names:
        return number
    return names[0] if number == 1 and len(names) == 1 else UNNAMED


def may_hold_as_many(a: Shape, b: Shape) -> bool:
    """Whether two shapes may have one number of elements."""
    (number, names), (other, others) = _factors(a), _factors(b)
    if names == others and UNNAMED not in names:
        return number == other
    return True


def quotient(total: Shape, known: Shape) -> Dim | None:
    """The size that multiplies `known` to the number of elements of `total`; None if there is none.

    UNNAMED where that depends on dynamic sizes.
    """
    (number, names), (divisor, divisors) = _factors(total), _factors(known)
    if divisor == 0:
        return None
    rest = list(names)
    for name in divisors:
        if name == UNNAMED or name not in rest:
            return UNNAMED
        rest.remove(name)
    if number % divisor:
        return UNNAMED if names else None
    return product((number // divisor, *rest))


def slice_bounds(size: int, start: int, end: int, step: int) -> range:
    """The positions that ONNX Slice takes of an axis of `size`; VerifyException on step 0.

    Negative `start` and `end` count from the end; then both are clamped into [0, size], for a
    negative `step` `start` into [0, size - 1] and `end` into [-1, size - 1].
    """
    if step == 0:
        raise VerifyException("a slice has no step of 0")
    start, end = (value + size if value < 0 else value for value in (start, end))
    if step > 0:
        return range(min(max(start, 0), size), min(max(end, 0), size), step)
    if size == 0:
        return range(0)
    return range(min(max(start, 0), size - 1), min(max(end, -1), size - 1), step)
