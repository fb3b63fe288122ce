"""Nodes that fusec has no operator for: evaluated where their inputs are known, else kept as
graph.opaque with the types that ONNX's shape inference, or the model itself, gives for the results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import (
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorShapeProto,
    TypeProto,
    ValueInfoProto,
)
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.checks import Unsupported
from fusec.frontends.onnx.container import numpy_dtype
from fusec.frontends.onnx.folding import MOST, Result
from fusec.frontends.onnx.functions import free_names, subgraphs
from fusec.frontends.onnx.names import hint
from fusec.frontends.onnx.node import Node
from fusec.semantics.base import SemanticsError
from fusec.semantics.dtypes import DATA_TYPES, Array
from fusec.semantics.opaque import run_function
from fusec.semantics.types import numpy_type, tensor_of
from fusec_dialects.graph import ConstantOp, OpaqueOp, WeightOp
from fusec_dialects.graph.base import tensor_type

if TYPE_CHECKING:
    from fusec.frontends.onnx.importer import Importer

RANDOM = (
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
)
"""Operators that give another result each time."""


def folded_by_reference(importer: Importer, node: Node) -> list[Result] | None:
    """The outputs of a node whose inputs are known by ONNX's reference implementation; None where
    it has none, or the result is no tensor of the dialect."""
    if node.domain or node.proto.op_type in RANDOM:
        return None
    outputs = [name for name in node.proto.output if name]
    names = list(dict.fromkeys(filter(None, node.proto.input)))
    function = _function(importer, node, names, outputs)
    try:
        found = run_function(function, [importer.arrays[name] for name in names])
    except SemanticsError:
        return None
    arrays = dict(zip(outputs, found, strict=True))
    results: list[Result] = []
    for name in node.proto.output:
        value = arrays.get(name, np.zeros(0, np.float32))
        if value is None or isinstance(value, list):
            return None
        array = np.asarray(value)
        if array.dtype.name not in DATA_TYPES:
            return None
        results.append(array)
    return results


def erase_after(block: Block, last: Operation | None) -> None:
    """Takes back what a node built before it failed, but for weights and constants."""
    op = block.last_op
    while op is not None and op is not last:
        before = op.prev_op
        used = any(result.first_use for result in op.results)
        if not used and not isinstance(op, ConstantOp | WeightOp):
            block.erase_op(op)
        op = before


def keep(importer: Importer, node: Node, error: Exception) -> list[Result]:
    """The outputs of a node as those of one graph.opaque; `error` says why it is no other operator.

    Outputs that nobody uses are left out. Raises ImportFailure where a result is no tensor or its
    shape is not known.
    """
    proto = node.proto
    names = list(dict.fromkeys((*filter(None, proto.input), *free_names(proto))))
    outputs = [name for name in proto.output if name and importer.facts.is_used(name)]
    if not outputs:
        return [np.zeros(0, np.float32) for _ in proto.output]
    try:
        operands = [importer.value(name) for name in names]
        types = _types(importer, node, names, outputs)
    except ImportFailure as failure:
        first = "" if isinstance(error, Unsupported) else f"{error}; "
        raise ImportFailure(f"{first}it cannot be kept as graph.opaque: {failure}") from error
    function = _function(importer, node, names, outputs)
    content = function.SerializeToString()
    op = OpaqueOp(proto.op_type, node.domain, node.opset, content, operands, types)
    op.location = importer.loc
    op.verify()
    importer.block.add_op(op)
    found = dict(zip(outputs, op.outputs, strict=True))
    for name, result in found.items():
        result.name_hint = hint(name)
    return [found.get(name, np.zeros(0, np.float32)) for name in proto.output]


def _function(
    importer: Importer, node: Node, names: Sequence[str], outputs: Sequence[str]
) -> FunctionProto:
    """The node by itself, its inputs and outputs in that order, every opset that it may need."""
    proto = NodeProto()
    proto.CopyFrom(node.proto)
    proto.doc_string = ""
    del proto.metadata_props[:]
    nodes = [proto]
    is_loop = proto.op_type == "Loop" and node.domain == ""
    if is_loop and len(proto.input) > 1 and not proto.input[1]:
        proto.input[1] = "true"
        while proto.input[1] in names:
            proto.input[1] += "_"
        value = onnx.numpy_helper.from_array(np.array(True))
        # The reference implementation of Loop takes an absent condition for a false one.
        nodes.insert(0, onnx.helper.make_node("Constant", [], [proto.input[1]], value=value))
    domains = {node.domain, *_domains(proto)} | ({""} if len(nodes) > 1 else set[str]())
    opsets = {**importer.opsets, node.domain: node.opset}
    imports = [onnx.helper.make_opsetid(d, opsets.get(d, 1)) for d in sorted(domains)]
    return onnx.helper.make_function("fusec", proto.op_type, names, outputs, nodes, imports)


def _domains(node: NodeProto) -> set[str]:
    """Domains of the operators in a node's subgraphs."""
    found: set[str] = set()
    for graph in subgraphs(node):
        for inner in graph.node:
            found |= {"" if inner.domain == "ai.onnx" else inner.domain, *_domains(inner)}
    return found


def _types(
    importer: Importer, node: Node, names: Sequence[str], outputs: Sequence[str]
) -> list[TensorType[Attribute]]:
    """Types of the outputs: what ONNX infers, each part that it leaves open as the model says."""
    inferred, why = _inferred(importer, node, names, outputs)
    types: list[TensorType[Attribute]] = []
    for name in outputs:
        found = (inferred.get(name), importer.facts.declared(name))
        given = [t for t in found if t is not None]
        types.append(_static(f"result '{name}'", given, importer.sizes, why))
    return types


def _static(
    what: str, found: Sequence[TypeProto], sizes: Mapping[str, int], why: str
) -> TensorType[Attribute]:
    for type_ in found:
        kind = type_.WhichOneof("value")
        if kind not in (None, "tensor_type"):
            text = kind.removesuffix("_type").replace("_", " ")
            raise ImportFailure(f"{what} is no tensor, its kind is {text}")
    tensors = [type_.tensor_type for type_ in found if type_.HasField("tensor_type")]
    code = next((t.elem_type for t in tensors if t.elem_type), None)
    if code is None:
        raise ImportFailure(f"the element type of {what} is not known{why}; {_ADVICE}")
    dtype = numpy_dtype(code, what)
    shapes = [_dims(t.shape, sizes) for t in tensors if t.HasField("shape")]
    dims = shapes[0] if shapes else None
    for other in shapes[1:]:
        if dims is not None and len(other) == len(dims):
            dims = [a if b is None else b for a, b in zip(other, dims, strict=True)]
    if dims is None or None in dims:
        text = "" if dims is None else f" [{', '.join('?' if d is None else str(d) for d in dims)}]"
        raise ImportFailure(f"the shape{text} of {what} is not known{why}; {_ADVICE}")
    return tensor_of(dtype, tuple(d for d in dims if d is not None))


_ADVICE = (
    "give the inputs static shapes by --shape; where the size depends on values, cut the model "
    "before this node, or declare the size in its value_info"
)


def _dims(shape: TensorShapeProto, sizes: Mapping[str, int]) -> list[int | None]:
    """`sizes` has the model's named sizes that are known."""
    known = [d.HasField("dim_value") and d.dim_value >= 0 for d in shape.dim]
    return [
        d.dim_value if k else sizes.get(d.dim_param) for d, k in zip(shape.dim, known, strict=True)
    ]


def _inferred(
    importer: Importer, node: Node, names: Sequence[str], outputs: Sequence[str]
) -> tuple[dict[str, TypeProto], str]:
    """What ONNX's shape inference says of the node by itself, and why it says no more."""
    function = _function(importer, node, names, outputs)
    known = [name for name in names if name in importer.arrays]
    small = [name for name in known if importer.arrays[name].size <= MOST]
    inputs = [onnx.helper.make_value_info(name, _type(importer, name)) for name in names]
    graph = onnx.helper.make_graph(
        function.node,
        "node",
        inputs,
        [ValueInfoProto(name=name) for name in outputs],
        [onnx.numpy_helper.from_array(importer.arrays[name], name) for name in small],
    )
    model = onnx.helper.make_model(graph, opset_imports=function.opset_import)
    try:
        found = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError) as error:
        return {}, f" (ONNX's shape inference: {' '.join(str(error).split())})"
    types = {value.name: value.type for value in found.graph.output}
    if node.proto.op_type == "Loop" and not node.domain:
        _carried(types, node.proto, found)
    return types, ""


def _type(importer: Importer, name: str) -> TypeProto:
    """The type of a value as ONNX writes it."""
    if name in importer.arrays:
        array: Array = importer.arrays[name]
        dtype, shape = array.dtype, tuple[int | None, ...](array.shape)
    else:
        found = tensor_type(importer.value(name))
        dtype = numpy_type(found.element_type)
        shape = tuple(None if d < 0 else d for d in found.get_shape())
    return onnx.helper.make_tensor_type_proto(onnx.helper.np_dtype_to_tensor_dtype(dtype), shape)


def _carried(types: dict[str, TypeProto], loop: NodeProto, model: ModelProto) -> None:
    """What a Loop carries keeps its shape where the body, given it, gives it back.

    ONNX's inference leaves it open, since a body may change it.
    """
    inputs = {value.name: value.type for value in model.graph.input}
    body = next((a.g for a in loop.attribute if a.name == "body"), None)
    if body is None:
        return
    own = GraphProto()
    own.CopyFrom(body)
    outer = {value.name for value in own.input}
    carried = list(zip(loop.input[2:], own.input[2:], own.output[1:], loop.output, strict=False))
    for initial, value, result, _ in carried:
        value.type.CopyFrom(inputs[initial])
        result.type.Clear()
    own.input.extend(v for v in model.graph.input if v.name not in outer)
    body_model = onnx.helper.make_model(own, opset_imports=model.opset_import)
    found = onnx.shape_inference.infer_shapes(body_model)
    given = {value.name: value.type for value in found.graph.output}
    for initial, _, result, output in carried:
        if output in types and given.get(result.name) == inputs[initial]:
            types[output] = inputs[initial]
