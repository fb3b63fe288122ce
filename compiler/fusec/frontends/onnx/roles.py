"""What each weight of an ONNX model is for, by its uses: matrices with their fan-in, scales,
vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from onnx import ModelProto, NodeProto, helper

from fusec.semantics.dtypes import Array
from fusec.semantics.weights import Role

SILU_GAIN = 1.5
"""Gain of convolutions in networks with SiLU, whose signal fades with 1."""

_SCALES = {
    "BatchNormalization": (1, 4),
    "LayerNormalization": (1,),
    "InstanceNormalization": (1,),
    "GroupNormalization": (1,),
    "RMSNormalization": (1,),
}
"""Inputs that are norm scales or variances."""


def _fan_in(node: NodeProto, index: int, shape: tuple[int, ...]) -> int:
    if node.op_type in ("Conv", "ConvTranspose"):
        return prod(shape[1:]) if node.op_type == "Conv" else shape[0] * prod(shape[2:])
    if node.op_type == "Gemm":
        transposed = any(
            a.name == ("transB" if index else "transA") and helper.get_attribute_value(a)
            for a in node.attribute
        )
        return shape[1 if transposed == bool(index) else 0]
    if node.op_type == "MatMul":
        return shape[-2] if index else shape[-1]
    return shape[-1]


def _has_silu(model: ModelProto) -> bool:
    sigmoids = {
        n.output[0]: n.input[0] for n in model.graph.node if n.op_type == "Sigmoid" and n.output
    }
    return any(
        n.op_type == "Mul"
        and any(a in sigmoids and sigmoids[a] == b for a, b in (n.input[:2], n.input[1::-1]))
        for n in model.graph.node
    )


def weight_roles(model: ModelProto, arrays: Mapping[str, Array]) -> dict[str, Role]:
    """Roles of the constants that nodes use; the first use that says more than "vector" counts."""
    gain = SILU_GAIN if _has_silu(model) else 1.0
    roles: dict[str, Role] = {}
    for node in model.graph.node:
        for index, name in enumerate(node.input):
            if name not in arrays or name in roles:
                continue
            shape = arrays[name].shape
            if index in _SCALES.get(node.op_type, ()):
                roles[name] = Role("scale")
            elif len(shape) >= 2 and prod(shape) > max(shape):
                conv = node.op_type in ("Conv", "ConvTranspose")
                roles[name] = Role("matrix", _fan_in(node, index, shape), gain if conv else 1.0)
    return roles
