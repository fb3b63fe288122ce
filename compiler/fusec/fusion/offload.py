"""Operators of the graph level as ONNX nodes, for the host: graph.opaque in the place of one that
no kernel computes.

The package onnx is imported when the first one is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from fusec.semantics.dtypes import Array
from fusec.semantics.opaque import OWN_DOMAIN
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import OWN, AttrValue, GraphOp, OpaqueOp
from fusec_dialects.graph.base import tensor_type

if TYPE_CHECKING:
    from onnx import FunctionProto

    from fusec_dialects.graph.movement import GatherElementsOp

OPSET = 20
"""Of the nodes made here."""

Value: TypeAlias = int | float | str | list[int]

_PLAIN = (
    "abs add and bitwise_and bitwise_not bitwise_or bitwise_xor ceil cos div equal exp floor "
    "greater greater_or_equal less less_or_equal log max min mul neg not or pow reciprocal relu "
    "round sigmoid sign sin sqrt sub tanh where xor cast clip det expand slice"
)
_REDUCTIONS = "reduce_max reduce_mean reduce_min reduce_prod reduce_sum"

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_PLAIN.split(), ()),
    **dict.fromkeys(("concat", "gather"), ("axis",)),
    "bit_shift": ("direction",),
    "cum_sum": ("exclusive", "reverse"),
    "gather_nd": ("batch_dims",),
    "grid_sample": ("mode", "padding_mode", "align_corners"),
    "mod": ("fmod",),
    **dict.fromkeys(_REDUCTIONS.split(), ("keepdims",)),
    "reverse_sequence": ("batch_axis", "time_axis"),
    "scatter_elements": ("axis", "reduction"),
    "scatter_nd": ("reduction",),
    "top_k_indices": ("axis", "largest"),
    "transpose": ("perm",),
}
"""Operators that can be ONNX nodes, with the properties that are attributes of those."""

INPUTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_REDUCTIONS.split(), ("axes",)),
    "slice": ("starts", "ends", "axes", "steps"),
    "cum_sum": ("axis",),
    "clip": ("min", "max"),
    "top_k_indices": ("k",),
}
"""Properties that are inputs of the nodes, in their order."""

_SPECIAL = {"gather_nd": "GatherND", "scatter_nd": "ScatterND", "top_k_indices": "TopK"}


def opaque_of(op: Operation, operands: Sequence[SSAValue]) -> OpaqueOp | None:
    """graph.opaque that computes what a graph operator computes, of these operands; None for
    operators that are no single ONNX node. One of a user's is a node of that name."""
    if isinstance(op, GraphOp) and op.op_name in OWN:
        return _own(op, operands)
    if not isinstance(op, GraphOp) or op.op_name not in (*ATTRIBUTES, "gather_elements"):
        return None
    kind = _SPECIAL.get(op.op_name) or "".join(p.capitalize() for p in op.op_name.split("_"))
    function = _gather_elements(op) if kind == "GatherElements" else _function(op, kind)
    content = function.SerializeToString()
    made = OpaqueOp(kind, "", OPSET, content, operands, op.result_types)
    made.location = op.location
    return made


def _own(op: GraphOp, operands: Sequence[SSAValue]) -> OpaqueOp | None:
    """The node of an operator of a user's, whose meaning is in the table of semantics; None where
    a size is not known."""
    if not all(tensor_type(result).has_static_shape() for result in op.results):
        return None
    from onnx import AttributeProto, helper

    own = OWN[op.op_name]
    domain = own.domain or OWN_DOMAIN
    names = [f"x{i}" for i in range(len(op.operands))]
    outputs = [f"y{i}" for i in range(len(op.results))]
    node = helper.make_node(own.name, names, outputs, domain=domain)
    given = {name: value for name, value in op.attrs().items() if value is not None}
    for name, value in given.items():
        kind = AttributeProto.INTS if isinstance(value, tuple) else None
        node.attribute.append(helper.make_attribute(name, _plain(value), attr_type=kind))
    opsets = [helper.make_opsetid(domain, 1)]
    function = helper.make_function("fusec", own.name, names, outputs, [node], opsets)
    made = OpaqueOp(own.name, domain, 1, function.SerializeToString(), operands, op.result_types)
    made.location = op.location
    return made


def _function(op: GraphOp, kind: str) -> FunctionProto:
    from onnx import helper, numpy_helper

    names = [f"x{i}" for i in range(len(op.operands))]
    outputs = [f"y{i}" for i in range(len(op.results))]
    given = {name: value for name, value in op.attrs().items() if value is not None}
    attributes = {n: _plain(given[n]) for n in ATTRIBUTES[op.op_name] if n in given}
    if op.op_name == "cast":
        dtype = numpy_type(tensor_type(op.results[0]).element_type)
        attributes["to"] = helper.np_dtype_to_tensor_dtype(dtype)
    constants = [numpy_helper.from_array(a, f"c{i}") for i, a in enumerate(_constants(op, given))]
    nodes = [helper.make_node("Constant", [], [c.name], value=c) for c in constants]
    inputs = [*names, *(c.name for c in constants)]
    node = helper.make_node(kind, inputs, ["values", *outputs] if kind == "TopK" else outputs)
    node.attribute.extend(helper.make_attribute(n, value) for n, value in attributes.items())
    nodes.append(node)
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_function("fusec", kind, names, outputs, nodes, opsets)


def _gather_elements(op: GraphOp) -> FunctionProto:
    """GatherND at places whose other coordinates are constant: ONNX's reference implementation of
    GatherElements takes only indices as large as the data along the other axes."""
    from onnx import TensorProto, helper, numpy_helper

    shape = tensor_type(op.operands[1]).get_shape()
    axis = cast("GatherElementsOp", op).axis.value.data % len(shape)
    places = np.indices(shape, np.int64)
    last = numpy_helper.from_array(np.array([-1], np.int64), "last")
    nodes = [helper.make_node("Constant", [], ["last"], value=last)]
    nodes.append(helper.make_node("Unsqueeze", ["x1", "last"], ["u"]))
    nodes.append(helper.make_node("Cast", ["u"], ["i"], to=TensorProto.INT64))
    parts: list[str] = []
    for d in range(len(shape)):
        parts.append("i" if d == axis else f"c{d}")
        if parts[-1] != "i":
            value = numpy_helper.from_array(places[d][..., None], parts[-1])
            nodes.append(helper.make_node("Constant", [], [parts[-1]], value=value))
    nodes.append(helper.make_node("Concat", parts, ["at"], axis=-1))
    nodes.append(helper.make_node("GatherND", ["x0", "at"], ["y0"]))
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_function("fusec", "GatherElements", ["x0", "x1"], ["y0"], nodes, opsets)


def _constants(op: GraphOp, given: Mapping[str, AttrValue]) -> list[Array]:
    """The values of the inputs that the dialect has as properties."""
    if op.op_name == "expand":
        return [np.array(tensor_type(op.results[0]).get_shape(), np.int64)]
    dtype = numpy_type(tensor_type(op.operands[0]).element_type)
    kind = dtype if op.op_name == "clip" else np.dtype(np.int64)
    names = [n for n in INPUTS.get(op.op_name, ()) if n in given]
    return [np.array(_plain(given[n]), kind, ndmin=int(n == "k")) for n in names]


def _plain(value: AttrValue) -> Value:
    """As ONNX has it: a truth value as 0 or 1, several values as a list."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, tuple):
        return list(value)
    if value is None:
        raise ValueError("an absent property")
    return value
