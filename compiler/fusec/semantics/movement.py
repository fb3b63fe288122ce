"""Operators that move elements without computing: views, transpose, slicing, joining, gathering.

Results may be views of the input.
"""

from collections.abc import Callable
from math import prod

import numpy as np

from fusec.semantics.base import Attr, Call, Kind, Semantic
from fusec.semantics.dtypes import Array


def _identity(call: Call) -> list[Array]:
    return [call.array(0)]


def _transpose(call: Call) -> list[Array]:
    x = call.array(0)
    perm = call.ints("perm")
    if not perm:
        return [x.T]
    if sorted(perm) != list(range(x.ndim)):
        raise call.error(
            f"perm {perm} is not a permutation of the {x.ndim} axes", "name each axis once"
        )
    return [x.transpose(perm)]


def _check_sizes(call: Call, sizes: tuple[int, ...]) -> None:
    if any(size < 0 for size in sizes):
        raise call.error(f"shape {sizes} has a negative size", "give resolved sizes")


def _reshape(call: Call) -> list[Array]:
    """One size of `shape` may be -1 (dynamic): what the others leave."""
    x, shape = call.array(0), call.ints("shape")
    known = prod(size for size in shape if size != -1)
    if shape.count(-1) == 1 and known > 0:
        shape = tuple(x.size // known if size == -1 else size for size in shape)
    _check_sizes(call, shape)
    if prod(shape) != x.size:
        raise call.error(
            f"{x.size} elements (shape {x.shape}) cannot have shape {shape}",
            f"the sizes must multiply to {x.size}",
        )
    return [x.reshape(shape)]


def _expand(call: Call) -> list[Array]:
    """Broadcast both ways: a 1 in `shape`, or a -1 (dynamic), keeps the size of the input."""
    x = call.array(0)
    shape = tuple(1 if size == -1 else size for size in call.ints("shape"))
    _check_sizes(call, shape)
    return [np.broadcast_to(x, call.broadcast(x.shape, shape))]


def _squeeze(call: Call) -> list[Array]:
    """Without axes every dimension of size 1 goes."""
    x = call.array(0)
    axes = call.axes(x.ndim) or tuple(i for i, size in enumerate(x.shape) if size == 1)
    for axis in axes:
        if x.shape[axis] != 1:
            raise call.error(f"axis {axis} of shape {x.shape} is not 1", "squeeze axes of size 1")
    return [np.squeeze(x, axis=axes)]


def _unsqueeze(call: Call) -> list[Array]:
    x = call.array(0)
    axes = call.axes(x.ndim + len(call.ints("axes")))
    return [np.expand_dims(x, axes)]


def _flatten(call: Call) -> list[Array]:
    """To a matrix: the sizes before `axis` (0..rank) times the rest."""
    x = call.array(0)
    axis = call.int_("axis")
    if not -x.ndim <= axis <= x.ndim:
        raise call.error(f"axis {axis} is outside rank {x.ndim}", f"use {-x.ndim}..{x.ndim}")
    if axis < 0:
        axis += x.ndim
    return [x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:]))]


def _concat(call: Call) -> list[Array]:
    arrays = call.arrays()
    call.same_dtype(arrays)
    axis = call.axis(call.rank(arrays[0], 1, "input 0"))
    rest = {array.shape[:axis] + array.shape[axis + 1 :] for array in arrays}
    if len(rest) > 1 or len({array.ndim for array in arrays}) > 1:
        text = ", ".join(str(array.shape) for array in arrays)
        raise call.error(
            f"shapes {text} do not join along axis {axis}", "all other sizes must be equal"
        )
    return [np.concatenate(arrays, axis=axis)]


def _split(call: Call) -> list[Array]:
    x = call.array(0)
    axis, sizes = call.axis(x.ndim), call.ints("sizes")
    _check_sizes(call, sizes)
    if sum(sizes) != x.shape[axis]:
        raise call.error(
            f"sizes {sizes} do not add up to {x.shape[axis]}, the size of axis {axis}",
            "resolve the sizes of all results",
        )
    return list(np.split(x, np.cumsum(sizes[:-1], dtype=np.int64), axis=axis)) if sizes else []


def slice_range(size: int, start: int, end: int, step: int) -> range:
    """The positions that ONNX Slice takes of an axis of `size`.

    Negative `start` and `end` count from the end; then both are clamped into [0, size], for a
    negative `step` `start` into [0, size - 1] and `end` into [-1, size - 1]. This is not numpy's
    rule: a start far before the beginning with a negative step gives the first element.
    """
    start, end = (value + size if value < 0 else value for value in (start, end))
    if step > 0:
        return range(min(max(start, 0), size), min(max(end, 0), size), step)
    if size == 0:
        return range(0)
    return range(min(max(start, 0), size - 1), min(max(end, -1), size - 1), step)


def _slice(call: Call) -> list[Array]:
    x = call.array(0)
    starts, ends = call.ints("starts"), call.ints("ends")
    axes = call.axes(x.ndim, call.ints("axes") or range(len(starts)))
    steps = call.ints("steps") or (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise call.error(
            f"starts {starts}, ends {ends}, axes {axes}, steps {steps} differ in length",
            "give one of each for each axis",
        )
    if 0 in steps:
        raise call.error(f"steps {steps} contain 0", "use a positive or negative step")
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        places = slice_range(x.shape[axis], start, end, step)
        stop = None if places.stop < 0 else places.stop
        index[axis] = slice(places.start, stop, step) if places else slice(0, 0)
    return [x[tuple(index)]]


def _pad(call: Call) -> list[Array]:
    """`pads` are all begins, then all ends; a negative one cuts (mode constant only)."""
    x, pads, mode = call.array(0), call.ints("pads"), call.text("mode")
    if len(pads) != 2 * x.ndim:
        raise call.error(f"pads {pads} over rank {x.ndim}", f"give {2 * x.ndim} values")
    begins, ends = pads[: x.ndim], pads[x.ndim :]
    sizes = tuple(b + size + e for b, size, e in zip(begins, x.shape, ends, strict=True))
    if any(size < 0 for size in sizes):
        raise call.error(f"pads {pads} cut more than shape {x.shape} has", "cut less")
    if mode != "constant":
        return [_pad_from_data(call, begins, ends, mode)]
    kept = tuple(
        slice(max(0, -b), max(0, s + min(e, 0)))
        for b, s, e in zip(begins, x.shape, ends, strict=True)
    )
    source = x[kept]
    result = np.full(sizes, call.number("value"), x.dtype)
    place = tuple(
        slice(max(0, b), max(0, b) + s) for b, s in zip(begins, source.shape, strict=True)
    )
    result[place] = source
    return [result]


def _pad_from_data(call: Call, begins: tuple[int, ...], ends: tuple[int, ...], mode: str) -> Array:
    x = call.array(0)
    widths = list(zip(begins, ends, strict=True))
    for (begin, end), size in zip(widths, x.shape, strict=True):
        if min(begin, end) < 0 or (size == 0 and max(begin, end) > 0):
            raise call.error(f"cannot pad size {size} by {begin} and {end}", "use mode constant")
    match mode:
        case "edge":
            return np.pad(x, widths, mode="edge")
        case "reflect":
            return np.pad(x, widths, mode="reflect")
        case _:
            return np.pad(x, widths, mode="wrap")


def _indices(call: Call, size: int) -> Array:
    """Input 1, checked to be in -size..size-1; negative indices count from the end, as numpy's."""
    indices = call.array(1)
    if indices.dtype.name not in ("int32", "int64"):
        raise call.error(f"indices are {indices.dtype.name}", "cast them to int64")
    if indices.size and not (-size <= indices.min() and indices.max() < size):
        raise call.error(
            f"indices {indices.min()}..{indices.max()} leave an axis of size {size}",
            f"use {-size}..{size - 1}",
        )
    return indices


def _gather(call: Call) -> list[Array]:
    x = call.array(0)
    axis = call.axis(call.rank(x, 1, "data"))
    return [np.take(x, _indices(call, x.shape[axis]), axis=axis)]


def _gather_elements(call: Call) -> list[Array]:
    x = call.array(0)
    axis = call.axis(call.rank(x, 1, "data"))
    indices = _indices(call, x.shape[axis])
    fits = indices.ndim == x.ndim and all(
        index <= size
        for at, (index, size) in enumerate(zip(indices.shape, x.shape, strict=True))
        if at != axis
    )
    if not fits:
        raise call.error(
            f"indices of shape {indices.shape} do not fit data of shape {x.shape}",
            "give one rank, and no size larger except along axis",
        )
    inner = tuple(slice(None) if at == axis else slice(n) for at, n in enumerate(indices.shape))
    return [np.take_along_axis(x[inner], indices, axis=axis)]


def _eye_like(call: Call) -> list[Array]:
    """Ones on diagonal `k` (above the main one if positive), zeros elsewhere.

    Shape and element type are the input's, or `shape` and `to` where there is none.
    """
    x = call.optional(0)
    shape = call.ints("shape") if x is None else x.shape
    if len(shape) != 2 or min(shape) < 0:
        raise call.error(f"the shape is {shape}", "give two sizes")
    dtype = call.dtype("to", None if x is None else x.dtype)
    return [np.eye(*shape, k=call.int_("k")).astype(dtype)]


def _constant_of_shape(call: Call) -> list[Array]:
    shape = call.ints("shape")
    _check_sizes(call, shape)
    return [np.full(shape, call.number("value"), call.dtype("to"))]


def _view(compute: Callable[[Call], list[Array]], **attrs: Attr) -> Semantic:
    return Semantic(compute, attrs=attrs)


_INTS = Attr(Kind.INTS)
_NONE = Attr(Kind.INTS, ())

MOVEMENT: dict[str, Semantic] = {
    "identity": _view(_identity),
    "transpose": _view(_transpose, perm=_NONE),
    "reshape": _view(_reshape, shape=_INTS),
    "expand": _view(_expand, shape=_INTS),
    "squeeze": _view(_squeeze, axes=_NONE),
    "unsqueeze": _view(_unsqueeze, axes=_INTS),
    "flatten": _view(_flatten, axis=Attr(Kind.INT, 1)),
    "concat": Semantic(_concat, 1, None, {"axis": Attr(Kind.INT)}),
    "split": _view(_split, axis=Attr(Kind.INT, 0), sizes=_INTS),
    "slice": _view(_slice, starts=_INTS, ends=_INTS, axes=_NONE, steps=_NONE),
    "pad": _view(
        _pad,
        pads=_INTS,
        mode=Attr(Kind.TEXT, "constant", choices=("constant", "edge", "reflect", "wrap")),
        value=Attr(Kind.NUMBER, 0),
    ),
    "gather": Semantic(_gather, 2, 2, {"axis": Attr(Kind.INT, 0)}),
    "gather_elements": Semantic(_gather_elements, 2, 2, {"axis": Attr(Kind.INT, 0)}),
    "eye_like": Semantic(
        _eye_like, 0, 1, {"shape": _NONE, "k": Attr(Kind.INT, 0), "to": Attr(Kind.DTYPE, "")}
    ),
    "constant_of_shape": Semantic(
        _constant_of_shape,
        0,
        0,
        {
            "shape": _INTS,
            "value": Attr(Kind.NUMBER, 0),
            "to": Attr(Kind.DTYPE, "float32"),
        },
    ),
}
