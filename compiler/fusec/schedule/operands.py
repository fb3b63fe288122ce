"""The logical dimensions of a matmul, gemm or convolution, with the parts of every operand.

In: the operator, the accesses of its two operands, and those of its result and of what is added to
it, all in the shape of the operator's result. Out: labels for `contraction`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from fusec.schedule.contraction import Label, Window
from fusec.schedule.types import RefusalError
from fusec.schedule.views import Access, Part, Parts, split
from fusec_dialects.graph import GraphOp

Dims: TypeAlias = Sequence[Parts]

MATRIX = frozenset({"matmul", "gemm"})


def labels_of(op: GraphOp, a: Access, b: Access, results: Sequence[Access]) -> list[Label]:
    """The dimensions of `op`; raises RefusalError for a convolution that has no tile."""
    outputs = [access.dims for access in results]
    if op.op_name == "conv":
        return _conv(op, a, b, outputs)
    left, right = a.dims, b.dims
    if op.op_name == "gemm":
        attrs = op.attrs()
        left = left[::-1] if attrs["trans_a"] else left
        right = right[::-1] if attrs["trans_b"] else right
    return _matmul(left, right, outputs)


def _size(parts: Parts) -> int:
    size = 1
    for part in parts:
        size *= part.size
    return size


def _matmul(left: Dims, right: Dims, outputs: Sequence[Dims]) -> list[Label]:
    batch = max(len(left), len(right), 2) - 2
    m = left[-2] if len(left) > 1 else None
    n = right[-1] if len(right) > 1 else None
    k_left, k_right = left[-1], right[-2] if len(right) > 1 else right[-1]
    labels: list[Label] = []
    for axis in range(batch):
        parts = [_aligned(left[:-2], batch, axis), _aligned(right[:-2], batch, axis)]
        parts += [dims[axis] for dims in outputs]
        labels.append(Label(_size(outputs[0][axis]), tuple(parts)))
    if m is not None:
        labels.append(Label(_size(m), (m, (), *(dims[batch] for dims in outputs))))
    labels.append(Label(_size(k_left), (k_left, k_right, *(() for _ in outputs)), contracted=True))
    if n is not None:
        labels.append(Label(_size(n), ((), n, *(dims[-1] for dims in outputs))))
    return labels


def _aligned(dims: Dims, rank: int, axis: int) -> Parts:
    """Dimension `axis` of `rank` after numpy's broadcasting; none where there is no such."""
    place = axis - rank + len(dims)
    return dims[place] if place >= 0 else ()


def _conv(op: GraphOp, x: Access, w: Access, outputs: Sequence[Dims]) -> list[Label]:
    attrs = op.attrs()
    group = cast(int, attrs["group"])
    x_dims = _channels_last(x.dims, attrs["x_layout"] == "NCHW")
    y_dims = [_channels_last(dims, attrs["y_layout"] == "NCHW") for dims in outputs]
    w_dims = [*w.dims[2:], w.dims[1], w.dims[0]] if attrs["w_layout"] == "OIHW" else [*w.dims]
    spatial = len(w_dims) - 2
    none = tuple(() for _ in outputs)
    channels = _grouped(x_dims[-1], group, "channels of the input")
    filters = _grouped(w_dims[-1], group, "filters")
    results = [_grouped(dims[-1], group, "channels of the result") for dims in y_dims]
    labels = [Label(_size(y_dims[0][0]), (x_dims[0], (), *(dims[0] for dims in y_dims)))]
    labels.append(Label(group, (channels[0], filters[0], *(part[0] for part in results))))
    kernels: list[Label] = []
    strides, dilations, pads = (
        cast("tuple[int, ...]", attrs[key]) for key in ("strides", "dilations", "pads")
    )
    for axis in range(spatial):
        begin, end = pads[axis], pads[axis + spatial]
        parts = x_dims[1 + axis]
        if len(parts) > 1 or begin < 0 or end < 0:
            raise RefusalError(
                "window-view",
                f"spatial axis {axis} of the input has no single stride"
                if len(parts) > 1
                else f"padding [{begin}, {end}] of spatial axis {axis} is negative",
                {"axis": axis},
            )
        step = parts[0].stride if parts else 0
        stride, dilation = strides[axis], dilations[axis]
        count, kernel = _size(y_dims[0][1 + axis]), _size(w_dims[axis])
        window = Window(axis, stride, dilation, begin, _size(parts), step) if begin or end else None
        outer = (Part(count, stride * step),)
        inner = (Part(kernel, dilation * step),)
        labels.append(
            Label(count, (outer, (), *(dims[1 + axis] for dims in y_dims)), window=window)
        )
        kernels.append(Label(kernel, (inner, w_dims[axis], *none), True, window))
    labels += kernels
    labels.append(Label(_size(channels[1]), (channels[1], w_dims[-2], *none), contracted=True))
    labels.append(Label(_size(filters[1]), ((), filters[1], *(part[1] for part in results))))
    return labels


def _channels_last(dims: Dims, first: bool) -> list[Parts]:
    return [dims[0], *dims[2:], dims[1]] if first else [*dims]


def _grouped(parts: Parts, group: int, what: str) -> list[Parts]:
    """The outer `group` of a dimension, and the rest."""
    if not parts or (group == 1 and len(parts) == 1):
        return [(), parts]
    total = _size(parts)
    if all(part.stride == 0 for part in parts):
        return [(Part(group, 0),), (Part(total // group, 0),)]
    found = split(parts, (group, total // group))
    if found is None:
        raise RefusalError(
            "group-view",
            f"a view of the {what} cuts through their {group} groups",
            {"group": group},
        )
    return found
