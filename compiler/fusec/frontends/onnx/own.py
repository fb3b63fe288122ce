"""ONNX nodes of a domain of one's own, as the operators that are registered for them (`@RegOp`)."""

from __future__ import annotations

from collections.abc import Sequence

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.folding import Result
from fusec.frontends.onnx.node import Node
from fusec_dialects.graph import OWN, AttrValue, OwnOperator


def own_operator(node: Node) -> OwnOperator | None:
    """The registered operator that a node is; one of ONNX's own domain is none."""
    own = OWN.get(node.proto.op_type)
    return own if own and own.onnx and node.domain and own.domain in ("", node.domain) else None


def own_results(node: Node, own: OwnOperator) -> Sequence[Result]:
    """The outputs; ImportFailure for attributes and outputs that the operator does not have."""
    for attribute in node.proto.attribute:
        if attribute.name not in own.defaults:
            known = ", ".join(own.defaults) or "none"
            raise ImportFailure(
                f"attribute '{attribute.name}' is not one of graph.{own.name}'s: {known}"
            )
    if len(node.proto.output) > len(own.outputs):
        raise ImportFailure(
            f"{len(node.proto.output)} outputs, graph.{own.name} has {len(own.outputs)}"
        )
    operands = node.values(own.least, len(own.inputs))
    attrs = {key: _attribute(node, key, value) for key, value in own.defaults.items()}
    return node.build(own.name, operands, attrs)


def _attribute(node: Node, key: str, default: AttrValue) -> AttrValue:
    match default:
        case bool():
            return bool(node.int_(key, int(default)))
        case int():
            return node.int_(key, default)
        case float():
            return node.float_(key, default)
        case str():
            return node.text(key, default)
        case _:
            found = node.ints(key)
            return default if found is None else found
