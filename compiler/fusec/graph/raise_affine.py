"""Products and sums with constants of the channels behind a convolution, as its filter and bias,
or behind a batch norm, as its scale and bias.

A batch norm that an exporter wrote as Mul and Add, or whose scale it wrote apart (Caffe). The new
values are expressions of weights, so they are computed once; in f32 where the weights are narrower.
"""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType, bf16, f16, f32
from xdsl.ir import Attribute, SSAValue

from fusec.graph.query import single, static
from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import is_known
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type


def _by_channel(value: SSAValue, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """() for one number, (channels,) for one of each channel of a result of this shape."""
    sizes = static(value)
    if sizes is None or len(sizes) > len(shape) or not is_known(value):
        return None
    padded = (1,) * (len(shape) - len(sizes)) + sizes
    if set(padded) <= {1}:
        return ()
    return (shape[1],) if padded == (1, shape[1], *(1,) * (len(shape) - 2)) else None


class _Numbers:
    """Builds expressions of weights, in f32 where they are 16 bits wide."""

    def __init__(self, rewriter: Rewriter, element: Attribute) -> None:
        self._rewriter = rewriter
        self._element = element

    def seen(self, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        if static(value) != shape:
            type_ = TensorType(self._element, shape)
            value = self._rewriter.build("reshape", [value], types=[type_])
        if self._element not in (f16, bf16):
            return value
        return self._rewriter.build("cast", [value], {"to": f32})

    def apply(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._rewriter.build(name, [a, b])

    def done(self, value: SSAValue) -> SSAValue:
        if tensor_type(value).element_type == self._element:
            return value
        return self._rewriter.build("cast", [value], {"to": self._element})


def _raise(op: GraphOp, rewriter: Rewriter) -> bool:
    for at, other in ((0, 1), (1, 0)) if op.op_name in ("mul", "add") else ((0, 1),):
        conv = single(op.operands[at], "conv")
        if conv is not None and _into(conv, op, op.operands[other], rewriter):
            return True
        norm = single(op.operands[at], "batch_normalization")
        if norm is not None and _into_norm(norm, op, op.operands[other], rewriter):
            return True
    return False


def _into_norm(norm: GraphOp, op: GraphOp, constant: SSAValue, rewriter: Rewriter) -> bool:
    x, scale, bias, mean, variance = norm.operands
    attrs, shape, type_ = norm.attrs(), static(op.results[0]), op.results[0].type
    if shape is None or norm.results[0].type != type_ or attrs["layout"] != "NCHW":
        return False
    sizes = _by_channel(constant, shape)
    if sizes is None or not all(map(is_known, (scale, bias))):
        return False
    numbers = _Numbers(rewriter, tensor_type(bias).element_type)
    vector = numbers.seen(constant, sizes)
    if op.op_name in ("mul", "div"):
        scale = numbers.done(numbers.apply(op.op_name, numbers.seen(scale, (shape[1],)), vector))
    bias = numbers.done(numbers.apply(op.op_name, numbers.seen(bias, (shape[1],)), vector))
    made = rewriter.build("batch_normalization", [x, scale, bias, mean, variance], attrs, [type_])
    return rewriter.replace(made)


def _into(conv: GraphOp, op: GraphOp, constant: SSAValue, rewriter: Rewriter) -> bool:
    x, w, *bias = conv.operands
    attrs, shape = conv.attrs(), static(op.results[0])
    type_ = op.results[0].type
    if conv.results[0].type != type_ or shape is None or not all(map(is_known, (w, *bias))):
        return False
    if (attrs["y_layout"], attrs["w_layout"]) != ("NCHW", "OIHW"):
        return False
    sizes, filter_ = _by_channel(constant, shape), static(w)
    if sizes is None or filter_ is None:
        return False
    numbers = _Numbers(rewriter, tensor_type(w).element_type)
    if op.op_name in ("mul", "div"):
        factor = numbers.seen(constant, (*sizes, *(1,) * (len(filter_) - 1)) if sizes else ())
        w = numbers.done(numbers.apply(op.op_name, numbers.seen(w, filter_), factor))
    elif not bias and not sizes:
        return False
    vector = numbers.seen(constant, sizes)
    if bias:
        old = numbers.seen(bias[0], (shape[1],))
        bias = [numbers.done(numbers.apply(op.op_name, old, vector))]
    elif op.op_name in ("add", "sub"):
        new = vector if op.op_name == "add" else rewriter.build("neg", [vector])
        bias = [numbers.done(new)]
    return rewriter.replace(rewriter.build("conv", [x, w, *bias], attrs, [type_]))


AFFINE_RULES = (Rule("raise-affine", ("graph.mul", "graph.div", "graph.add", "graph.sub"), _raise),)
"""Label `reorder`: the same real numbers, rounded at other places."""
