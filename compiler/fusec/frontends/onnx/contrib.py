"""ONNX Runtime's own operators (com.microsoft) that are compositions of ONNX's.

What is not in the table is refused by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import AttributeProto
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry, static
from fusec.frontends.onnx.folding import Result
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node

DOMAIN = "com.microsoft"

OPSET = 23
"""The opset of ONNX whose operators are meant."""


def _same(op_type: str, opset: int) -> Entry:
    """ONNX's operator of that name and opset, with the same inputs and attributes."""
    return lambda node: node.as_onnx(op_type, node.proto.input, _attributes(node), opset)


def _attributes(node: Node, *dropped: str) -> dict[str, AttributeProto]:
    return {a.name: a for a in node.proto.attribute if a.name not in dropped}


def _total(m: Maker, *indices: int) -> SSAValue:
    """The sum of the inputs that are present."""
    first, *rest = [m.node.value(i) for i in indices if m.node.has(i)]
    for value in rest:
        first = m("add", first, value)
    return first


def _gelu(approximate: str) -> Entry:
    """GELU of the sum of the inputs."""

    def entry(node: Node) -> Sequence[SSAValue]:
        return node.build("gelu", [_total(Maker(node), 0, 1)], {"approximate": approximate})

    return entry


def _quick_gelu(node: Node) -> Sequence[SSAValue]:
    """x sigmoid(alpha x)."""
    m, x = Maker(node), node.value(0)
    return (m("mul", x, m("sigmoid", m("mul", x, node.float_("alpha", 1.702)))),)


def _skip_norm(op_type: str, bias: int) -> Entry:
    """A norm over the last axis of input + skip + bias; that sum is the fourth output."""

    def entry(node: Node) -> Sequence[Result]:
        if any(node.proto.output[1:3]):
            raise ImportFailure("the outputs mean and inv_std_var are not supported")
        total = _total(Maker(node), 0, 1, bias)
        names = [node.named(total, "sum"), *node.proto.input[2:bias]]
        epsilon = node.float_("epsilon", 1e-12)
        (y, *_) = node.as_onnx(op_type, names, {"epsilon": epsilon, "axis": -1}, OPSET, outputs=1)
        return (y, y, y, total)

    return entry


def _fused_matmul(node: Node) -> Sequence[SSAValue]:
    """alpha op(A) op(B), where op may swap the last two axes."""
    if node.int_("transBatchA", 0) or node.int_("transBatchB", 0):
        raise ImportFailure("transBatchA and transBatchB are not supported")
    m = Maker(node)
    operands: list[SSAValue] = []
    for value, name in zip(node.values(2, 2), ("transA", "transB"), strict=True):
        axes = list(range(m.rank(value)))
        if node.int_(name, 0) and len(axes) > 1:
            axes[-2:] = axes[:-3:-1]
        operands.append(m.transpose(value, *axes))
    y, alpha = m("matmul", *operands), node.float_("alpha", 1.0)
    return (y if alpha == 1.0 else m("mul", y, alpha),)


_ACTIVATIONS: dict[str, tuple[str, ...]] = {
    "Relu": (),
    "Tanh": (),
    "Sigmoid": (),
    "LeakyRelu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
}
"""Activations of the fused operators, and the names of their parameters."""


def _fused_conv(node: Node) -> Sequence[Result]:
    """A convolution, then the sum with input 3, then an activation."""
    attributes = _attributes(node, "activation", "activation_params")
    (y, *_) = node.as_onnx("Conv", node.proto.input[:3], attributes, 11, outputs=1)
    if node.has(3):
        y = Maker(node)("add", node.as_value(y), node.value(3))
    activation = node.text("activation", "")
    parameters = node.floats("activation_params") or ()
    if not activation:
        return (y,)
    if activation == "Clip" and len(parameters) == 2:
        limits = {"min": parameters[0], "max": parameters[1]}
        return node.as_onnx("Clip", [node.named(y, "sum")], limits, 6)
    names = _ACTIVATIONS.get(activation)
    if names is None or len(parameters) not in (0, len(names)):
        raise ImportFailure(
            f"activation '{activation}' with parameters {list(parameters)} is not supported"
        )
    given = dict(zip(names, parameters, strict=bool(parameters)))
    return node.as_onnx(activation, [node.named(y, "sum")], given, OPSET)


def _rotary(node: Node) -> Sequence[Result]:
    """ONNX's RotaryEmbedding, whose positions come last."""
    if node.float_("scale", 1.0) != 1.0 or node.int_("is_packed_batching", 0):
        raise ImportFailure("scale and is_packed_batching are not supported")
    if len(node.shape(node.value(1))) != 2:
        raise ImportFailure("positions have to be given for each token, [batch, sequence]")
    x, positions, cos, sin = node.proto.input
    attributes: dict[str, Any] = _attributes(node, "scale", "is_packed_batching")
    shape, columns = node.shape(node.value(0)), node.shape(node.value(2))[-1]
    if len(shape) == 3 and not node.int_("num_heads", 0):
        (hidden, half) = static((shape[-1], columns), "num_heads 0")
        attributes["num_heads"] = hidden // (2 * half)
    return node.as_onnx("RotaryEmbedding", [x, cos, sin, positions], attributes, OPSET)


def _multi_head(node: Node) -> Sequence[Result]:
    """ONNX's Attention on [batch, sequence, hidden]; input 5 is added to the scores."""
    others = [i for i in range(3, len(node.proto.input)) if i != 5 and node.has(i)]
    if others or any(node.proto.output[1:]):
        raise ImportFailure(
            "bias, key_padding_mask and past states are not supported, nor present ones"
        )
    ranks = [len(node.shape(node.value(i))) for i in range(3) if node.has(i)]
    if ranks != [3, 3, 3]:
        raise ImportFailure("query, key and value have to be [batch, sequence, hidden]")
    heads = node.int_("num_heads")
    attributes: dict[str, Any] = {"q_num_heads": heads, "kv_num_heads": heads}
    if scale := node.float_("scale", 0.0):
        attributes["scale"] = scale
    if node.int_("unidirectional", 0):
        attributes["is_causal"] = 1
    mask = [node.proto.input[5]] if node.has(5) else []
    return node.as_onnx("Attention", [*node.proto.input[:3], *mask], attributes, OPSET)


_CONTRIB: dict[str, Entry] = {
    "Gelu": _gelu("none"),
    "BiasGelu": _gelu("none"),
    "FastGelu": _gelu("tanh"),
    "QuickGelu": _quick_gelu,
    "SkipLayerNormalization": _skip_norm("LayerNormalization", 4),
    "SkipSimplifiedLayerNormalization": _skip_norm("RMSNormalization", 3),
    "FusedMatMul": _fused_matmul,
    "FusedConv": _fused_conv,
    "RotaryEmbedding": _rotary,
    "MultiHeadAttention": _multi_head,
    "Trilu": _same("Trilu", 14),
    "Range": _same("Range", 11),
    "Pad": _same("Pad", 13),
    "GatherND": _same("GatherND", 13),
    "QuantizeLinear": _same("QuantizeLinear", 13),
    "DequantizeLinear": _same("DequantizeLinear", 13),
}

CONTRIB: dict[str, list[tuple[int, Entry]]] = {
    "SimplifiedLayerNormalization": [(1, _same("RMSNormalization", OPSET))],
    **{f"{DOMAIN}.{name}": [(1, entry)] for name, entry in _CONTRIB.items()},
}
"""Entries by operator, its domain before it; SimplifiedLayerNormalization stands in ONNX's own."""
