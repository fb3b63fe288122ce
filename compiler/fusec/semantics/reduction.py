"""Reductions, softmax and the normalisations.

16-bit floating types accumulate in float32 and round once, at the end; integers keep their type.
"""

from collections.abc import Callable
from math import prod

import numpy as np

from fusec.semantics.base import Attr, Call, Kind, Semantic
from fusec.semantics.dtypes import Array, is_floating, narrow, widen

Axes = tuple[int, ...]

LAYOUT = Attr(Kind.TEXT, "NCHW", choices=("NCHW", "NHWC"))
"""Channels second or last, for any number of spatial dimensions."""


def spatial_axes(layout: str, rank: int) -> Axes:
    """The axes that are neither batch nor channel."""
    return tuple(range(2, rank)) if layout == "NCHW" else tuple(range(1, rank - 1))


def channel_axis(layout: str, rank: int) -> int:
    return 1 if layout == "NCHW" else rank - 1


def _total(x: Array, axes: Axes) -> Array:
    return np.add.reduce(x, axis=axes, dtype=x.dtype, keepdims=True)


def _product(x: Array, axes: Axes) -> Array:
    return np.multiply.reduce(x, axis=axes, dtype=x.dtype, keepdims=True)


def _square_sum(x: Array, axes: Axes) -> Array:
    return _total(x * x, axes)


def _mean(x: Array, axes: Axes) -> Array:
    """Of integers: the exact sum divided, truncated toward zero. Of nothing: nan, or 0."""
    count = prod(x.shape[axis] for axis in axes)
    if is_floating(x.dtype):
        return _total(x, axes) / x.dtype.type(count)
    total = np.add.reduce(x, axis=axes, keepdims=True)
    return (np.sign(total) * (np.abs(total) // max(count, 1))).astype(x.dtype)


def _extreme(x: Array, largest: bool) -> int | float | bool:
    """The largest or smallest value of x's type: what an empty minimum or maximum gives."""
    if x.dtype == np.bool_:
        return largest
    if is_floating(x.dtype):
        return float("inf") if largest else float("-inf")
    limits = np.iinfo(x.dtype)
    return limits.max if largest else limits.min


def _largest(x: Array, axes: Axes) -> Array:
    return np.maximum.reduce(x, axis=axes, keepdims=True, initial=_extreme(x, largest=False))


def _smallest(x: Array, axes: Axes) -> Array:
    return np.minimum.reduce(x, axis=axes, keepdims=True, initial=_extreme(x, largest=True))


def _reduction(function: Callable[[Array, Axes], Array], *, on_bool: bool = False) -> Semantic:
    def compute(call: Call) -> list[Array]:
        x = call.array(0) if on_bool else call.numeric(call.array(0))
        axes = call.axes(x.ndim)
        if not axes and not call.bool_("noop_with_empty_axes"):
            axes = tuple(range(x.ndim))
        result = narrow(function(widen(x), axes), x.dtype)
        return [result if call.bool_("keepdims") else np.squeeze(result, axis=axes)]

    return Semantic(
        compute,
        attrs={
            "axes": Attr(Kind.INTS, ()),
            "keepdims": Attr(Kind.BOOL, True),
            "noop_with_empty_axes": Attr(Kind.BOOL, False),
        },
    )


def softmax_over(x: Array, axis: int) -> Array:
    """exp(x - max) / sum(exp(x - max)) along `axis`, in the type of `x`; empty stays empty."""
    powers = np.exp(x - _largest(x, (axis,)))
    powers /= _total(powers, (axis,))
    return powers


def _softmax(call: Call) -> list[Array]:
    x = call.floating(call.array(0))
    return [narrow(softmax_over(widen(x), call.axis(x.ndim)), x.dtype)]


def _log_softmax(call: Call) -> list[Array]:
    x = call.floating(call.array(0))
    axes = (call.axis(x.ndim),)
    shifted = widen(x) - _largest(widen(x), axes)
    return [narrow(shifted - np.log(_total(np.exp(shifted), axes)), x.dtype)]


def _normalised_axes(call: Call, x: Array) -> Axes:
    axis = call.axis(x.ndim)
    for index in range(1, len(call.inputs)):
        operand = call.optional(index)
        if operand is not None:
            call.broadcast_into(operand.shape, x.shape, f"input {index}")
            call.same_dtype((x, operand))
    return tuple(range(axis, x.ndim))


def _layer_normalization(call: Call) -> list[Array]:
    """(x - mean) / sqrt(variance + epsilon) * scale + bias over the axes from `axis` on."""
    x = call.floating(call.array(0))
    axes = _normalised_axes(call, x)
    centred = widen(x)
    centred = centred - _mean(centred, axes)
    result = centred / np.sqrt(_mean(centred * centred, axes) + call.float_("epsilon"))
    result *= widen(call.array(1))
    bias = call.optional(2)
    if bias is not None:
        result += widen(bias)
    return [narrow(result, x.dtype)]


def _rms_normalization(call: Call) -> list[Array]:
    """x / sqrt(mean(x^2) + epsilon) * scale over the axes from `axis` on."""
    x = call.floating(call.array(0))
    axes = _normalised_axes(call, x)
    wide = widen(x)
    result = wide / np.sqrt(_mean(wide * wide, axes) + call.float_("epsilon"))
    return [narrow(result * widen(call.array(1)), x.dtype)]


def _batch_normalization(call: Call) -> list[Array]:
    """(x - mean) / sqrt(var + epsilon) * scale + b, each of the last four one value a channel."""
    x, *parameters = call.arrays()
    call.floating(x)
    channel = channel_axis(call.text("layout"), call.rank(x, 2, "x"))
    shape = [1] * x.ndim
    shape[channel] = x.shape[channel]
    for what, parameter in zip(("scale", "b", "mean", "var"), parameters, strict=True):
        if parameter.shape != (x.shape[channel],):
            raise call.error(
                f"{what} has shape {parameter.shape}", f"x has {x.shape[channel]} channels"
            )
        call.floating(parameter)
    wide = np.result_type(widen(x), *(widen(parameter) for parameter in parameters))
    scale, bias, mean, variance = (p.astype(wide).reshape(shape) for p in parameters)
    factor = scale / np.sqrt(variance + call.float_("epsilon"))
    return [narrow((x - mean) * factor + bias, x.dtype)]


def _global_average_pool(call: Call) -> list[Array]:
    x = call.floating(call.array(0))
    axes = spatial_axes(call.text("layout"), call.rank(x, 3, "x"))
    return [narrow(_mean(widen(x), axes), x.dtype)]


_AXIS = {"axis": Attr(Kind.INT, -1)}
_NORM = {"axis": Attr(Kind.INT, -1), "epsilon": Attr(Kind.FLOAT, 1e-5)}

REDUCTION: dict[str, Semantic] = {
    "reduce_sum": _reduction(_total),
    "reduce_mean": _reduction(_mean),
    "reduce_max": _reduction(_largest, on_bool=True),
    "reduce_min": _reduction(_smallest, on_bool=True),
    "reduce_prod": _reduction(_product),
    "reduce_sum_square": _reduction(_square_sum),
    "softmax": Semantic(_softmax, attrs=_AXIS),
    "log_softmax": Semantic(_log_softmax, attrs=_AXIS),
    "layer_normalization": Semantic(_layer_normalization, 2, 3, _NORM),
    "rms_normalization": Semantic(_rms_normalization, 2, 2, _NORM),
    "batch_normalization": Semantic(
        _batch_normalization, 5, 5, {"epsilon": Attr(Kind.FLOAT, 1e-5), "layout": LAYOUT}
    ),
    "global_average_pool": Semantic(_global_average_pool, attrs={"layout": LAYOUT}),
}
