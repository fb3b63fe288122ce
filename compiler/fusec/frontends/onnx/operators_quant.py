"""ONNX's quantised and integer operators as compositions.

Products of 8-bit integers are computed in f32, in pieces whose sums stay below 2^24: exact, and
what the cube does. Scales and zero points are one number, one for each entry of an axis, or one
for each block of an axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from xdsl.ir import Attribute, SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.container import numpy_dtype
from fusec.frontends.onnx.entry import Entry, static
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.operators_reduce import EXACT
from fusec.frontends.onnx.windows import window
from fusec.semantics.types import element_type, numpy_type
from fusec_dialects.graph.shapes import normal_axis


def _spread(m: Maker, value: SSAValue, x: SSAValue, axis: int, block: int = 0) -> SSAValue:
    """A scale or zero point in a shape that broadcasts to x; `block` entries of x share one."""
    shape, rank = m.node.shape(value), m.rank(x)
    if block:
        return _blocks(m, value, x, normal_axis(axis, rank), block)
    if len(shape) == 1 and shape != (1,) and rank > 0:
        return m.reshape(value, (*shape, *(1,) * (rank - normal_axis(axis, rank) - 1)))
    if len(shape) <= 1 or len(shape) == rank:
        return value
    raise ImportFailure(
        f"a scale or zero point of rank {len(shape)} for a tensor of rank {rank}; give one number, "
        "one for each entry of the axis, or block_size"
    )


def _blocks(m: Maker, value: SSAValue, x: SSAValue, axis: int, block: int) -> SSAValue:
    """Each entry along an axis `block` times, cut to the size of x."""
    sizes, given = m.sizes(x), m.sizes(value)
    expected = (*sizes[:axis], -(-sizes[axis] // block), *sizes[axis + 1 :])
    if given != expected:
        raise ImportFailure(
            f"scales of shape {list(given)} for blocks of {block} along axis {axis} of "
            f"{list(sizes)}; expected {list(expected)}"
        )
    lead, count, tail = given[:axis], given[axis], given[axis + 1 :]
    single = m.reshape(value, (*lead, count, 1, *tail))
    whole = m("expand", single, shape=(*lead, count, block, *tail))
    flat = m.reshape(whole, (*lead, count * block, *tail))
    return flat if count * block == sizes[axis] else m.cut(flat, axis, 0, sizes[axis])


def _block(node: Node) -> int:
    block = node.int_("block_size", 0)
    if block < 0:
        raise ImportFailure(f"block_size {block} is negative")
    return block


def _factor(m: Maker, scale: SSAValue, x: SSAValue, axis: int, block: int = 0) -> SSAValue:
    """A scale in f32, in a shape that broadcasts to x."""
    return m.cast(_spread(m, scale, x, axis, block), "float32")


def _limits(element: Attribute) -> tuple[int, int]:
    """The range of a quantised type, exact in f32."""
    dtype = numpy_type(element)
    if dtype.kind not in "iu" or dtype.itemsize > 2:
        raise ImportFailure(f"quantised type {element} is not supported, only 8 and 16 bits")
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def _quantised(m: Maker, x: SSAValue, scale: SSAValue, zero: SSAValue | None) -> SSAValue:
    """round(x / scale) + zero point, limited to the range of its type: that of the zero point, of
    `output_dtype`, or ui8."""
    axis, block = m.node.int_("axis", 1), _block(m.node)
    code = m.node.int_("output_dtype", 0)
    element = element_type(numpy_dtype(code, "the result") if code else np.dtype(np.uint8))
    if zero is not None:
        if code and m.node.element(zero) != element:
            raise ImportFailure(f"output_dtype is {element}, the zero point {zero.type}")
        element = m.node.element(zero)
    least, most = _limits(element)
    whole = m("round", m("div", m.cast(x, "float32"), _factor(m, scale, x, axis, block)))
    if zero is not None:
        whole = m("add", whole, m.cast(_spread(m, zero, x, axis, block), "float32"))
    limited = m("clip", whole, min=float(least), max=float(most))
    return m("cast", limited, to=element)


def _quantize(node: Node) -> Sequence[SSAValue]:
    x, scale, *zero = node.values(2, 3)
    return (_quantised(Maker(node), x, scale, zero[0] if zero else None),)


def _dequantize(node: Node) -> Sequence[SSAValue]:
    """(x - zero point) scale, in the type of the scale or in `output_dtype`."""
    m = Maker(node)
    x, scale, *zero = node.values(2, 3)
    axis, block = node.int_("axis", 1), _block(node)
    wide = m.cast(x, "float32")
    known = node.known(2) if zero else None
    if zero and (known is None or known.any()):
        wide = m("sub", wide, m.cast(_spread(m, zero[0], x, axis, block), "float32"))
    y = m("mul", wide, _factor(m, scale, x, axis, block))
    code = node.int_("output_dtype", 0)
    to = element_type(numpy_dtype(code, "the result")) if code else node.element(scale)
    return (y if to == node.element(y) else m("cast", y, to=to),)


# Products of integers


class _Centred:
    """x - zero point in f32, and the largest that it can be."""

    def __init__(self, m: Maker, index: int, zero: int, axis: int) -> None:
        node = m.node
        x = node.value(index)
        least, most = _limits(node.element(x))
        if most - least > 255:
            raise ImportFailure(f"operand {index} is {node.element(x)}, not 8 bits")
        self.value, self.most = m.cast(x, "float32"), max(-least, most)
        if not node.has(zero):
            return
        known = node.known(zero)
        if known is not None and not known.any():
            return
        point = m.cast(_spread(m, node.value(zero), x, axis), "float32")
        self.value, self.most = m("sub", self.value, point), most - least


def _summed(
    m: Maker, depth: int, each: int, a: _Centred, b: _Centred, part: Callable[[int, int], SSAValue]
) -> SSAValue:
    """The product in i32: the sum of part(start, end) over pieces of `depth` positions, `each`
    products a position, none of whose sums is inexact in f32."""
    room = max(1, a.most * b.most)
    step = max(1, EXACT // room // each)
    if room * each >= EXACT:
        raise ImportFailure(f"{each} products for each channel are more than f32 sums exactly")
    pieces = [(s, min(s + step, depth)) for s in range(0, depth, step)] or [(0, 0)]
    total = m.cast(part(*pieces[0]), "int32")
    for start, end in pieces[1:]:
        total = m("add", total, m.cast(part(start, end), "int32"))
    return total


def _product(m: Maker, b_index: int, zeros: tuple[int, int]) -> SSAValue:
    """The matmul of inputs 0 and `b_index`, whose zero points are the inputs `zeros`."""
    a, b = _Centred(m, 0, zeros[0], -2), _Centred(m, b_index, zeros[1], -1)
    (depth,) = static(m.node.shape(a.value)[-1:], "the sum")

    def part(start: int, end: int) -> SSAValue:
        left, right = a.value, b.value
        if (start, end) != (0, depth):
            left = m.cut(left, m.rank(left) - 1, start, end)
            right = m.cut(right, max(0, m.rank(right) - 2), start, end)
        return m("matmul", left, right)

    return _summed(m, depth, 1, a, b, part)


def _convolved(m: Maker, w_index: int, zeros: tuple[int, int]) -> SSAValue:
    """The convolution of input 0 with the filter `w_index`; long sums by pieces of channels."""
    node = m.node
    x, w = _Centred(m, 0, zeros[0], 0), _Centred(m, w_index, zeros[1], 0)
    outputs, depth, *kernel = m.sizes(w.value)
    declared, group = node.ints("kernel_shape"), node.int_("group", 1)
    if declared is not None and declared != tuple(kernel):
        raise ImportFailure(f"kernel_shape is {list(declared)}, the filter has {kernel}")
    attrs = {**window(node, kernel, node.shape(x.value)[2:]), "group": group}

    def part(start: int, end: int) -> SSAValue:
        data, weights = x.value, w.value
        if (start, end) != (0, depth):
            data = _channels(m, data, group, start, end)
            weights = m.cut(weights, 1, start, end)
        return node.build("conv", [data, weights], attrs)[0]

    if outputs % group:
        raise ImportFailure(f"{outputs} filters do not divide into {group} groups")
    return _summed(m, depth, prod(kernel), x, w, part)


def _channels(m: Maker, x: SSAValue, group: int, start: int, end: int) -> SSAValue:
    """Channels start to end of each group."""
    if group == 1:
        return m.cut(x, 1, start, end)
    batch, channels, *rest = m.sizes(x)
    parts = m.reshape(x, (batch, group, channels // group, *rest))
    return m.reshape(m.cut(parts, 2, start, end), (batch, group * (end - start), *rest))


def _scaled(m: Maker, product: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    """An i32 product in f32, times the scales of both operands."""
    return m("mul", m("mul", m.cast(product, "float32"), a), b)


def _matmul_integer(node: Node) -> Sequence[SSAValue]:
    return (_product(Maker(node), 1, (2, 3)),)


def _qlinear_matmul(node: Node) -> Sequence[SSAValue]:
    m = Maker(node)
    a, a_scale, _, b, b_scale, _, y_scale, y_zero = node.values(8, 8)
    factors = _factor(m, a_scale, a, -2), _factor(m, b_scale, b, -1)
    return (_quantised(m, _scaled(m, _product(m, 3, (2, 5)), *factors), y_scale, y_zero),)


def _conv_integer(node: Node) -> Sequence[SSAValue]:
    return (_convolved(Maker(node), 1, (2, 3)),)


def _qlinear_conv(node: Node) -> Sequence[SSAValue]:
    """The bias is i32, at the product of the scales of x and w, and added before them."""
    m = Maker(node)
    x, x_scale, _, _, w_scale, _, y_scale, y_zero, *bias = node.values(8, 9)
    total = _convolved(m, 3, (2, 5))
    for value in bias:
        total = m("add", total, _spread(m, value, x, 1))
    factors = m.cast(x_scale, "float32"), _factor(m, w_scale, x, 1)
    return (_quantised(m, _scaled(m, total, *factors), y_scale, y_zero),)


QUANTISED: dict[str, list[tuple[int, Entry]]] = {
    "QuantizeLinear": [(10, _quantize)],
    "DequantizeLinear": [(10, _dequantize)],
    "MatMulInteger": [(10, _matmul_integer)],
    "QLinearMatMul": [(10, _qlinear_matmul)],
    "ConvInteger": [(10, _conv_integer)],
    "QLinearConv": [(10, _qlinear_conv)],
}
"""Entries by operator type, the newest opset first."""
