"""Running sums, sorting, and reading and writing at indices that are computed."""

from collections.abc import Callable

import numpy as np

from fusec.semantics.base import Attr, Call, Kind, Semantic
from fusec.semantics.dtypes import Array, narrow, widen


def _scan(function: Callable[[Array, int], Array], neutral: int) -> Semantic:
    def compute(call: Call) -> list[Array]:
        x = call.numeric(call.array(0))
        axis = call.axis(x.ndim)
        wide = np.flip(widen(x), axis) if call.bool_("reverse") else widen(x)
        if call.bool_("exclusive"):
            first = np.full_like(wide.take([0] * min(1, x.shape[axis]), axis), neutral)
            wide = np.concatenate([first, wide.take(range(x.shape[axis] - 1), axis)], axis)
        result = function(wide, axis).astype(wide.dtype)
        if call.bool_("reverse"):
            result = np.flip(result, axis)
        return [narrow(result, x.dtype)]

    return Semantic(
        compute,
        attrs={
            "axis": Attr(Kind.INT),
            "exclusive": Attr(Kind.BOOL, False),
            "reverse": Attr(Kind.BOOL, False),
        },
    )


def _sum(x: Array, axis: int) -> Array:
    return np.cumsum(x, axis=axis, dtype=x.dtype)


def _product(x: Array, axis: int) -> Array:
    return np.cumprod(x, axis=axis, dtype=x.dtype)


def _top_k_indices(call: Call) -> list[Array]:
    """A stable order, so that of equal ones the first comes first."""
    x = call.numeric(call.array(0))
    axis, k = call.axis(x.ndim), call.int_("k")
    if not 0 <= k <= x.shape[axis]:
        raise call.error(f"k is {k}, axis {axis} has {x.shape[axis]}", "take no more than there is")
    if call.bool_("largest"):
        last = x.shape[axis] - 1
        order = last - np.flip(np.argsort(np.flip(widen(x), axis), axis=axis, kind="stable"), axis)
    else:
        order = np.argsort(widen(x), axis=axis, kind="stable")
    return [order.take(range(k), axis).astype(np.int64)]


def _places(call: Call, indices: Array, sizes: tuple[int, ...]) -> tuple[Array, ...]:
    """Index vectors along the last axis as one array for each axis, negative ones resolved."""
    if indices.dtype.name not in ("int32", "int64"):
        raise call.error(f"indices are {indices.dtype.name}", "cast them to int64")
    if indices.ndim < 1 or not 1 <= indices.shape[-1] <= len(sizes):
        raise call.error(f"indices {indices.shape} into axes {sizes}", "fit the last size")
    places: list[Array] = []
    for axis, size in enumerate(sizes[: indices.shape[-1]]):
        part = indices[..., axis]
        if part.size and not (-size <= part.min() and part.max() < size):
            raise call.error(
                f"indices {part.min()}..{part.max()} leave an axis of size {size}",
                f"use {-size}..{size - 1}",
            )
        places.append(np.mod(part, size) if size else part)
    return tuple(places)


def _gather_nd(call: Call) -> list[Array]:
    x, indices = call.arrays()
    batch = call.int_("batch_dims")
    if not 0 <= batch < min(x.ndim, indices.ndim) or x.shape[:batch] != indices.shape[:batch]:
        raise call.error(f"batch_dims {batch} of {x.shape}, {indices.shape}", "make them agree")
    places = _places(call, indices, x.shape[batch:])
    shape = places[0].shape
    lead: list[Array] = [
        np.arange(x.shape[i], dtype=np.int64).reshape((-1,) + (1,) * (len(shape) - 1 - i))
        for i in range(batch)
    ]
    return [x[(*lead, *places)]]


_COMBINE: dict[str, Callable[..., None]] = {
    "add": np.add.at,
    "mul": np.multiply.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
}


def _write(call: Call, places: tuple[Array, ...], updates: Array) -> list[Array]:
    x = call.array(0)
    call.same_dtype((x, updates))
    result = widen(x).copy()
    combine = _COMBINE.get(call.text("reduction"))
    if combine is None:
        result[places] = widen(updates)
    else:
        combine(result, places, widen(updates))
    return [narrow(result, x.dtype)]


def _scatter_elements(call: Call) -> list[Array]:
    x, indices, updates = call.arrays()
    axis = call.axis(call.rank(x, 1, "data"))
    if indices.shape != updates.shape or indices.ndim != x.ndim:
        raise call.error(f"indices {indices.shape}, updates {updates.shape}", "give one shape")
    (along,) = _places(call, indices[..., None], (x.shape[axis],))
    places = [np.broadcast_to(grid, indices.shape) for grid in np.ogrid[_ends(indices.shape)]]
    places[axis] = along
    return _write(call, tuple(places), updates)


def _ends(shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(size) for size in shape)


def _scatter_nd(call: Call) -> list[Array]:
    x, indices, updates = call.arrays()
    places = _places(call, indices, x.shape)
    expected = (*indices.shape[:-1], *x.shape[indices.shape[-1] :])
    if updates.shape != expected:
        raise call.error(f"updates have shape {updates.shape}", f"give {expected}")
    return _write(call, places, updates)


def _reverse_sequence(call: Call) -> list[Array]:
    x, lengths = call.arrays()
    batch, time = (call.axis(x.ndim, call.int_(name)) for name in ("batch_axis", "time_axis"))
    size = x.shape[time]
    if batch == time or lengths.shape != (x.shape[batch],):
        raise call.error(f"{lengths.shape} lengths for axis {batch}", "give one for each entry")
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= size:
        raise call.error(f"lengths {lengths.min()}..{lengths.max()}", f"use 0..{size}")
    steps: Array = np.arange(size, dtype=np.int64)
    order: Array = np.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)
    if batch > time:
        order = order.T
    shape = [1] * x.ndim
    shape[batch], shape[time] = x.shape[batch], size
    return [np.take_along_axis(x, order.reshape(shape), axis=time)]


def _det(call: Call) -> list[Array]:
    x = call.floating(call.array(0))
    if call.rank(x, 2, "x") and x.shape[-1] != x.shape[-2]:
        raise call.error(f"shape {x.shape} is not square", "the last two sizes must be equal")
    return [narrow(np.asarray(np.linalg.det(widen(x))), x.dtype)]


_REDUCTION = {
    "reduction": Attr(Kind.TEXT, "none", choices=("none", *_COMBINE)),
}

INDEXED: dict[str, Semantic] = {
    "cum_sum": _scan(_sum, 0),
    "cum_prod": _scan(_product, 1),
    "top_k_indices": Semantic(
        _top_k_indices,
        attrs={"axis": Attr(Kind.INT, -1), "k": Attr(Kind.INT), "largest": Attr(Kind.BOOL, True)},
    ),
    "gather_nd": Semantic(_gather_nd, 2, 2, {"batch_dims": Attr(Kind.INT, 0)}),
    "scatter_elements": Semantic(
        _scatter_elements, 3, 3, {"axis": Attr(Kind.INT, 0), **_REDUCTION}
    ),
    "scatter_nd": Semantic(_scatter_nd, 3, 3, _REDUCTION),
    "reverse_sequence": Semantic(
        _reverse_sequence,
        2,
        2,
        {"batch_axis": Attr(Kind.INT, 1), "time_axis": Attr(Kind.INT, 0)},
    ),
    "det": Semantic(_det),
}
