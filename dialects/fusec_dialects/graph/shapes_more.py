"""The shape rules of the operators in functions.py, composite.py and indexed.py, by table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.utils.exceptions import VerifyException

from .composite import ACTIVATIONS, group_norm_shapes
from .shape_rules import Attrs, Rule
from .sizes import Shape, agree, all_agree, broadcast, normal_axis, text


def _same(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    return (x[0],)


def _broadcast(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    return (broadcast(*x),)


def _shift(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    if attrs["direction"] not in ("LEFT", "RIGHT"):
        raise VerifyException(f"direction '{attrs['direction']}', expected LEFT or RIGHT")
    return (broadcast(*x),)


def _scan(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    normal_axis(cast(int, attrs["axis"]), len(x[0]))
    return (x[0],)


def _top_k(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis, k = normal_axis(cast(int, attrs["axis"]), len(x[0])), cast(int, attrs["k"])
    size = x[0][axis]
    if k < 0 or (isinstance(size, int) and k > size):
        raise VerifyException(f"k is {k}, axis {axis} of {text(x[0])} has {size}")
    return ((*x[0][:axis], k, *x[0][axis + 1 :]),)


def _index_depth(indices: Shape, rank: int) -> int:
    """The length of the index vectors, at most `rank`."""
    depth = indices[-1] if indices else 0
    if not isinstance(depth, int) or not 1 <= depth <= rank:
        raise VerifyException(
            f"indices {text(indices)} into {rank} axes; the last size says how many axes, 1 to "
            f"{rank}"
        )
    return depth


def _gather_nd(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    batch = cast(int, attrs["batch_dims"])
    if not 0 <= batch < min(len(x[0]), len(x[1])) or not all_agree(x[0][:batch], x[1][:batch]):
        raise VerifyException(f"{batch} leading axes of {text(x[0])} and {text(x[1])} are not one")
    depth = _index_depth(x[1], len(x[0]) - batch)
    return ((*x[1][:-1], *x[0][batch + depth :]),)


def _scatter_reduction(attrs: Attrs) -> None:
    if attrs["reduction"] not in ("none", "add", "mul", "max", "min"):
        raise VerifyException(f"reduction '{attrs['reduction']}'; use none, add, mul, max or min")


def _scatter_elements(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    _scatter_reduction(attrs)
    axis = normal_axis(cast(int, attrs["axis"]), len(x[0]))
    if not all_agree(x[1], x[2]) or len(x[1]) != len(x[0]):
        raise VerifyException(f"indices {text(x[1])} and updates {text(x[2])} into {text(x[0])}")
    for i, (size, taken) in enumerate(zip(x[0], x[1], strict=True)):
        if i != axis and isinstance(size, int) and isinstance(taken, int) and taken > size:
            raise VerifyException(f"indices {text(x[1])} are larger than data {text(x[0])}")
    return (x[0],)


def _scatter_nd(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    _scatter_reduction(attrs)
    depth = _index_depth(x[1], len(x[0]))
    expected = (*x[1][:-1], *x[0][depth:])
    if not all_agree(x[2], expected):
        raise VerifyException(f"updates {text(x[2])}, expected {text(expected)}")
    return (x[0],)


def _reverse_sequence(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    batch, time = (normal_axis(cast(int, attrs[k]), len(x[0])) for k in ("batch_axis", "time_axis"))
    if batch == time or len(x[1]) != 1 or not agree(x[1][0], x[0][batch]):
        raise VerifyException(f"lengths {text(x[1])} for axis {batch} of {text(x[0])}")
    return (x[0],)


def _det(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    if len(x[0]) < 2 or not agree(x[0][-1], x[0][-2]):
        raise VerifyException(f"{text(x[0])} does not end with a square matrix")
    return (x[0][:-2],)


def _grid_sample(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    if attrs["mode"] not in ("linear", "nearest", "cubic"):
        raise VerifyException(f"mode '{attrs['mode']}'; use linear, nearest or cubic")
    if attrs["padding_mode"] not in ("zeros", "border", "reflection"):
        raise VerifyException(f"padding '{attrs['padding_mode']}'; use zeros, border, reflection")
    spatial = len(x[0]) - 2
    if spatial < 1 or len(x[1]) != spatial + 2 or not agree(x[1][-1], spatial):
        raise VerifyException(f"a grid of {text(x[1])} for {text(x[0])}")
    return ((x[0][0], x[0][1], *x[1][1:-1]),)


MORE_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        (
            *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh"),
            *("atanh", "floor", "ceil", "round", "sign", "bitwise_not", "bit_cast"),
        ),
        _same,
    ),
    **dict.fromkeys(("mod", "bitwise_and", "bitwise_or", "bitwise_xor"), _broadcast),
    **dict.fromkeys(ACTIVATIONS, _same),
    "group_normalization": group_norm_shapes,
    "bit_shift": _shift,
    "cum_sum": _scan,
    "cum_prod": _scan,
    "top_k_indices": _top_k,
    "gather_nd": _gather_nd,
    "scatter_elements": _scatter_elements,
    "scatter_nd": _scatter_nd,
    "reverse_sequence": _reverse_sequence,
    "det": _det,
    "grid_sample": _grid_sample,
}
"""Shapes of the results."""
