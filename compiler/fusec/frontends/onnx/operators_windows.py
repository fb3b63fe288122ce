"""ONNX's transposed convolution, other poolings and spectra as compositions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple, cast

import numpy as np
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry, static
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.operators_moves import taken
from fusec.frontends.onnx.windows import window
from fusec.semantics.dtypes import Array
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.shapes import normal_axis, window_size


def spaced(m: Maker, x: SSAValue, first: int, strides: Sequence[int]) -> SSAValue:
    """x with stride - 1 zeros between its entries along the axes from `first` on."""
    for axis, stride in enumerate(strides, first):
        sizes = m.sizes(x)
        if stride == 1 or sizes[axis] == 1:
            continue
        single = m.reshape(x, (*sizes[: axis + 1], 1, *sizes[axis + 1 :]))
        pads = [0] * (2 * len(sizes) + 2)
        pads[-len(sizes) + axis] = stride - 1
        wide = m("pad", single, pads=tuple(pads))
        whole = (*sizes[:axis], sizes[axis] * stride, *sizes[axis + 1 :])
        x = m.cut(m.reshape(wide, whole), axis, 0, (sizes[axis] - 1) * stride + 1)
    return x


def _transposed_filter(m: Maker, w: SSAValue, group: int) -> SSAValue:
    """[C, O / group, k...] turned into [O, C / group, k...], every k reversed."""
    inputs, outputs, *kernel = m.sizes(w)
    if inputs % group:
        raise ImportFailure(f"{inputs} channels do not divide into {group} groups")
    for axis, size in enumerate(kernel, 2):
        w = w if size == 1 else taken(m, w, axis, np.arange(size)[::-1])
    parts = m.reshape(w, (group, inputs // group, outputs, *kernel))
    turned = m.transpose(parts, 0, 2, 1, *range(3, 3 + len(kernel)))
    return m.reshape(turned, (group * outputs, inputs // group, *kernel))


def _transposed_pads(
    node: Node, sizes: Sequence[int], spans: Sequence[int], strides: Sequence[int]
) -> tuple[list[int], list[int], tuple[int, ...]]:
    """What each axis of the full result loses at its begin and end, and the output padding."""
    n = len(sizes)
    extra = node.ints("output_padding") or (0,) * n
    pads = node.ints("pads") or (0,) * (2 * n)
    auto = node.text("auto_pad", "NOTSET")
    shape = node.ints("output_shape")
    if shape is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        shape = tuple(size * s for size, s in zip(sizes, strides, strict=True))
    if shape is None:
        return list(pads[:n]), list(pads[n:]), extra
    begins: list[int] = []
    ends: list[int] = []
    for size, stride, span, more, wanted in zip(
        sizes, strides, spans, extra, shape[-n:], strict=True
    ):
        total = stride * (size - 1) + more + span - wanted
        small = total // 2
        begins.append(small if auto == "SAME_UPPER" else total - small)
        ends.append(total - begins[-1])
    return begins, ends, extra


class _Phase(NamedTuple):
    """One axis of a transposed convolution as a convolution with `stride` outputs at each place:
    its pads, how many places it has, and for each of its taps and outputs the tap of the filter."""

    begin: int
    end: int
    places: int
    taps: Array


def _phase(size: int, kernel: int, stride: int, begin: int, out: int) -> _Phase | None:
    """Output stride q + r is the sum over t of x[q - t] w[stride t + r + begin]."""
    low, high = -((stride - 1 + begin) // stride), (kernel - 1 - begin) // stride
    places = out // stride
    end = places - low - size
    if out % stride or high < 0 or end < 0:
        return None
    taps = np.add.outer(stride * np.arange(high, low - 1, -1), np.arange(stride) + begin)
    return _Phase(high, end, places, np.where((taps >= 0) & (taps < kernel), taps, kernel))


def _by_phases(
    m: Maker,
    x: SSAValue,
    w: SSAValue,
    bias: Sequence[SSAValue],
    group: int,
    strides: Sequence[int],
    phases: Sequence[_Phase],
) -> SSAValue:
    """A transposed convolution whose result the strides divide: a convolution to all positions
    between two inputs, which then stand side by side; no product with a zero between inputs."""
    batch = m.sizes(x)[0]
    inputs, outputs, *kernel = m.sizes(w)
    n, each = len(kernel), prod(strides)
    if inputs % group:
        raise ImportFailure(f"{inputs} channels do not divide into {group} groups")
    lengths = [len(phase.taps) for phase in phases]
    for i, (phase, size) in enumerate(zip(phases, kernel, strict=True)):
        if phase.taps.max() == size:
            pads = [0] * (2 * n + 4)
            pads[n + 4 + i] = 1
            w = m("pad", w, pads=tuple(pads))
        w = taken(m, w, 2 + i, phase.taps.reshape(-1))
    pairs = [length for pair in zip(lengths, strides, strict=True) for length in pair]
    parts = m.reshape(w, (group, inputs // group, outputs, *pairs))
    perm = (0, 2, *range(4, 4 + 2 * n, 2), 1, *range(3, 3 + 2 * n, 2))
    filters = m.reshape(
        m.transpose(parts, *perm), (group * outputs * each, inputs // group, *lengths)
    )
    spread: list[SSAValue] = []
    for value in bias:
        rows = m.reshape(value, (group * outputs, 1))
        rows = m("expand", rows, shape=(group * outputs, each)) if each > 1 else rows
        spread.append(m.reshape(rows, (group * outputs * each,)))
    ones = (1,) * n
    attrs: dict[str, AttrValue] = {
        "strides": ones,
        "dilations": ones,
        "pads": (*(phase.begin for phase in phases), *(phase.end for phase in phases)),
        "group": group,
    }
    (y,) = m.node.build("conv", [x, filters, *spread], attrs)
    places = [phase.places for phase in phases]
    split = m.reshape(y, (batch, group * outputs, *strides, *places))
    order = [axis for i in range(n) for axis in (2 + n + i, 2 + i)]
    beside = m.transpose(split, 0, 1, *order)
    whole = tuple(count * s for count, s in zip(places, strides, strict=True))
    return m.reshape(beside, (batch, group * outputs, *whole))


def _conv_transpose(node: Node) -> Sequence[SSAValue]:
    """A convolution to all positions between two inputs; where the strides do not divide the
    result, one of x spaced out by zeros with the reversed filter."""
    m = Maker(node)
    x, w, *bias = node.values(2, 3)
    sizes, kernel, group = m.sizes(x)[2:], m.sizes(w)[2:], node.int_("group", 1)
    n = len(sizes)
    strides = node.ints("strides") or (1,) * n
    dilations = node.ints("dilations") or (1,) * n
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    begins, ends, extra = _transposed_pads(node, sizes, spans, strides)
    outs = [
        s * (size - 1) + span - begin - end + more
        for s, size, span, begin, end, more in zip(
            strides, sizes, spans, begins, ends, extra, strict=True
        )
    ]
    if spans == list(kernel) and max(strides) > 1:
        found = map(_phase, sizes, kernel, strides, begins, outs)
        phases = [phase for phase in found if phase is not None]
        if len(phases) == n:
            return (_by_phases(m, x, w, bias, group, strides, phases),)
    margins = [
        *(0, 0, *(s - 1 - b for s, b in zip(spans, begins, strict=True))),
        *(0, 0, *(s - 1 - e + o for s, e, o in zip(spans, ends, extra, strict=True))),
    ]
    wide = spaced(m, x, 2, strides)
    if min(margins) < 0:
        wide, margins = m("pad", wide, pads=tuple(margins)), [0] * len(margins)
    y = node.build(
        "conv",
        [wide, _transposed_filter(m, w, group), *bias],
        {
            "strides": (1,) * n,
            "dilations": dilations,
            "pads": (*margins[2 : n + 2], *margins[n + 4 :]),
            "group": group,
        },
    )
    return y


def _counts(
    sizes: Sequence[int], kernel: Sequence[int], attrs: Mapping[str, AttrValue], ceil: bool
) -> Array:
    """How many positions of each window lie on data; shape of the windows."""
    counts = np.ones((), np.float32)
    n = len(sizes)
    strides, dilations, pads = (
        cast("tuple[int, ...]", attrs[key]) for key in ("strides", "dilations", "pads")
    )
    for i, size in enumerate(sizes):
        stride, dilation, begin = strides[i], dilations[i], pads[i]
        number = window_size(size, kernel[i], stride, dilation, begin, pads[n + i], ceil)
        if not isinstance(number, int):
            raise ImportFailure("the pooled axes need static sizes")
        places = np.add.outer(np.arange(number) * stride, np.arange(kernel[i]) * dilation) - begin
        inside = ((places >= 0) & (places < size)).sum(axis=1).astype(np.float32)
        counts = np.multiply.outer(counts, inside)
    return counts


def _root(m: Maker, total: SSAValue, p: int) -> SSAValue:
    return {1: lambda: total, 2: lambda: m("sqrt", total)}.get(
        p, lambda: m("pow", total, 1.0 / p)
    )()


def _powers(m: Maker, x: SSAValue, p: int) -> SSAValue:
    """|x|^p."""
    if p == 2:
        return m("mul", x, x)
    return m("abs", x) if p == 1 else m("pow", m("abs", x), float(p))


def _lp_pool(node: Node) -> Sequence[SSAValue]:
    """The p-norm of each window: the mean over data times the number of data."""
    m, x = Maker(node), node.value(0)
    kernel = node.ints("kernel_shape")
    if kernel is None:
        raise ImportFailure("attribute 'kernel_shape' is missing")
    sizes, p, ceil = m.sizes(x)[2:], node.int_("p", 2), bool(node.int_("ceil_mode", 0))
    attrs = window(node, kernel, sizes)
    counts = _counts(sizes, kernel, attrs, ceil)
    mean = node.build(
        "average_pool",
        [_powers(m, x, p)],
        {"kernel_shape": kernel, "ceil_mode": ceil, **attrs},
    )[0]
    return (_root(m, m("mul", mean, counts), p),)


def _global_max_pool(node: Node) -> Sequence[SSAValue]:
    m, x = Maker(node), node.value(0)
    return (m.reduce("max", x, *range(2, m.rank(x))),)


def _global_lp_pool(node: Node) -> Sequence[SSAValue]:
    m, x, p = Maker(node), node.value(0), node.int_("p", 2)
    return (_root(m, m.reduce("sum", _powers(m, x, p), *range(2, m.rank(x))), p),)


def _col2im(node: Node) -> Sequence[SSAValue]:
    """The sum over kernel positions of their column images, each spaced out and moved to place."""
    m, x = Maker(node), node.value(0)
    image, block = node.ints_input(1, "image_shape"), node.ints_input(2, "block_shape")
    n = len(image)
    strides = node.ints("strides") or (1,) * n
    dilations = node.ints("dilations") or (1,) * n
    pads = node.ints("pads") or (0,) * (2 * n)
    counts = static(
        tuple(
            window_size(image[i], block[i], strides[i], dilations[i], pads[i], pads[n + i])
            for i in range(n)
        ),
        "Col2Im",
    )
    batch, columns, length = m.sizes(x)
    channels = columns // prod(block)
    if channels * prod(block) != columns or prod(counts) != length:
        raise ImportFailure(f"columns of {columns} x {length} for {list(image)}, {list(block)}")
    parts = m.reshape(x, (batch, channels, prod(block), *counts))
    total: SSAValue | None = None
    for number, place in enumerate(np.ndindex(*block)):
        part = m.reshape(m.cut(parts, 2, number, number + 1), (batch, channels, *counts))
        wide = spaced(m, part, 2, strides)
        begins = [place[i] * dilations[i] - pads[i] for i in range(n)]
        ends = [image[i] - m.sizes(wide)[2 + i] - begins[i] for i in range(n)]
        if any((*begins, *ends)):
            wide = m("pad", wide, pads=(0, 0, *begins, 0, 0, *ends))
        total = wide if total is None else m("add", total, wide)
    if total is None:
        raise ImportFailure("an empty block")
    return (total,)


def _dft_matrix(size: int, length: int, kept: int, inverse: bool) -> tuple[Array, Array]:
    """Cosines and sines [size, kept] of a transform of `length`; the inverse divides by it."""
    angles = 2.0 * np.pi * (np.outer(np.arange(size), np.arange(kept)) % length) / length
    scale = 1.0 / length if inverse else 1.0
    sign = 1.0 if inverse else -1.0
    return np.cos(angles) * scale, np.sin(angles) * sign * scale


def _dft(node: Node) -> Sequence[SSAValue]:
    """A product with the matrix of the transform, real and imaginary parts interleaved."""
    m, x = Maker(node), node.value(0)
    sizes = m.sizes(x)
    rank, parts = len(sizes), sizes[-1]
    axis = int(node.number(2, "the axis")) if node.has(2) else -2
    axis = normal_axis(node.int_("axis", 1) if node.opset < 20 else axis, rank)
    length = int(node.number(1, "the length")) if node.has(1) else sizes[axis]
    inverse, onesided = bool(node.int_("inverse", 0)), bool(node.int_("onesided", 0))
    if axis == rank - 1 or parts not in (1, 2):
        raise ImportFailure(f"axis {axis} of {list(sizes)}; the last axis holds the 1 or 2 parts")
    if inverse and onesided:
        length = length if node.has(1) else 2 * (sizes[axis] - 1)
        return (_along(m, x, axis, _real_matrix(min(length // 2 + 1, sizes[axis]), parts, length)),)
    kept, used = (length // 2 + 1 if onesided else length), min(length, sizes[axis])
    cos, sin = _dft_matrix(used, length, kept, inverse)
    matrix = np.zeros((used, parts, kept, 2), np.float32)
    matrix[:, 0, :, 0], matrix[:, 0, :, 1] = cos, sin
    if parts == 2:
        matrix[:, 1, :, 0], matrix[:, 1, :, 1] = -sin, cos
    return (_along(m, x, axis, matrix),)


def _real_matrix(used: int, parts: int, length: int) -> Array:
    """The inverse of a onesided spectrum, whose result is real: [used, parts, length, 1]."""
    cos, sin = _dft_matrix(used, length, length, True)
    twice = np.full((used, 1), 2.0)
    twice[0] = 1.0
    if length % 2 == 0 and used > length // 2:
        twice[length // 2] = 1.0
    matrix = np.zeros((used, parts, length, 1), np.float32)
    matrix[:, 0, :, 0] = cos * twice
    if parts == 2:
        matrix[:, 1, :, 0] = -sin * twice
    return matrix


def _along(m: Maker, x: SSAValue, axis: int, matrix: Array) -> SSAValue:
    """x's axis and its parts (last axis) times a matrix [used, parts, kept, parts after]."""
    sizes = m.sizes(x)
    rank, (used, parts, kept, after) = len(sizes), matrix.shape
    data = x if used == sizes[axis] else m.cut(x, axis, 0, used)
    others = [a for a in range(rank - 1) if a != axis]
    lead = tuple(sizes[a] for a in others)
    rows = m.reshape(m.transpose(data, *others, axis, rank - 1), (prod(lead), used * parts))
    y = m("matmul", rows, matrix.reshape(used * parts, kept * after))
    back = [*range(axis), rank - 2, *range(axis, rank - 2), rank - 1]
    return m.transpose(m.reshape(y, (*lead, kept, after)), *back)


OTHER_WINDOWS: dict[str, list[tuple[int, Entry]]] = {
    "ConvTranspose": [(1, _conv_transpose)],
    "LpPool": [(2, _lp_pool)],
    "GlobalMaxPool": [(1, _global_max_pool)],
    "GlobalLpPool": [(2, _global_lp_pool)],
    "Col2Im": [(18, _col2im)],
    "DFT": [(17, _dft)],
}
"""Entries by operator type, the newest opset first."""
