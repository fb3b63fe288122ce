"""Sliding windows: their geometry, which convolution shares, and the pooling operators.

A window is applied tap by tap: each kernel position is one strided view of the padded input.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from fusec.semantics.base import Attr, Call, Kind, Semantic, Shape
from fusec.semantics.dtypes import Array, is_floating, narrow, widen
from fusec.semantics.reduction import LAYOUT, spatial_axes


@dataclass(frozen=True, slots=True)
class Axis:
    """One spatial axis: its input and output sizes and how the window moves along it."""

    size: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int
    output: int

    def overhang(self) -> int:
        """Positions past the end padding that the last window still touches (ceil_mode)."""
        reach = (self.output - 1) * self.stride + (self.kernel - 1) * self.dilation + 1
        return max(0, reach - self.begin - self.size - self.end)

    def tap(self, position: int) -> slice:
        """What kernel position `position` reads of the padded axis, one for each output."""
        start = position * self.dilation
        return slice(start, start + (self.output - 1) * self.stride + 1, self.stride)

    def counts(self, include_pad: bool) -> Array:
        """How many kernel positions of each output lie on data (or on data and padding)."""
        low = 0 if include_pad else self.begin
        high = self.begin + self.size + (self.end if include_pad else 0)
        places = np.add.outer(
            np.arange(self.output) * self.stride, np.arange(self.kernel) * self.dilation
        )
        return ((places >= low) & (places < high)).sum(axis=1)


def window_axes(call: Call, sizes: Shape, kernel: Shape, *, ceil: bool = False) -> list[Axis]:
    """The axes of a window of shape `kernel` over spatial `sizes`.

    `strides` and `dilations` default to ones, `pads` (begins, then ends) to zeros. With `ceil` a
    last partial window counts, unless it starts in the end padding (ONNX pooling, opset 22).
    """
    rank = len(sizes)
    strides, dilations, pads = (call.ints(name) for name in ("strides", "dilations", "pads"))
    strides, dilations, pads = (
        strides or (1,) * rank,
        dilations or (1,) * rank,
        pads or (0, 0) * rank,
    )
    for what, values, count in (
        ("kernel", kernel, rank),
        ("strides", strides, rank),
        ("dilations", dilations, rank),
        ("pads", pads, 2 * rank),
    ):
        least = 0 if what == "pads" else 1
        if len(values) != count or any(value < least for value in values):
            raise call.error(
                f"{what} is {values} over {rank} spatial dimensions",
                f"give {count} values of at least {least}",
            )
    axes: list[Axis] = []
    for index, size in enumerate(sizes):
        begin, end, stride = pads[index], pads[rank + index], strides[index]
        free = begin + size + end - (kernel[index] - 1) * dilations[index] - 1
        output = (-(-free // stride) if ceil else free // stride) + 1
        if ceil and (output - 1) * stride >= size + begin:
            output -= 1
        if output < 1:
            raise call.error(
                f"a window of {kernel[index]} (dilation {dilations[index]}) is larger than the "
                f"padded size {begin + size + end} of spatial dimension {index}",
                "pad more or use a smaller window",
            )
        axes.append(Axis(size, kernel[index], stride, dilations[index], begin, end, output))
    return axes


def padded(x: Array, axes: list[Axis], first: int, value: float) -> Array:
    """`x` with its spatial axes (from `first` on) extended by `value`; `x` itself if by nothing."""
    tails = [axis.end + axis.overhang() for axis in axes]
    if not any(tails) and not any(axis.begin for axis in axes):
        return x
    shape = list(x.shape)
    inner = [slice(None)] * x.ndim
    for index, (axis, tail) in enumerate(zip(axes, tails, strict=True), first):
        shape[index] += axis.begin + tail
        inner[index] = slice(axis.begin, axis.begin + axis.size)
    result = np.full(shape, value, x.dtype)
    result[tuple(inner)] = x
    return result


def taps(x: Array, axes: list[Axis], first: int) -> Iterator[Array]:
    """For each kernel position, in row-major order, the view of padded `x` that it reads."""
    lead = (slice(None),) * first
    for position in product(*(range(axis.kernel) for axis in axes)):
        yield x[lead + tuple(axis.tap(at) for axis, at in zip(axes, position, strict=True))]


def _pool_axes(call: Call, x: Array) -> tuple[list[Axis], int]:
    spatial = spatial_axes(call.text("layout"), call.rank(x, 3, "x"))
    sizes = tuple(x.shape[axis] for axis in spatial)
    ceil = call.bool_("ceil_mode")
    return window_axes(call, sizes, call.ints("kernel_shape"), ceil=ceil), spatial[0]


def _max_pool(call: Call) -> list[Array]:
    x = call.numeric(call.array(0))
    axes, first = _pool_axes(call, x)
    wide = widen(x)
    lowest = float("-inf") if is_floating(x.dtype) else np.iinfo(x.dtype).min
    views = taps(padded(wide, axes, first, lowest), axes, first)
    result = next(views).copy()
    for view in views:
        np.maximum(result, view, out=result)
    return [narrow(result, x.dtype)]


def _average_pool(call: Call) -> list[Array]:
    x = call.floating(call.array(0))
    axes, first = _pool_axes(call, x)
    wide = widen(x)
    total = np.zeros((), wide.dtype)
    for view in taps(padded(wide, axes, first, 0.0), axes, first):
        total = total + view
    counts = np.ones((), np.int64)
    for axis in axes:
        counts = np.multiply.outer(counts, axis.counts(call.bool_("count_include_pad")))
    shape = counts.shape + (1,) * (x.ndim - first - len(axes))
    return [narrow(total / counts.reshape(shape).astype(wide.dtype), x.dtype)]


WINDOW_ATTRS: dict[str, Attr] = {
    "strides": Attr(Kind.INTS, ()),
    "dilations": Attr(Kind.INTS, ()),
    "pads": Attr(Kind.INTS, ()),
}
_POOL_ATTRS = WINDOW_ATTRS | {
    "kernel_shape": Attr(Kind.INTS),
    "ceil_mode": Attr(Kind.BOOL, False),
    "layout": LAYOUT,
}

WINDOW: dict[str, Semantic] = {
    "max_pool": Semantic(_max_pool, attrs=_POOL_ATTRS),
    "average_pool": Semantic(
        _average_pool, attrs=_POOL_ATTRS | {"count_include_pad": Attr(Kind.BOOL, False)}
    ),
}
