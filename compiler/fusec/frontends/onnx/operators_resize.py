"""ONNX's Resize and Upsample: a gather (nearest) or a product with weights along each axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.operators_moves import taken
from fusec.semantics.dtypes import Array
from fusec_dialects.graph.shapes import normal_axis


@dataclass(frozen=True)
class _Axis:
    """One axis: its size before and after, the scale, and the region of interest."""

    before: int
    after: int
    scale: float
    start: float
    end: float

    def places(self, how: str) -> Array:
        """Where each new position lies on the old axis (ONNX coordinate_transformation_mode)."""
        at = np.arange(self.after, dtype=np.float64)
        match how:
            case "half_pixel":
                return (at + 0.5) / self.scale - 0.5
            case "half_pixel_symmetric":
                shift = self.before / 2 * (1 - self.after / (self.scale * self.before))
                return shift + (at + 0.5) / self.scale - 0.5
            case "pytorch_half_pixel":
                return (at + 0.5) / self.scale - 0.5 if self.after > 1 else np.zeros(self.after)
            case "asymmetric":
                return at / self.scale
            case "align_corners":
                last = self.scale * self.before - 1
                return at * ((self.before - 1) / last) if last else at * 0.0
            case "tf_crop_and_resize":
                last = self.before - 1
                if self.after == 1:
                    return np.full(1, 0.5 * (self.start + self.end) * last)
                step = (self.end - self.start) * last / (self.after - 1)
                return self.start * last + at * step
            case _:
                raise ImportFailure(f"coordinate_transformation_mode '{how}' is unknown")


def _nearest(at: Array, mode: str) -> Array:
    match mode:
        case "round_prefer_floor":
            return np.ceil(at - 0.5)
        case "round_prefer_ceil":
            return np.floor(at + 0.5)
        case "floor":
            return np.floor(at)
        case "ceil":
            return np.ceil(at)
        case _:
            raise ImportFailure(f"nearest_mode '{mode}' is unknown")


def _kernel(distance: Array, mode: str, cubic: float) -> Array:
    """The weight of an entry at a distance: a triangle, or Keys' cubic."""
    d = np.abs(distance)
    if mode == "linear":
        return np.maximum(0.0, 1.0 - d)
    near = ((cubic + 2) * d - (cubic + 3)) * d * d + 1
    far = cubic * (((d - 5) * d + 8) * d - 4)
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _weights(axis: _Axis, node: Node, how: str, mode: str) -> Array:
    """[after, before]: how much of each old entry goes into each new one."""
    at = axis.places(how)
    stretch = min(1.0, axis.scale) if node.int_("antialias", 0) else 1.0
    reach = int(np.ceil((1 if mode == "linear" else 2) / stretch)) + 1
    floor = np.floor(at).astype(np.int64)
    taps = floor[:, None] + np.arange(-reach, reach + 1)
    cubic = node.float_("cubic_coeff_a", -0.75)
    weights = _kernel((taps - at[:, None]) * stretch, mode, cubic)
    outside = bool(node.int_("exclude_outside", 0))
    if outside:
        weights = np.where((taps >= 0) & (taps < axis.before), weights, 0.0)
    if outside or stretch < 1.0:
        weights = weights / weights.sum(axis=1, keepdims=True)
    matrix = np.zeros((axis.after, axis.before))
    rows = np.broadcast_to(np.arange(axis.after)[:, None], taps.shape)
    np.add.at(matrix, (rows, np.clip(taps, 0, axis.before - 1)), weights)
    return matrix.astype(np.float32)


def _apply(m: Maker, x: SSAValue, axis: int, matrix: Array) -> SSAValue:
    """The product along one axis; the last two axes need no transposition."""
    rank = m.rank(x)
    if axis == rank - 1:
        return m("matmul", x, np.ascontiguousarray(matrix.T))
    if axis == rank - 2:
        return m("matmul", matrix, x)
    perm = [*(a for a in range(rank) if a != axis), axis]
    turned = m("matmul", m.transpose(x, *perm), np.ascontiguousarray(matrix.T))
    return m.transpose(turned, *(perm.index(a) for a in range(rank)))


def _wanted(node: Node, sizes: tuple[int, ...], axes: tuple[int, ...]) -> list[_Axis]:
    """The axes that `scales` or `sizes` name, `keep_aspect_ratio_policy` applied."""
    if node.has(3) and node.array(3, "the sizes").size:
        given = node.ints_input(3, "the sizes")
        after = _kept_aspect(node, [sizes[a] for a in axes], given)
        scales = [n / sizes[a] for n, a in zip(after, axes, strict=True)]
        if node.text("keep_aspect_ratio_policy", "stretch") != "stretch":
            choose = max if node.text("keep_aspect_ratio_policy", "") == "not_smaller" else min
            scales = [choose(n / sizes[a] for n, a in zip(given, axes, strict=True))] * len(axes)
    else:
        scales = [float(s) for s in node.array(2, "the scales").reshape(-1)]
        after = [int(np.floor(sizes[a] * s)) for a, s in zip(axes, scales, strict=False)]
    if len(scales) != len(axes) or min(after, default=1) < 1:
        raise ImportFailure(f"{list(scales)} for axes {list(axes)}; give one for each")
    roi = [0.0] * len(axes) + [1.0] * len(axes)
    if node.text("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        roi = [float(v) for v in node.array(1, "the region").reshape(-1)]
    return [
        _Axis(sizes[a], after[i], scales[i], roi[i], roi[len(axes) + i]) for i, a in enumerate(axes)
    ]


def _kept_aspect(node: Node, before: list[int], given: tuple[int, ...]) -> list[int]:
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return list(given)
    if policy not in ("not_larger", "not_smaller"):
        raise ImportFailure(f"keep_aspect_ratio_policy '{policy}' is unknown")
    choose = min if policy == "not_larger" else max
    scale = choose(n / b for n, b in zip(given, before, strict=True))
    return [int(np.floor(scale * b + 0.5)) for b in before]


def _resize(node: Node) -> Sequence[SSAValue]:
    m, x = Maker(node), node.value(0)
    sizes = m.sizes(x)
    axes = tuple(normal_axis(a, len(sizes)) for a in node.ints("axes") or range(len(sizes)))
    how = node.text("coordinate_transformation_mode", "half_pixel")
    mode = node.text("mode", "nearest")
    if mode not in ("nearest", "linear", "cubic"):
        raise ImportFailure(f"mode '{mode}' is unknown")
    y = x
    cropped = how == "tf_crop_and_resize"
    inside = np.ones((), np.bool_)
    found = dict(zip(axes, _wanted(node, sizes, axes), strict=True))
    for number in range(len(sizes)):
        axis = found.get(number) or _Axis(sizes[number], sizes[number], 1.0, 0.0, 1.0)
        here = np.ones(axis.after, np.bool_)
        if cropped and number in found:
            at = axis.places(how)
            here = (at >= 0) & (at <= axis.before - 1)
        inside = np.logical_and.outer(inside, here)
        if number not in found or _is_same(axis, cropped):
            continue
        y = _along(m, y, number, axis, how, mode)
    if inside.all():
        return (y if y is not x else m("identity", x),)
    return (m("where", inside, y, node.float_("extrapolation_value", 0.0)),)


def _is_same(axis: _Axis, cropped: bool) -> bool:
    whole = not cropped or (axis.start, axis.end) == (0.0, 1.0)
    return axis.before == axis.after and axis.scale == 1.0 and whole


def _along(m: Maker, x: SSAValue, number: int, axis: _Axis, how: str, mode: str) -> SSAValue:
    if mode != "nearest":
        return _apply(m, x, number, _weights(axis, m.node, how, mode))
    at = _nearest(axis.places(how), m.node.text("nearest_mode", "round_prefer_floor"))
    at = np.clip(at, 0, axis.before - 1).astype(np.int64)
    times = axis.after // axis.before
    if np.array_equal(at, np.repeat(np.arange(axis.before), max(times, 1))):
        return _repeated(m, x, number, times)
    return taken(m, x, number, at)


def _repeated(m: Maker, x: SSAValue, axis: int, times: int) -> SSAValue:
    """Every entry `times` times, by an expansion."""
    sizes = m.sizes(x)
    single = m.reshape(x, (*sizes[: axis + 1], 1, *sizes[axis + 1 :]))
    wide = m("expand", single, shape=(*sizes[: axis + 1], times, *sizes[axis + 1 :]))
    return m.reshape(wide, (*sizes[:axis], sizes[axis] * times, *sizes[axis + 1 :]))


def _upsample(node: Node) -> Sequence[SSAValue]:
    """Upsample of opset 7 (an attribute) and 9, Resize of 10: asymmetric, nearest by floor."""
    m, x = Maker(node), node.value(0)
    sizes = m.sizes(x)
    if node.opset < 9:
        scales = [s for a in node.proto.attribute if a.name == "scales" for s in a.floats]
    else:
        scales = [float(s) for s in node.array(1, "the scales").reshape(-1)]
    mode = node.text("mode", "nearest")
    if mode not in ("nearest", "linear") or len(scales) != len(sizes):
        raise ImportFailure(f"mode '{mode}' with {len(scales)} scales")
    y = x
    for number, (size, scale) in enumerate(zip(sizes, scales, strict=True)):
        axis = _Axis(size, int(np.floor(size * scale)), scale, 0.0, 1.0)
        if axis.after == size:
            continue
        if mode == "nearest":
            at = np.clip(np.floor(axis.places("asymmetric")), 0, size - 1)
            y = taken(m, y, number, at)
        else:
            y = _apply(m, y, number, _weights(axis, node, "asymmetric", mode))
    return (y if y is not x else m("identity", x),)


RESIZE: dict[str, list[tuple[int, Entry]]] = {
    "Resize": [(11, _resize), (10, _upsample)],
    "Upsample": [(7, _upsample)],
}
"""Entries by operator type, the newest opset first."""
