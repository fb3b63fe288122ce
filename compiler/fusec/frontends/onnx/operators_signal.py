"""ONNX's short-time Fourier transform and its mel filters.

The transform of every frame is a convolution with the cosines and sines as filters, the window
multiplied into them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.container import numpy_dtype
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.folding import Result
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec.semantics.dtypes import Array
from fusec.semantics.types import numpy_type


def _stft(node: Node) -> Sequence[SSAValue]:
    """[batch, length(, 1 or 2)] to [batch, frames, bins, 2]."""
    m, signal = Maker(node), node.value(0)
    sizes = m.sizes(signal)
    parts = 1 if len(sizes) == 2 else sizes[-1]
    if len(sizes) not in (2, 3) or parts not in (1, 2):
        raise ImportFailure(f"a signal of {list(sizes)}; it is [batch, length, 1 or 2]")
    batch, length = sizes[:2]
    step, size = int(node.number(1, "frame_step")), _frame_length(m, length)
    onesided = bool(node.int_("onesided", 1))
    if parts == 2 and onesided:
        raise ImportFailure("a complex signal has no onesided transform")
    if step < 1 or not 1 <= size <= length:
        raise ImportFailure(f"frames of {size} every {step} in a signal of {length}")
    bins = size // 2 + 1 if onesided else size
    dtype = numpy_type(node.element(signal))
    filters: SSAValue = node.constant(_filters(size, bins, parts).astype(dtype))
    if node.has(2):
        filters = m("mul", filters, node.value(2))
    data = m.transpose(m.reshape(signal, (batch, length, parts)), 0, 2, 1)
    (y,) = node.build(
        "conv",
        [data, filters],
        {"strides": (step,), "dilations": (1,), "pads": (0, 0), "group": 1},
    )
    frames = m.sizes(y)[-1]
    return (m.transpose(m.reshape(y, (batch, bins, 2, frames)), 0, 3, 1, 2),)


def _frame_length(m: Maker, length: int) -> int:
    """That of input 3, else of the window, else of the whole signal."""
    node = m.node
    given = int(node.number(3, "frame_length")) if node.has(3) else None
    if not node.has(2):
        return length if given is None else given
    (size,) = m.sizes(node.value(2)) if m.rank(node.value(2)) == 1 else (0,)
    if size == 0 or given not in (None, size):
        raise ImportFailure(f"a window of {size} for frames of {given}")
    return size


def _filters(size: int, bins: int, parts: int) -> Array:
    """[bins x 2, parts, size]: real and imaginary part of each bin by part of the signal."""
    angles = 2.0 * np.pi * (np.outer(np.arange(bins), np.arange(size)) % size) / size
    filters = np.zeros((bins, 2, parts, size))
    filters[:, 0, 0], filters[:, 1, 0] = np.cos(angles), -np.sin(angles)
    if parts == 2:
        filters[:, 0, 1], filters[:, 1, 1] = np.sin(angles), np.cos(angles)
    return filters.reshape(2 * bins, parts, size)


def _mel(hertz: Array) -> Array:
    return 2595.0 * np.log10(1.0 + hertz / 700.0)


def _mel_weights(node: Node) -> Sequence[Result]:
    """Triangles over the bins of a spectrum [dft_length / 2 + 1, bins], equally wide in mel.

    The formula is that of ONNX's MelWeightMatrix: edges at whole bins, each side of a triangle
    linear between them.
    """
    bins, length, rate = (
        int(node.number(i, name))
        for i, name in enumerate(("num_mel_bins", "dft_length", "sample_rate"))
    )
    low, high = (float(node.number(i, name)) for i, name in ((3, "lower edge"), (4, "upper edge")))
    if bins < 1 or length < 1 or rate < 1 or not 0 <= low < high:
        raise ImportFailure(
            f"{bins} bins from {low} to {high} Hz of {length} samples at {rate} Hz make no filters"
        )
    spectrum = length // 2 + 1
    least, most = _mel(np.array(low)), _mel(np.array(high))
    edges = np.arange(bins + 2) * ((most - least) / (bins + 2)) + least
    hertz = 700.0 * (10.0 ** (edges / 2595.0) - 1.0)
    places: list[int] = ((length + 1) * hertz // rate).astype(int).tolist()
    matrix = np.zeros((spectrum, bins))
    for i, (left, centre, right) in enumerate(zip(places, places[1:], places[2:], strict=False)):
        rise = np.arange(left, centre + 1)
        fall = np.arange(centre, right)
        if centre == left:
            matrix[centre, i] = 1.0
        else:
            matrix[rise, i] = (rise - left) / (centre - left)
        if right > centre:
            matrix[fall, i] = (right - fall) / (right - centre)
    code = node.int_("output_datatype", 1)
    return (matrix.astype(numpy_dtype(code, "the result")),)


SIGNAL: dict[str, list[tuple[int, Entry]]] = {
    "STFT": [(17, _stft)],
    "MelWeightMatrix": [(17, _mel_weights)],
}
"""Entries by operator type, the newest opset first."""
