"""A part of an ONNX model: some of its nodes, everything else as it was.

What a node that went away gave becomes an input, what only it used an output; initializers and
constants come along where they are read. Names stay. Nothing of fusec's importer is needed, so that
a model can be made small that it does not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import onnx
from google.protobuf.message import DecodeError, EncodeError
from onnx import ModelProto, NodeProto, ValueInfoProto


class NotReadable(ValueError):
    """A file that is no ONNX model; the text says why."""


class NoPart(ValueError):
    """These nodes are no model of their own: the type of a value between is not known."""


@dataclass
class OnnxParts:
    """A model to take parts of. `nodes` are those that can be left out."""

    model: ModelProto
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    _types: dict[str, ValueInfoProto] = field(default_factory=dict[str, ValueInfoProto])
    _constants: dict[str, NodeProto] = field(default_factory=dict[str, NodeProto])

    @staticmethod
    def load(path: Path) -> OnnxParts:
        """Raises NotReadable for what is no ONNX model."""
        try:
            model = cast(Any, onnx).load(str(path))
            typed = onnx.shape_inference.infer_shapes(model)
        except (DecodeError, EncodeError, onnx.checker.ValidationError, ValueError) as error:
            text = " ".join(str(error).split())
            raise NotReadable(f"'{path}' cannot be read as an ONNX model: {text}") from error
        parts = OnnxParts(model)
        for node in model.graph.node:
            if node.op_type == "Constant":
                parts._constants.update(dict.fromkeys(node.output, node))
            else:
                parts.nodes.append(node)
        graph = typed.graph
        known = (*graph.value_info, *graph.output, *graph.input)
        parts._types.update((info.name, info) for info in known)
        return parts

    def subset(self, kept: Sequence[NodeProto]) -> ModelProto:
        """The model of these nodes, given in their order. Raises NoPart."""
        graph = self.model.graph
        inside = set(map(id, kept))
        made = {name for node in kept for name in node.output}
        read = {name for node in kept for name in _reads(node)}
        outside = {
            name for node in self.nodes if id(node) not in inside for name in _reads(node)
        } | {info.name for info in graph.output}
        weights = {i.name: i for i in graph.initializer}
        sparse = {i.values.name: i for i in graph.sparse_initializer}
        part = ModelProto()
        part.CopyFrom(self.model)
        for several in (
            *(part.graph.node, part.graph.input, part.graph.output, part.graph.initializer),
            *(part.graph.sparse_initializer, part.graph.value_info),
        ):
            del cast(Any, several)[:]
        constants: dict[int, NodeProto] = {}
        for name in sorted(read - made):
            if name in weights:
                part.graph.initializer.append(weights[name])
            elif name in sparse:
                part.graph.sparse_initializer.append(sparse[name])
            elif name in self._constants:
                constants[id(self._constants[name])] = self._constants[name]
        for node in graph.node:
            if id(node) in inside or id(node) in constants:
                part.graph.node.append(node)
        given = read - made - weights.keys() - sparse.keys() - self._constants.keys()
        part.graph.input.extend(self._type(name) for name in sorted(given))
        used = {name for node in kept for name in _reads(node)}
        results = [
            name
            for node in kept
            for name in node.output
            if name and (name in outside or name not in used)
        ]
        part.graph.output.extend(self._type(name) for name in results)
        return part

    def _type(self, name: str) -> ValueInfoProto:
        info = self._types.get(name)
        if info is None or not info.type.WhichOneof("value"):
            raise NoPart(f"the type of '{name}' is not known")
        return info


def _reads(node: NodeProto) -> Iterator[str]:
    """What a node reads from around it, its subgraphs included."""
    yield from filter(None, node.input)
    for graph in _subgraphs(node):
        own = {i.name for i in (*graph.input, *graph.initializer)}
        for inner in graph.node:
            yield from (name for name in _reads(inner) if name not in own)
            own.update(inner.output)
        yield from (info.name for info in graph.output if info.name not in own)


def _subgraphs(node: NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs
