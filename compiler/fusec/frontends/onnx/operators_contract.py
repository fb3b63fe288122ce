"""ONNX's Einsum, and its integer and quantised operators as compositions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import Attribute, SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec.semantics.types import element_type, numpy_type
from fusec_dialects.graph.shapes import normal_axis

# Einsum: each value with the letters of its axes; two at a time are joined by a matmul.


def _letters(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand and of the result; `...` becomes upper-case letters."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ImportFailure(f"equation '{equation}' for {len(ranks)} operands")
    spare = max(
        (r - len(t) + 3 for t, r in zip(terms, ranks, strict=True) if "..." in t), default=0
    )
    rest = "ABCDEFGHIJ"[:spare]

    def spelled(term: str, rank: int) -> str:
        letters = term.replace("...", rest[len(rest) - (rank - len(term) + 3) :] if spare else "")
        if len(letters) != rank:
            raise ImportFailure(f"term '{term}' of '{equation}' for rank {rank}")
        if len(set(letters)) != rank:
            raise ImportFailure(f"a letter twice in '{term}' (a diagonal) is not supported")
        return letters

    found = [spelled(t, r) for t, r in zip(terms, ranks, strict=True)]
    if arrow:
        return found, right.replace("...", rest)
    once = sorted(c for c in set("".join(found)) - set(rest) if "".join(found).count(c) == 1)
    return found, rest + "".join(once)


def _summed(m: Maker, x: SSAValue, letters: str, kept: str) -> tuple[SSAValue, str]:
    """Sums over the axes whose letter nothing else needs."""
    gone = [i for i, c in enumerate(letters) if c not in kept]
    if not gone:
        return x, letters
    rest = "".join(c for c in letters if c in kept)
    return m.reduce("sum", x, *gone, keepdims=False), rest


def _grouped(m: Maker, x: SSAValue, letters: str, groups: Sequence[str]) -> SSAValue:
    """x with its axes in the order of the groups, each group one axis."""
    order = "".join(groups)
    turned = m.transpose(x, *(letters.index(c) for c in order))
    sizes = dict(zip(letters, m.sizes(x), strict=True))
    return m.reshape(turned, tuple(prod(sizes[c] for c in group) for group in groups))


def _joined(
    m: Maker, a: tuple[SSAValue, str], b: tuple[SSAValue, str], kept: str
) -> tuple[SSAValue, str]:
    """Two values as a batched matmul over the letters that they share."""
    left, right = (_summed(m, *v, other[1] + kept) for v, other in ((a, b), (b, a)))
    sizes = dict(zip(left[1], m.sizes(left[0]), strict=True))
    others = dict(zip(right[1], m.sizes(right[0]), strict=True))
    shared = [c for c in left[1] if c in right[1]]
    if any(sizes[c] != others[c] for c in shared):
        raise ImportFailure("axes of one letter differ in size; einsum does not broadcast here")
    batch = "".join(c for c in shared if c in kept)
    inner = "".join(c for c in shared if c not in kept)
    rows = "".join(c for c in left[1] if c not in shared)
    columns = "".join(c for c in right[1] if c not in shared)
    product = m(
        "matmul",
        _grouped(m, *left, (batch, rows, inner)),
        _grouped(m, *right, (batch, inner, columns)),
    )
    letters = batch + rows + columns
    every = {**sizes, **others}
    return m.reshape(product, tuple(every[c] for c in letters)), letters


def _einsum(node: Node) -> Sequence[SSAValue]:
    m, values = Maker(node), node.values()
    terms, result = _letters(node.text("equation", ""), [m.rank(v) for v in values])
    first, *rest = zip(values, terms, strict=True)
    for number, other in enumerate(rest):
        later = "".join(terms[number + 2 :])
        first = _joined(m, first, other, result + later)
    y, letters = _summed(m, *first, result)
    if sorted(letters) != sorted(result):
        raise ImportFailure(f"the result '{result}' names axes that no operand has")
    y = m.transpose(y, *(letters.index(c) for c in result))
    return (m("identity", y) if y is values[0] else y,)


# Quantisation: scales and zero points are one number, or one for each entry of an axis.


def _spread(m: Maker, value: SSAValue, x: SSAValue, axis: int) -> SSAValue:
    """A scale or zero point in a shape that broadcasts to x."""
    shape = m.node.shape(value)
    if len(shape) == 1 and m.rank(x) > 0:
        return m.reshape(value, (*shape, *(1,) * (m.rank(x) - normal_axis(axis, m.rank(x)) - 1)))
    if len(shape) > 1:
        raise ImportFailure("blocked quantisation is not supported")
    return value


def _factor(m: Maker, scale: SSAValue, x: SSAValue, axis: int) -> SSAValue:
    """A scale in f32, in a shape that broadcasts to x."""
    return m.cast(_spread(m, scale, x, axis), "float32")


def _limits(element: Attribute) -> tuple[float, float]:
    """The range of a quantised type, exact in f32."""
    dtype = numpy_type(element)
    if dtype.kind not in "iu" or dtype.itemsize > 2:
        raise ImportFailure(f"quantised type {element} is not supported, only 8 and 16 bits")
    return float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)


def _quantised(m: Maker, x: SSAValue, scale: SSAValue, zero: SSAValue | None) -> SSAValue:
    """round(x / scale) + zero point, limited to the range of its type (ui8 without one)."""
    axis = m.node.int_("axis", 1)
    element = element_type(np.dtype(np.uint8)) if zero is None else m.node.element(zero)
    least, most = _limits(element)
    whole = m("round", m("div", m.cast(x, "float32"), _factor(m, scale, x, axis)))
    if zero is not None:
        whole = m("add", whole, m.cast(_spread(m, zero, x, axis), "float32"))
    limited = m("clip", whole, min=least, max=most)
    return m("cast", limited, to=element)


def _quantize(node: Node) -> Sequence[SSAValue]:
    x, scale, *zero = node.values(2, 3)
    return (_quantised(Maker(node), x, scale, zero[0] if zero else None),)


def _centred(m: Maker, x: SSAValue, zero: SSAValue | None, axis: int, to: str) -> SSAValue:
    """x - zero point in a wider type."""
    wide = m.cast(x, to)
    return wide if zero is None else m("sub", wide, m.cast(_spread(m, zero, x, axis), to))


def _dequantize(node: Node) -> Sequence[SSAValue]:
    m = Maker(node)
    x, scale, *zero = node.values(2, 3)
    axis = node.int_("axis", 1)
    centred = _centred(m, x, zero[0] if zero else None, axis, "float32")
    y = m("mul", centred, _factor(m, scale, x, axis))
    return (y if node.element(scale) == node.element(y) else m("cast", y, to=node.element(scale)),)


def _matmul_integer(node: Node) -> Sequence[SSAValue]:
    """In i32; a zero point of a is one for each row, of b one for each column."""
    m = Maker(node)
    a, b = node.value(0), node.value(1)
    left = _centred(m, a, node.value(2) if node.has(2) else None, -2, "int32")
    right = _centred(m, b, node.value(3) if node.has(3) else None, -1, "int32")
    return (m("matmul", left, right),)


def _qlinear_matmul(node: Node) -> Sequence[SSAValue]:
    """The products in i32, the scales in f32, rounded to the result's type."""
    m = Maker(node)
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = node.values(8, 8)
    product = m("matmul", _centred(m, a, a_zero, -2, "int32"), _centred(m, b, b_zero, -1, "int32"))
    scaled = m("mul", m.cast(product, "float32"), _factor(m, a_scale, a, -2))
    scaled = m("mul", scaled, _factor(m, b_scale, b, -1))
    return (_quantised(m, scaled, y_scale, y_zero),)


CONTRACT: dict[str, list[tuple[int, Entry]]] = {
    "Einsum": [(12, _einsum)],
    "QuantizeLinear": [(10, _quantize)],
    "DequantizeLinear": [(10, _dequantize)],
    "MatMulInteger": [(10, _matmul_integer)],
    "QLinearMatMul": [(10, _qlinear_matmul)],
}
"""Entries by operator type, the newest opset first."""
