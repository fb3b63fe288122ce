"""ONNX's MaxPool with the places of the maxima, MaxUnpool, and RoiAlign, as compositions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import cast

import numpy as np
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.operators_reduce import EXACT
from fusec.frontends.onnx.windows import window
from fusec.semantics.dtypes import Array
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import AttrValue

MOST_TAPS = 256
"""Positions of a window up to which the place of its maximum is looked for."""


def _attributes(node: Node, x: SSAValue) -> dict[str, AttrValue]:
    kernel = node.ints("kernel_shape")
    if kernel is None:
        raise ImportFailure("attribute 'kernel_shape' is missing")
    return {
        "kernel_shape": kernel,
        **window(node, kernel, node.shape(x)[2:]),
        "ceil_mode": bool(node.int_("ceil_mode", 0)),
    }


def _max_pool(node: Node) -> Sequence[SSAValue]:
    """The second output: where each maximum stands in the whole of x, flat."""
    x = node.value(0)
    attrs = _attributes(node, x)
    (y,) = node.build("max_pool", [x], attrs)
    return (y,) if node.outputs() == 1 else (y, _places(Maker(node), x, y, attrs))


def _places(m: Maker, x: SSAValue, y: SSAValue, attrs: Mapping[str, AttrValue]) -> SSAValue:
    """The first position of a window, row by row, that holds its maximum; counted in f32."""
    sizes, outputs = m.sizes(x), m.sizes(y)[2:]
    kernel, strides, dilations, pads = (
        cast("tuple[int, ...]", attrs[key])
        for key in ("kernel_shape", "strides", "dilations", "pads")
    )
    spatial, n = sizes[2:], len(outputs)
    if prod(sizes) > EXACT or prod(kernel) > MOST_TAPS:
        raise ImportFailure(
            f"the places of maxima in {prod(sizes)} entries by windows of {prod(kernel)}; at most "
            f"{EXACT} and {MOST_TAPS} are supported"
        )
    grids: list[list[Array]] = [
        [np.arange(outputs[i]) * strides[i] + k * dilations[i] - pads[i] for k in range(kernel[i])]
        for i in range(n)
    ]
    place: SSAValue | None = None
    padded = _padded(m, x, grids)
    for tap in reversed(list(product(*map(range, kernel)))):
        at: list[Array] = [grids[i][k] for i, k in enumerate(tap)]
        number, inside = _numbers(m.node, at, spatial)
        if not inside.any():
            continue
        counted = m.node.constant(number)
        if place is None:
            place = m("expand", counted, shape=(*sizes[:2], *outputs))
            continue
        hit = m("equal", _tap(m, padded, tap, outputs, strides, dilations), y)
        hit = hit if inside.all() else m("and", hit, inside)
        place = m("where", hit, counted, place)
    if place is None:
        raise ImportFailure("the windows hold nothing")
    base = np.arange(prod(sizes[:2]), dtype=np.float32).reshape(*sizes[:2], *(1,) * n)
    return m.cast(m("add", place, base * np.float32(prod(spatial))), "int64")


def _padded(m: Maker, x: SSAValue, grids: Sequence[Sequence[Array]]) -> SSAValue:
    """x extended to all that the windows touch."""
    spatial = m.sizes(x)[2:]
    begins = [max(0, -int(taps[0][0])) for taps in grids]
    ends = [max(0, int(t[-1][-1]) + 1 - size) for t, size in zip(grids, spatial, strict=True)]
    if not any((*begins, *ends)):
        return x
    dtype = numpy_type(m.node.element(x))
    least = float("-inf") if dtype.kind not in "iu" else float(np.iinfo(dtype).min)
    return m("pad", x, pads=(0, 0, *begins, 0, 0, *ends), value=least)


def _numbers(node: Node, at: Sequence[Array], spatial: Sequence[int]) -> tuple[Array, Array]:
    """The number of each position in its plane, rows first or (storage_order) columns first, and
    which of them lie on data."""
    inside, number = np.ones((), np.bool_), np.zeros((), np.int64)
    strides = [prod(spatial[i + 1 :]) for i in range(len(spatial))]
    if node.int_("storage_order", 0):
        strides = [prod(spatial[:i]) for i in range(len(spatial))]
    for places, size, stride in zip(at, spatial, strides, strict=True):
        number = np.add.outer(number, places * stride)
        inside = np.logical_and.outer(inside, (places >= 0) & (places < size))
    return number.astype(np.float32), inside


def _tap(
    m: Maker,
    padded: SSAValue,
    tap: Sequence[int],
    outputs: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> SSAValue:
    """What one position of every window reads."""
    starts = tuple(k * d for k, d in zip(tap, dilations, strict=True))
    ends = tuple(s + (o - 1) * t + 1 for s, o, t in zip(starts, outputs, strides, strict=True))
    axes = tuple(range(2, 2 + len(outputs)))
    return m("slice", padded, starts=starts, ends=ends, axes=axes, steps=tuple(strides))


def _max_unpool(node: Node) -> Sequence[SSAValue]:
    """Zeros with x at the places that a MaxPool gave; a larger `output_shape` adds zeros at the
    ends."""
    m, x, places = Maker(node), node.value(0), node.value(1)
    sizes = m.sizes(x)
    kernel = node.ints("kernel_shape")
    if kernel is None:
        raise ImportFailure("attribute 'kernel_shape' is missing")
    n = len(kernel)
    strides, pads = node.ints("strides") or (1,) * n, node.ints("pads") or (0,) * (2 * n)
    spatial = tuple(
        (size - 1) * stride - pads[i] - pads[n + i] + k
        for i, (size, stride, k) in enumerate(zip(sizes[2:], strides, kernel, strict=True))
    )
    shape = (*sizes[:2], *spatial)
    zeros = m.filled((prod(shape),), 0.0, numpy_type(node.element(x)).name)
    flat = (prod(sizes),)
    y = m(
        "scatter_elements",
        zeros,
        m.reshape(places, flat),
        m.reshape(x, flat),
        axis=0,
        reduction="none",
    )
    y = m.reshape(y, shape)
    if not node.has(2):
        return (y,)
    wanted = node.ints_input(2, "output_shape")
    if len(wanted) != len(shape) or any(w < s for w, s in zip(wanted, shape, strict=True)):
        raise ImportFailure(f"output_shape {list(wanted)} is smaller than {list(shape)}")
    more = tuple(w - s for w, s in zip(wanted, shape, strict=True))
    return (m("pad", y, pads=(*(0,) * len(shape), *more)) if any(more) else y,)


POOLS: dict[str, list[tuple[int, Entry]]] = {
    "MaxPool": [(1, _max_pool)],
    "MaxUnpool": [(9, _max_unpool)],
}
"""Entries by operator type, the newest opset first."""
