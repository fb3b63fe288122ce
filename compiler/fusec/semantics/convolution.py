"""Convolution of any spatial rank in either layout: gathered columns times the filter matrix.

One filter channel (depthwise) is a weighted sum of shifted inputs instead. Accumulates in float32
(float64 in float64) and rounds once, after the bias.
"""

from collections.abc import Iterable, Iterator
from math import prod

import numpy as np

from fusec.semantics.base import Attr, Call, Kind, Semantic
from fusec.semantics.dtypes import Array, narrow, widen
from fusec.semantics.reduction import LAYOUT, channel_axis, spatial_axes
from fusec.semantics.window import WINDOW_ATTRS, Axis, padded, taps, window_axes

_BLOCK_BYTES = 4 << 20
"""Most bytes of gathered columns at a time: enough for BLAS, small enough for the cache."""


def _conv(call: Call) -> list[Array]:
    """sum over c, k of x[n, c, p * stride + k * dilation - pad] * w[o, c, k], plus bias[o]."""
    x, w, bias = call.array(0), call.array(1), call.optional(2)
    call.floating(x)
    call.same_dtype([array for array in call.inputs if array is not None])
    call.rank(x, 3, "x")
    if w.ndim != x.ndim:
        raise call.error(f"x has rank {x.ndim}, the filter {w.ndim}", "give both one rank")
    x_layout, y_layout, group = call.text("x_layout"), call.text("y_layout"), call.int_("group")
    if call.text("w_layout") == "HWIO":
        w = w.transpose(w.ndim - 1, w.ndim - 2, *range(w.ndim - 2))
    _check_channels(call, x.shape[channel_axis(x_layout, x.ndim)], w, bias)
    spatial = spatial_axes(x_layout, x.ndim)
    axes = window_axes(call, tuple(x.shape[axis] for axis in spatial), w.shape[2:])
    wide = padded(widen(x), axes, spatial[0], 0.0)
    layout = x_layout
    if layout == "NHWC" and group > 1 and w.shape[1] > 1:
        wide, layout = np.moveaxis(wide, -1, 1), "NCHW"
    compute = _channels_first if layout == "NCHW" else _channels_last
    y = compute(wide, widen(w), axes, group)
    if bias is not None:
        y += widen(bias).reshape((-1,) if layout == "NHWC" else (-1,) + (1,) * len(axes))
    if layout != y_layout:
        y = np.moveaxis(y, channel_axis(layout, y.ndim), channel_axis(y_layout, y.ndim))
    return [narrow(np.ascontiguousarray(y), x.dtype)]


def _check_channels(call: Call, channels: int, w: Array, bias: Array | None) -> None:
    """`w` is [O, C/group, spatial...]."""
    group = call.int_("group")
    if group < 1 or w.shape[1] * group != channels or w.shape[0] % group:
        raise call.error(
            f"x has {channels} channels, the filter takes {w.shape[1]} and gives {w.shape[0]}, "
            f"group is {group}",
            "channels must be group times what the filter takes, outputs a multiple of group",
        )
    if bias is not None and bias.shape != (w.shape[0],):
        raise call.error(f"bias has shape {bias.shape}", f"give ({w.shape[0]},)")


def _channels_first(x: Array, w: Array, axes: list[Axis], group: int) -> Array:
    """Padded x [N, C, spatial...], w [O, C/group, spatial...] to y [N, O, spatial...]."""
    outputs, depth, *kernel = w.shape
    sizes = tuple(axis.output for axis in axes)
    count, each = prod(kernel), outputs // group
    y = np.empty((x.shape[0], outputs, *sizes), x.dtype)
    if group > 1 and depth == 1:
        factors = np.moveaxis(w.reshape(group, each, count), -1, 0)
        factors = factors.reshape(count, group, each, *(1 for _ in axes))
        for image, result in zip(x, y, strict=True):
            shifted = (view[:, None] for view in taps(image, axes, 1))
            _weighted_sum(shifted, factors, result.reshape(group, each, *sizes))
        return y
    matrix = w.reshape(group, each, depth * count)
    row_bytes = x.itemsize * x.shape[1] * count * prod(sizes[1:])
    for image, result in zip(x, y, strict=True):
        for rows, source, part in _blocks(axes, 0 if count == 1 else row_bytes):
            shape = tuple(axis.output for axis in part)
            columns = _gathered(taps(image[:, source], part, 1), count, 1)
            columns = columns.reshape(group, depth * count, prod(shape))
            result[:, rows] = np.matmul(matrix, columns).reshape(outputs, *shape)
    return y


def _channels_last(x: Array, w: Array, axes: list[Axis], group: int) -> Array:
    """Padded x [N, spatial..., C], w [O, C/group, spatial...] to y [N, spatial..., O].

    `group` is 1, or the filter takes one channel.
    """
    outputs, depth, *kernel = w.shape
    sizes = tuple(axis.output for axis in axes)
    count, each = prod(kernel), outputs // group
    y = np.empty((x.shape[0], *sizes, outputs), x.dtype)
    if group > 1:
        factors = np.moveaxis(w.reshape(group, each, count), -1, 0)
        for image, result in zip(x, y, strict=True):
            shifted = (view[..., None] for view in taps(image, axes, 0))
            _weighted_sum(shifted, factors, result.reshape(*sizes, group, each))
        return y
    matrix = np.moveaxis(w, (1, 0), (-2, -1)).reshape(count * depth, outputs)
    row_bytes = x.itemsize * depth * count * prod(sizes[1:])
    for image, result in zip(x, y, strict=True):
        for rows, source, part in _blocks(axes, 0 if count == 1 else row_bytes):
            shape = tuple(axis.output for axis in part)
            columns = _gathered(taps(image[source], part, 0), count, len(shape))
            columns = columns.reshape(prod(shape), count * depth)
            result[rows] = np.matmul(columns, matrix).reshape(*shape, outputs)
    return y


def _blocks(axes: list[Axis], row_bytes: int) -> Iterator[tuple[slice, slice, list[Axis]]]:
    """The first spatial axis in pieces: output rows, the padded rows they read, their axes."""
    head, *rest = axes
    step = max(1, _BLOCK_BYTES // row_bytes) if row_bytes else head.output
    for start in range(0, head.output, step):
        count = min(step, head.output - start)
        first = start * head.stride
        reach = (count - 1) * head.stride + (head.kernel - 1) * head.dilation + 1
        part = Axis(reach, head.kernel, head.stride, head.dilation, 0, 0, count)
        yield slice(start, start + count), slice(first, first + reach), [part, *rest]


def _gathered(views: Iterator[Array], count: int, axis: int) -> Array:
    """`count` views of one shape stacked along a new `axis`; a single one is not copied."""
    if count == 1:
        return np.expand_dims(next(views), axis)
    return np.stack(list(views), axis)


def _weighted_sum(views: Iterable[Array], factors: Iterable[Array], result: Array) -> None:
    """result = sum of view * factor; every product has the shape of `result`, a view of y."""
    result[...] = 0
    product = np.empty_like(result)
    for view, factor in zip(views, factors, strict=True):
        np.multiply(view, factor, out=product)
        np.add(result, product, out=result)


CONVOLUTION: dict[str, Semantic] = {
    "conv": Semantic(
        _conv,
        2,
        3,
        WINDOW_ATTRS
        | {
            "group": Attr(Kind.INT, 1),
            "x_layout": LAYOUT,
            "y_layout": LAYOUT,
            "w_layout": Attr(Kind.TEXT, "OIHW", choices=("OIHW", "HWIO")),
        },
    ),
}
