"""Nodes that stand for a body of simpler ones: ONNX's own function of an operator, a function of
the model, a subgraph; and the body's nodes as they take the place of the node.

ONNX's own definitions are read from the installed package, for the opset of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, TypeProto

from fusec.frontends.errors import ImportFailure


class _Bodies(Protocol):
    """What onnx's description of an operator tells of bodies; its type stubs lack it."""

    attributes: dict[str, Any]
    has_function: bool
    has_context_dependent_function: bool
    function_opset_versions: list[int]
    context_dependent_function_opset_versions: list[int]

    def get_function_with_opset_version(self, version: int) -> bytes: ...

    def get_context_dependent_function_with_opset_version(
        self, version: int, node: bytes, types: list[bytes]
    ) -> bytes: ...


def _schema(node: NodeProto, opset: int) -> _Bodies | None:
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        return cast(_Bodies, onnx.defs.get_schema(node.op_type, opset, domain))
    except onnx.defs.SchemaError:
        return None


def has_body(node: NodeProto, opset: int) -> bool:
    """Whether ONNX defines the operator by a body."""
    schema = _schema(node, opset)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def body_of(node: NodeProto, opset: int, types: Sequence[TypeProto]) -> FunctionProto | None:
    """The body for a node whose inputs have `types`; None where ONNX has none for this form."""
    schema = _schema(node, opset)
    if schema is None:
        return None
    plain = [v for v in schema.function_opset_versions if v <= opset]
    if plain:
        return FunctionProto.FromString(schema.get_function_with_opset_version(max(plain)))
    fitting = [v for v in schema.context_dependent_function_opset_versions if v <= opset]
    if not fitting:
        return None
    found = schema.get_context_dependent_function_with_opset_version(
        max(fitting), node.SerializeToString(), [t.SerializeToString() for t in types]
    )
    return FunctionProto.FromString(found) if found else None


def schema_attributes(node: NodeProto, opset: int) -> dict[str, AttributeProto]:
    """The node's attributes and the defaults of those that it leaves out."""
    given: dict[str, AttributeProto] = {}
    schema = _schema(node, opset)
    if schema is not None:
        for name, attribute in schema.attributes.items():
            default = cast(AttributeProto, attribute.default_value)
            if default.type != AttributeProto.UNDEFINED:
                given[name] = default
    return given | {a.name: a for a in node.attribute}


def instantiated(
    body: FunctionProto, attributes: dict[str, AttributeProto], prefix: str
) -> list[NodeProto]:
    """The body's nodes with attributes in place and every value name prefixed."""
    given = {a.name: a for a in body.attribute_proto} | attributes
    return [_instance(inner, given, prefix) for inner in body.node]


def free_names(node: NodeProto) -> list[str]:
    """Values of the graph around a node that its subgraphs read, in the order of their use."""
    found: dict[str, None] = {}
    for graph in subgraphs(node):
        own = {v.name for v in (*graph.input, *graph.initializer)}
        own |= {s.values.name for s in graph.sparse_initializer}
        for inner in graph.node:
            for name in (*inner.input, *free_names(inner)):
                if name and name not in own:
                    found[name] = None
            own.update(inner.output)
        found |= {o.name: None for o in graph.output if o.name not in own}
    return list(found)


def subgraphs(node: NodeProto) -> list[GraphProto]:
    """The graphs that a node holds as attributes."""
    graphs: list[GraphProto] = []
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            graphs.append(attribute.g)
        elif attribute.type == AttributeProto.GRAPHS:
            graphs += attribute.graphs
    return graphs


def _rename(node: NodeProto, new: Callable[[str], str]) -> None:
    """Gives every value that a node and its subgraphs name another name."""
    for names in (node.input, node.output):
        names[:] = [new(name) if name else "" for name in names]
    for graph in subgraphs(node):
        _rename_graph(graph, new)


def _rename_graph(graph: GraphProto, new: Callable[[str], str]) -> None:
    stored = (s.values for s in graph.sparse_initializer)
    for value in (*graph.input, *graph.output, *graph.initializer, *graph.value_info, *stored):
        value.name = new(value.name)
    for inner in graph.node:
        _rename(inner, new)


def branch(node: NodeProto, name: str, prefix: str) -> GraphProto:
    """A copy of the subgraph `name` of a node; names that it defines itself get the prefix.

    ImportFailure where the node has no such subgraph.
    """
    graph = GraphProto()
    found = next((a.g for a in node.attribute if a.name == name), None)
    if found is None:
        raise ImportFailure(f"attribute '{name}' is missing")
    graph.CopyFrom(found)
    own = {output for inner in graph.node for output in inner.output}
    own |= {tensor.name for tensor in graph.initializer}
    own |= {tensor.values.name for tensor in graph.sparse_initializer}

    def new(value: str) -> str:
        return prefix + value if value in own else value

    _rename_graph(graph, new)
    return graph


def _instance(inner: NodeProto, given: dict[str, AttributeProto], prefix: str) -> NodeProto:
    copy = NodeProto()
    copy.CopyFrom(inner)
    _rename(copy, lambda name: prefix + name)
    _resolve(copy, given)
    return copy


def _resolve(node: NodeProto, given: dict[str, AttributeProto]) -> None:
    """References to attributes of the function become these; one that is not given goes away."""
    attributes = [a for a in node.attribute if not a.ref_attr_name]
    for reference in (a for a in node.attribute if a.ref_attr_name):
        source = given.get(reference.ref_attr_name)
        if source is not None:
            attribute = AttributeProto()
            attribute.CopyFrom(source)
            attribute.name = reference.name
            attributes.append(attribute)
    if len(attributes) != len(node.attribute) or any(a.ref_attr_name for a in node.attribute):
        del node.attribute[:]
        node.attribute.extend(attributes)
    for graph in subgraphs(node):
        for inner in graph.node:
            _resolve(inner, given)
