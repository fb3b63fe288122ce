"""Bodies put in the place of a node: functions of the model, ONNX's own functions, branches.

Every value of a body gets a name that begins with the node's first output, so that no two are one.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import onnx
from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, TypeProto

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.checks import opsets_of
from fusec.frontends.onnx.folding import Result
from fusec.frontends.onnx.functions import body_of, branch, instantiated, schema_attributes
from fusec.frontends.onnx.sparse import dense_array
from fusec.semantics.types import numpy_type
from fusec_dialects.graph.base import tensor_type

if TYPE_CHECKING:
    from fusec.frontends.onnx.importer import Importer
    from fusec.frontends.onnx.node import Node

FunctionKey: TypeAlias = tuple[str, str, str]
"""Domain, name and overload of a function; ONNX's own domain is ""."""


def function_key(node: NodeProto) -> FunctionKey:
    """What a node calls, if it calls a function of the model."""
    return (_domain(node.domain), node.op_type, node.overload)


def functions_of(model: ModelProto) -> dict[FunctionKey, FunctionProto]:
    """The functions that a model defines itself; ImportFailure where one is defined twice."""
    found: dict[FunctionKey, FunctionProto] = {}
    for function in model.functions:
        key = (_domain(function.domain), function.name, function.overload)
        if key in found:
            raise ImportFailure(f"the function '{function.name}' is defined twice")
        found[key] = function
    return found


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def model_body(importer: Importer, node: Node, function: FunctionProto) -> Sequence[Result]:
    """The outputs of a node that calls a function of the model."""
    given = {a.name: a for a in node.proto.attribute}
    inputs, outputs = len(node.proto.input), len(node.proto.output)
    if inputs > len(function.input) or outputs > len(function.output):
        raise ImportFailure(
            f"{inputs} inputs and {outputs} outputs, but the function '{function.name}' has "
            f"{len(function.input)} and {len(function.output)}"
        )
    key = function_key(node.proto)
    if key in importer.active:
        raise ImportFailure(f"the function '{function.name}' calls itself")
    importer.active.add(key)
    try:
        return _expanded(importer, node, function, given, whole=False)
    finally:
        importer.active.discard(key)


def schema_body(importer: Importer, node: Node) -> Sequence[Result]:
    """The outputs of a node by the body that ONNX defines its operator with."""
    types = [_type(importer, name) for name in node.proto.input]
    body = body_of(node.proto, node.opset, types)
    if body is None:
        raise ImportFailure("this form of the operator is not supported")
    attributes = schema_attributes(node.proto, node.opset)
    return _expanded(importer, node, body, attributes, whole=True)


def branch_results(importer: Importer, node: Node, name: str) -> Sequence[Result]:
    """The outputs of a subgraph of a node, in place."""
    graph = branch(node.proto, name, _prefix(node))
    for tensor in graph.initializer:
        importer.arrays[tensor.name] = importer.stored(tensor)
        importer.generated.add(tensor.name)
    for sparse in graph.sparse_initializer:
        importer.arrays[sparse.values.name] = dense_array(sparse, importer.stored)
        importer.generated.add(sparse.values.name)
    for index, inner in enumerate(graph.node):
        importer.inner(inner, index)
    return [_known(importer, output.name) for output in graph.output]


def _prefix(node: Node) -> str:
    return f"{next(filter(None, node.proto.output), node.proto.name)}/"


def _expanded(
    importer: Importer,
    node: Node,
    body: FunctionProto,
    attributes: dict[str, AttributeProto],
    *,
    whole: bool,
) -> Sequence[Result]:
    """Where `whole`, the body is one operator; else each of its nodes is one."""
    proto, prefix = node.proto, _prefix(node)
    given = [*proto.input, *[""] * (len(body.input) - len(proto.input))]
    absent: set[str] = set()
    for formal, actual in zip(body.input, given, strict=False):
        if actual:
            importer.alias(prefix + formal, actual)
        else:
            absent.add(prefix + formal)
    with _opsets(importer, opsets_of(body.opset_import)):
        for index, inner in enumerate(instantiated(body, attributes, prefix)):
            inner.input[:] = ["" if n in absent else n for n in inner.input]
            importer.inner(inner, None if whole else index)
    wanted = zip(body.output, proto.output, strict=False)
    return [_known(importer, prefix + name if output else "") for name, output in wanted]


@contextmanager
def _opsets(importer: Importer, inner: Mapping[str, int]) -> Generator[None]:
    """The opsets of a body; of what it does not import those of the model."""
    outer = importer.opsets
    importer.opsets = {**outer, **inner}
    try:
        yield
    finally:
        importer.opsets = outer


def _known(importer: Importer, name: str) -> Result:
    """What a body gives for an output; an empty array for one that nobody asks for."""
    if not name:
        return np.zeros(0, np.float32)
    return importer.arrays[name] if name in importer.arrays else importer.value(name)


def _type(importer: Importer, name: str) -> TypeProto:
    """The type of a value as ONNX writes it; empty for an absent input."""
    if not name:
        return TypeProto()
    if name in importer.arrays:
        dtype, shape = importer.arrays[name].dtype, importer.arrays[name].shape
    else:
        found = tensor_type(importer.value(name))
        dtype = numpy_type(found.element_type)
        shape = tuple(None if d < 0 else d for d in found.get_shape())
    element = onnx.helper.np_dtype_to_tensor_dtype(dtype)
    return onnx.helper.make_tensor_type_proto(element, shape)
