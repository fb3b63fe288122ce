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

RESIDUAL_GAIN = 0.25
"""Gain of a batch norm whose result is added to a shortcut: with 1 the signal grows in each
block, until a softmax at the end knows one class only.
"""

_SCALES = {
    "BatchNormalization": (1, 4),
    "LayerNormalization": (1,),
    "InstanceNormalization": (1,),
    "GroupNormalization": (1,),
    "RMSNormalization": (1,),
}
"""Inputs that are norm scales or variances."""

_PASSES_ON = ("Transpose", "Identity", "Cast")
"""Operators behind which a weight is still what its next user makes of it."""


def _fan_in(node: NodeProto, index: int, shape: tuple[int, ...]) -> int:
    """How many inputs one output sums over; the last size where that is not known."""
    if node.op_type == "Conv":
        return prod(shape[1:])
    if node.op_type == "ConvTranspose":
        return shape[0] * prod(shape[2:])
    if node.op_type == "Gemm":
        name = "transB" if index else "transA"
        transposed = any(a.name == name and helper.get_attribute_value(a) for a in node.attribute)
        return shape[1 if transposed == bool(index) else 0]
    if node.op_type == "MatMul":
        return shape[-2] if index else shape[-1]
    return shape[-1]


class _Uses:
    """Who computes and who uses each value of a model."""

    def __init__(self, model: ModelProto) -> None:
        self.producer = {o: n for n in model.graph.node for o in n.output if o}
        self.users: dict[str, list[tuple[NodeProto, int]]] = {}
        for node in model.graph.node:
            for index, name in enumerate(node.input):
                self.users.setdefault(name, []).append((node, index))

    def has_silu(self) -> bool:
        """Whether some value is multiplied by its own sigmoid."""
        return any(
            node.op_type == "Sigmoid" and set(user.input[:2]) == {node.input[0], node.output[0]}
            for node in self.producer.values()
            for user, _ in self.users.get(node.output[0], ())
            if user.op_type == "Mul"
        )

    def is_added(self, node: NodeProto) -> bool:
        """Whether a node's first result goes into a sum."""
        users = self.users.get(node.output[0], ())
        return any(user.op_type in ("Add", "Sum") for user, _ in users)

    def is_norm_scale(self, node: NodeProto, index: int) -> bool:
        """Whether an input multiplies what was divided by a root: a norm written out."""
        if node.op_type != "Mul" or len(node.input) != 2:
            return False
        other = self.producer.get(node.input[1 - index])
        roots = {"Div": ("Sqrt",), "Mul": ("Reciprocal",)}.get(other.op_type if other else "", ())
        producers = [self.producer.get(name) for name in (other.input if other else ())]
        return any(p is not None and p.op_type in roots for p in producers)


def _passed_on(uses: _Uses, name: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """The value, and its shape, whose uses say what a weight is for."""
    while len(users := uses.users.get(name, ())) == 1 and users[0][0].op_type in _PASSES_ON:
        node = users[0][0]
        if node.op_type == "Transpose":
            given = [tuple(a.ints) for a in node.attribute if a.name == "perm"]
            perm = given[0] if given else range(len(shape))[::-1]
            shape = tuple(shape[p] for p in perm)
        name = node.output[0]
    return name, shape


def _role(uses: _Uses, node: NodeProto, index: int, shape: tuple[int, ...], gain: float) -> Role:
    if node.op_type == "BatchNormalization" and index == 1 and uses.is_added(node):
        return Role("scale", gain=RESIDUAL_GAIN)
    if index in _SCALES.get(node.op_type, ()):
        return Role("scale")
    if len(shape) >= 2 and prod(shape) > max(shape):
        conv = node.op_type in ("Conv", "ConvTranspose")
        return Role("matrix", _fan_in(node, index, shape), gain if conv else 1.0)
    return Role("scale") if uses.is_norm_scale(node, index) else Role()


def weight_roles(model: ModelProto, arrays: Mapping[str, Array]) -> dict[str, Role]:
    """Roles of the constants that nodes use; the first use that says more than "vector" counts."""
    uses = _Uses(model)
    gain = SILU_GAIN if uses.has_silu() else 1.0
    roles: dict[str, Role] = {}
    for weight, array in arrays.items():
        name, shape = _passed_on(uses, weight, array.shape)
        for node, index in uses.users.get(name, ()):
            role = _role(uses, node, index, shape, gain)
            if role.kind != "vector":
                roles[weight] = role
                break
    return roles
