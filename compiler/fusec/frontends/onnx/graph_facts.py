"""What a model's graph says of its values beside the nodes: who uses them, their declared types."""

from __future__ import annotations

from onnx import GraphProto, TypeProto

from fusec.frontends.onnx.functions import free_names


class GraphFacts:
    """Facts about the values of the outermost graph; of others nothing is known."""

    def __init__(self, graph: GraphProto) -> None:
        self._outputs = {name for node in graph.node for name in node.output}
        self._used = {value.name for value in graph.output}
        for node in graph.node:
            self._used.update(node.input, free_names(node))
        declared = (*graph.value_info, *graph.output)
        self._types = {value.name: value.type for value in declared}

    def is_used(self, name: str) -> bool:
        """Whether a value may be used by a node or is an output."""
        return name in self._used or name not in self._outputs

    def declared(self, name: str) -> TypeProto | None:
        """The type that the model declares for a value, None where it declares none."""
        return self._types.get(name)
