"""ONNX's reductions, positions of extremes, scans and normalisations as compositions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.folding import Result
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.shapes import normal_axis

Reduction: TypeAlias = Callable[[Maker, SSAValue, tuple[int, ...], bool], SSAValue]

EXACT = 1 << 24
"""Whole numbers up to here are exact in f32."""


def reduced_axes(node: Node, axes_input: bool) -> tuple[int, ...] | None:
    """The axes of a reduction; None where the node asks for none at all (noop)."""
    axes = node.ints("axes") or ()
    if axes_input:
        axes = node.ints_input(1, "axes") if node.has(1) else ()
    if not axes and node.int_("noop_with_empty_axes", 0):
        return None
    rank = len(node.shape(node.value(0)))
    return tuple(normal_axis(a, rank) for a in axes) or tuple(range(rank))


def _reduction(function: Reduction, axes_input: bool) -> Entry:
    def entry(node: Node) -> Sequence[SSAValue]:
        axes = reduced_axes(node, axes_input)
        keep = bool(node.int_("keepdims", 1))
        return (function(Maker(node), node.value(0), axes or (), keep),)

    return entry


def _l1(m: Maker, x: SSAValue, axes: tuple[int, ...], keep: bool) -> SSAValue:
    return m.reduce("sum", m("abs", x), *axes, keepdims=keep)


def _sum_square(m: Maker, x: SSAValue, axes: tuple[int, ...], keep: bool) -> SSAValue:
    return m.reduce("sum", m("mul", x, x), *axes, keepdims=keep)


def _l2(m: Maker, x: SSAValue, axes: tuple[int, ...], keep: bool) -> SSAValue:
    return m("sqrt", _sum_square(m, x, axes, keep))


def _log_sum(m: Maker, x: SSAValue, axes: tuple[int, ...], keep: bool) -> SSAValue:
    return m("log", m.reduce("sum", x, *axes, keepdims=keep))


def _log_sum_exp(m: Maker, x: SSAValue, axes: tuple[int, ...], keep: bool) -> SSAValue:
    """log(sum(exp(x - m))) + m, m the largest where it is finite."""
    if not all(m.node.shape(x)):
        return _log_sum(m, m("exp", x), axes, keep)
    largest = m("clip", m.reduce("max", x, *axes), min=-3e38, max=3e38)
    total = m("log", m.reduce("sum", m("exp", m("sub", x, largest)), *axes))
    result = m("add", total, largest)
    return result if keep or not axes else m("squeeze", result, axes=axes)


_REDUCTIONS: dict[str, Reduction] = {
    "ReduceL1": _l1,
    "ReduceL2": _l2,
    "ReduceSumSquare": _sum_square,
    "ReduceLogSum": _log_sum,
    "ReduceLogSumExp": _log_sum_exp,
}


def _counted(m: Maker, x: SSAValue, axis: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """0, 1, 2, ... along the axis, of a shape that broadcasts to x."""
    size = m.sizes(x)[axis]
    if size > EXACT:
        raise ImportFailure(f"axis {axis} has {size} entries, more than f32 can count")
    return np.arange(size, dtype=np.float32).reshape(-1, *(1,) * (m.rank(x) - axis - 1))


def first_extreme(m: Maker, x: SSAValue, axis: int, kind: str, last: bool) -> SSAValue:
    """Where the largest (`max`) or smallest stands along the axis, as f32, the axis kept."""
    size = m.sizes(x)[axis]
    found = m("equal", x, m.reduce(kind, x, axis))
    places = m.node.constant(_counted(m, x, axis))
    other = m.node.constant(np.array(0 if last else max(size - 1, 0), np.float32))
    return m.reduce("max" if last else "min", m("where", found, places, other), axis)


def _extreme(kind: str) -> Entry:
    def entry(node: Node) -> Sequence[SSAValue]:
        m, x = Maker(node), node.value(0)
        axis = normal_axis(node.int_("axis", 0), m.rank(x))
        place = first_extreme(m, x, axis, kind, bool(node.int_("select_last_index", 0)))
        result = m.cast(place, "int64")
        keep = node.int_("keepdims", 1)
        return (result if keep else m("squeeze", result, axes=(axis,)),)

    return entry


def _hardmax(node: Node) -> Sequence[SSAValue]:
    """1 at the first largest, 0 elsewhere; before opset 13 of all axes from `axis` on, flat."""
    m, x = Maker(node), node.value(0)
    shape = m.sizes(x)
    axis = normal_axis(node.int_("axis", -1 if node.opset >= 13 else 1), len(shape))
    flat = x
    if node.opset < 13:
        flat = m.reshape(x, (prod(shape[:axis]), prod(shape[axis:])))
        axis = 1
    place = first_extreme(m, flat, axis, "max", False)
    hit = m("equal", place, _counted(m, flat, axis))
    return (m.reshape(m("cast", hit, to=node.element(x)), shape),)


def _lp_normalization(node: Node) -> Sequence[SSAValue]:
    m, x = Maker(node), node.value(0)
    axis = normal_axis(node.int_("axis", -1), m.rank(x))
    norm = {1: _l1, 2: _l2}.get(node.int_("p", 2))
    if norm is None:
        raise ImportFailure("p is 1 or 2")
    size = norm(m, x, (axis,), True)
    return (m("div", x, m("where", m("equal", size, 0.0), 1.0, size)),)


def _layer_norm(node: Node) -> Sequence[Result]:
    """The mean and the inverse deviation too come from ONNX's own body."""
    if node.outputs() > 1:
        return node.body()
    attrs: dict[str, AttrValue] = {
        "axis": node.int_("axis", -1),
        "epsilon": node.float_("epsilon", 1e-5),
    }
    return node.build("layer_normalization", node.values(2, 3), attrs)


def _rms_norm(node: Node) -> Sequence[SSAValue]:
    """x / sqrt(mean(x^2) + epsilon) scale, in f32 inside."""
    m = Maker(node)
    x, scale = node.values(2, 2)
    axes = range(normal_axis(node.int_("axis", -1), m.rank(x)), m.rank(x))
    wide = m.cast(x, "float32")
    mean = m.reduce("mean", m("mul", wide, wide), *axes)
    root = m("sqrt", m("add", mean, node.float_("epsilon", 1e-5)))
    return (m("mul", m("cast", m("div", wide, root), to=node.element(x)), scale),)


def standardised(m: Maker, x: SSAValue, axes: Sequence[int], epsilon: float) -> SSAValue:
    """(x - mean) / sqrt(variance + epsilon) over axes."""
    centred = m("sub", x, m.reduce("mean", x, *axes))
    variance = m.reduce("mean", m("mul", centred, centred), *axes)
    return m("div", centred, m("sqrt", m("add", variance, epsilon)))


def _affine(m: Maker, x: SSAValue, scale: SSAValue, bias: SSAValue) -> SSAValue:
    """x scale + bias for each channel."""
    tail = (1,) * (m.rank(x) - 2)
    per_channel = [m("reshape", v, shape=(*m.node.shape(v), *tail)) for v in (scale, bias)]
    return m("add", m("mul", x, per_channel[0]), per_channel[1])


def _instance_norm(node: Node) -> Sequence[SSAValue]:
    m = Maker(node)
    x, scale, bias = node.values(3, 3)
    y = standardised(m, x, range(2, m.rank(x)), node.float_("epsilon", 1e-5))
    return (_affine(m, y, scale, bias),)


def _group_norm(node: Node) -> Sequence[SSAValue]:
    """Before opset 21 scale and bias are one for each group."""
    m = Maker(node)
    x, scale, bias = node.values(3, 3)
    shape, groups = m.sizes(x), node.int_("num_groups")
    if groups < 1 or shape[1] % groups:
        raise ImportFailure(f"{shape[1]} channels do not divide into {groups} groups")
    split = m.reshape(x, (shape[0], groups, shape[1] // groups, *shape[2:]))
    y = standardised(m, split, range(2, len(shape) + 1), node.float_("epsilon", 1e-5))
    if node.opset < 21:
        y = _affine(m, y, scale, bias)
        return (m.reshape(y, shape),)
    return (_affine(m, m.reshape(y, shape), scale, bias),)


def _mvn(node: Node) -> Sequence[SSAValue]:
    m, x = Maker(node), node.value(0)
    axes = node.ints("axes") or (0, 2, 3)
    return (standardised(m, x, [normal_axis(a, m.rank(x)) for a in axes], 1e-9),)


def _lrn(node: Node) -> Sequence[SSAValue]:
    """The window over channels is an average pool over [N, 1, C, spatial]."""
    m, x = Maker(node), node.value(0)
    shape, size = m.sizes(x), node.int_("size")
    alpha, beta, bias = (
        node.float_(name, default)
        for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    square = m.reshape(m("mul", x, x), (shape[0], 1, shape[1], prod(shape[2:])))
    mean = m(
        "average_pool",
        square,
        kernel_shape=(size, 1),
        strides=(1, 1),
        pads=((size - 1) // 2, 0, size // 2, 0),
        dilations=(1, 1),
        count_include_pad=True,
    )
    base = m("add", m("mul", m.reshape(mean, shape), alpha), bias)
    return (m("div", x, m("pow", base, beta)),)


def _scan(name: str) -> Entry:
    def entry(node: Node) -> Sequence[SSAValue]:
        attrs: dict[str, AttrValue] = {
            "axis": int(node.number(1, "the axis")),
            "exclusive": bool(node.int_("exclusive", 0)),
            "reverse": bool(node.int_("reverse", 0)),
        }
        return node.build(name, [node.value(0)], attrs)

    return entry


def _top_k(node: Node) -> Sequence[SSAValue]:
    m, x = Maker(node), node.value(0)
    axis = node.int_("axis", -1)
    k = int(node.number(1, "k")) if node.opset >= 10 else node.int_("k")
    indices = m("top_k_indices", x, axis=axis, k=k, largest=bool(node.int_("largest", 1)))
    return m("gather_elements", x, indices, axis=axis), indices


REDUCE: dict[str, list[tuple[int, Entry]]] = {
    **{
        name: [(18, _reduction(function, True)), (1, _reduction(function, False))]
        for name, function in _REDUCTIONS.items()
    },
    "ArgMax": [(1, _extreme("max"))],
    "ArgMin": [(1, _extreme("min"))],
    "Hardmax": [(1, _hardmax)],
    "LpNormalization": [(1, _lp_normalization)],
    "LayerNormalization": [(17, _layer_norm)],
    "RMSNormalization": [(23, _rms_norm)],
    "InstanceNormalization": [(6, _instance_norm)],
    "GroupNormalization": [(18, _group_norm)],
    "MeanVarianceNormalization": [(9, _mvn)],
    "LRN": [(1, _lrn)],
    "CumSum": [(11, _scan("cum_sum"))],
    "CumProd": [(26, _scan("cum_prod"))],
    "TopK": [(1, _top_k)],
}
"""Entries by operator type, the newest opset first."""
