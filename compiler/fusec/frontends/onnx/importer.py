"""One ONNX graph to a module of the graph dialect: `main`, node names as locations, weights by
name.

Each node is given to the entry for its type and opset, or its body takes its place. All operators
that have neither are collected into one error, or kept as graph.opaque where that is allowed. Every
operator that is built is checked at once.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto
from xdsl.dialects.builtin import (
    FunctionType,
    LocationAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.bodies import (
    FunctionKey,
    function_key,
    functions_of,
    model_body,
    schema_body,
)
from fusec.frontends.onnx.checks import ADVICE, CONSTANTS, Unsupported, opsets_of, unsupported
from fusec.frontends.onnx.container import tensor_array
from fusec.frontends.onnx.contrib import CONTRIB
from fusec.frontends.onnx.entry import entry_at
from fusec.frontends.onnx.expansion import check_expansion
from fusec.frontends.onnx.folding import Result, evaluated, is_foldable
from fusec.frontends.onnx.functions import free_names, has_body, subgraphs
from fusec.frontends.onnx.graph_facts import GraphFacts
from fusec.frontends.onnx.names import NodeNames, hint
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.opaque import erase_after, folded_by_reference, keep
from fusec.frontends.onnx.operators import OPERATORS
from fusec.frontends.onnx.own import own_operator, own_results
from fusec.frontends.onnx.ports import port_names, read_inputs
from fusec.frontends.onnx.roles import weight_roles
from fusec.frontends.onnx.sparse import dense_array
from fusec.semantics.dtypes import Array
from fusec.semantics.types import numpy_type, tensor_of
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import AttrValue, ConstantOp, WeightOp, build
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.shapes import Shape, make_type, verify_view
from fusec_dialects.locations import named, nodes, source

_ENTRIES = ChainMap(OPERATORS, CONTRIB)
"""Entries by operator, the newest opset first; ONNX's own and those of ONNX Runtime."""

INLINE_BYTES = 64
"""Constants up to this size stand in the text; larger ones are weights."""


@dataclass
class Importer:
    """State of one import. `arrays` holds initializers and constants, `values` what is built.

    `absent` says why an output that a node names has no value.
    """

    model: ModelProto
    raw: dict[str, memoryview]
    path: Path | None
    shapes: Mapping[str, tuple[int, ...]]
    allow_opaque: bool = False
    given: Mapping[str, object] = field(default_factory=dict[str, object])
    """Inputs that are always the same, by name."""
    block: Block = field(default_factory=Block)
    store: WeightStore = field(default_factory=WeightStore)
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    absent: dict[str, str] = field(default_factory=dict[str, str])
    generated: set[str] = field(default_factory=set[str])
    """Names of `arrays` that the import made itself: they stand in the text at any size."""
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    """Names inside of bodies -> names of the values around that they stand for."""
    opsets: dict[str, int] = field(default_factory=dict[str, int])
    functions: dict[FunctionKey, FunctionProto] = field(
        default_factory=dict[FunctionKey, FunctionProto]
    )
    active: set[FunctionKey] = field(default_factory=set[FunctionKey])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    """Named sizes of the model that the given shapes determine."""
    unknown: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Operators that are not supported -> nodes; what they compute is in `lost`."""
    lost: set[str] = field(default_factory=set[str])
    loc: LocationAttr = field(default_factory=lambda: named(""))
    node_names: NodeNames = field(default_factory=NodeNames)

    def run(self) -> ModuleOp:
        """Build the module. Raises ImportFailure with every unsupported operator at once."""
        graph = self.model.graph
        self.opsets = opsets_of(self.model.opset_import)
        if "" not in self.opsets and any(n.domain in ("", "ai.onnx") for n in graph.node):
            raise ImportFailure("the model uses ONNX's own operators, but imports no opset of them")
        self.functions = functions_of(self.model)
        check_expansion(graph.node, self.functions)
        self._initializers()
        names = read_inputs(self)
        for index, node in enumerate(graph.node):
            self._node(index, node)
        outputs = [o.name for o in graph.output]
        if not outputs:
            raise ImportFailure("the model has no outputs")
        if not self.lost.isdisjoint(outputs):
            raise unsupported(self.unknown)
        for output in outputs:
            if output not in self.values and output not in self.arrays:
                why = self.absent.get(output, "it is computed by no node")
                raise ImportFailure(f"output '{output}' has no value: {why}")
        results = [self.value(o) for o in outputs]
        self.store.roles = weight_roles(self.model, self.arrays)
        return self._module(names, outputs, results)

    def weights(self) -> WeightStore:
        """The initializers and constants alone; what `run` makes refers to them by these names."""
        self._initializers()
        for index, node in enumerate(self.model.graph.node):
            if node.op_type in CONSTANTS:
                self._node(index, node)
        self.store.arrays = {**self.arrays, **self.store.arrays}
        self.store.roles = weight_roles(self.model, self.arrays)
        self.store.source = str(self.path or "")
        return self.store

    def _module(
        self, names: Sequence[str], outputs: Sequence[str], results: Sequence[SSAValue]
    ) -> ModuleOp:
        end = ReturnOp(*results)
        self.block.add_op(end)
        type_ = FunctionType.from_lists(
            [a.type for a in self.block.args], [r.type for r in results]
        )
        main = FuncOp(
            "main",
            type_,
            Region(self.block),
            arg_attrs=port_names(names),
            res_attrs=port_names(outputs),
        )
        source = "" if self.path is None else str(self.path)
        self.store.source = source
        attributes: dict[str, Attribute] = {"graph.source": StringAttr(source)} if source else {}
        module = ModuleOp([main], attributes)
        for op in (module, main, end):
            op.location = named(self.model.graph.name or "main")
        return module

    def _initializers(self) -> None:
        graph = self.model.graph
        for tensor in graph.initializer:
            self.new(tensor.name)
            self.arrays[tensor.name] = tensor_array(tensor, self.raw, self._folder)
        for sparse in graph.sparse_initializer:
            name = sparse.values.name
            self.new(name)
            self.arrays[name] = self.store.arrays[name] = dense_array(sparse, self.stored)

    @cached_property
    def facts(self) -> GraphFacts:
        """Uses and declared types of the graph's values."""
        return GraphFacts(self.model.graph)

    @property
    def _folder(self) -> Path | None:
        return None if self.path is None else self.path.parent

    def stored(self, tensor: TensorProto, what: str = "") -> Array:
        """The values of a tensor that is no initializer of the model's graph."""
        return tensor_array(tensor, {}, self._folder, what)

    def new(self, name: str, what: str = "value ") -> None:
        """Raises ImportFailure where a name has a value already."""
        if name in self.values or name in self.arrays:
            raise ImportFailure(f"{what}'{name}' is defined twice; every value has one definition")

    def _node(self, index: int, proto: NodeProto) -> None:
        name = self.node_names.of(index, proto)
        if self.lost and not self.lost.isdisjoint((*proto.input, *free_names(proto))):
            self.lost.update(filter(None, proto.output))
            node = Node(proto, self)
            if not self._is_supported(node):
                self.unknown.setdefault(node.kind, []).append(name)
            return
        self.loc = named(name)
        try:
            for output in filter(None, proto.output):
                self.new(output)
            self._build_node(name, proto)
            self._name_tensors(name, proto)
        except Unsupported as e:
            self.unknown.setdefault(e.kind, []).append(name)
            self.lost.update(filter(None, proto.output))
        except (VerifyException, ImportFailure, ValueError) as e:
            advice = "" if self.allow_opaque or not subgraphs(proto) else ADVICE
            raise ImportFailure(f"node '{name}' ({proto.op_type}): {e}{advice}") from e

    def _build_node(self, name: str, proto: NodeProto) -> None:
        node = Node(proto, self)
        if proto.op_type in CONSTANTS and node.domain == "":
            self._constant(node)
            return
        known = self._folded(node) if is_foldable(self, node) else None
        results = self._kept(node) if known is None else known
        for i, output in enumerate(proto.output):
            if output and i < len(results):
                result = results[i]
                if isinstance(result, SSAValue):
                    self.values[output] = result
                    self.know_empty(output, result)
                else:
                    self.arrays[output] = result
                    self.generated.add(output)
            elif output:
                self.absent[output] = (
                    f"output {i} of node '{name}' ({proto.op_type}) is not supported"
                )

    def _name_tensors(self, name: str, proto: NodeProto) -> None:
        """The operators that compute a node's outputs, or those of its body, say so in their
        locations."""
        found: dict[Operation, dict[int, str]] = {}
        for output in filter(None, proto.output):
            value = self.values.get(output)
            if isinstance(value, OpResult):
                node = (nodes(value.op.location) or ("",))[-1]
                if self.node_names.is_part(node, name):
                    found.setdefault(value.op, {}).setdefault(value.index, output)
        for op, outputs in found.items():
            names = (outputs.get(i, "") for i in range(len(op.results)))
            op.location = named(nodes(op.location)[-1], *names)

    def inner(self, proto: NodeProto, index: int | None = None) -> None:
        """A node of a body; the names that it gives are all new.

        With its place in the body it is an operator by itself, else a part of the node around it.
        """
        self.generated.update(proto.output)
        if index is None:
            self._build_node(proto.op_type, proto)
            return
        outer = self.loc
        name = self.node_names.of(index, proto, source(outer))
        self.loc = named(name)
        try:
            self._build_node(name, proto)
            self._name_tensors(name, proto)
        finally:
            self.loc = outer

    def alias(self, name: str, actual: str) -> None:
        """`name` is the value `actual`."""
        self.aliases[name] = actual
        if actual in self.arrays:
            self.arrays[name] = self.arrays[actual]
            self.generated |= {name} if actual in self.generated else set()
        if actual not in self.arrays or actual in self.values:
            self.values[name] = self.value(actual)

    def know_empty(self, name: str, value: SSAValue) -> None:
        """A tensor without elements is known."""
        type_ = tensor_type(value)
        if 0 in type_.get_shape() and type_.has_static_shape():
            self.arrays[name] = np.zeros(type_.get_shape(), numpy_type(type_.element_type))
            self.generated.add(name)

    def _is_supported(self, node: Node) -> bool:
        """Whether something says what a node computes, in this form or another."""
        known = node.kind in _ENTRIES or node.kind in CONSTANTS or own_operator(node) is not None
        known = known or function_key(node.proto) in self.functions
        return known or has_body(node.proto, node.opset)

    def results(self, node: Node) -> Sequence[Result]:
        """The outputs of a node. Raises Unsupported where nothing says what it computes."""
        if (own := own_operator(node)) is not None:
            return own_results(node, own)
        function = self.functions.get(function_key(node.proto))
        if function is not None:
            return model_body(self, node, function)
        if node.kind in _ENTRIES:
            return entry_at(_ENTRIES[node.kind], node.opset)(node)
        if has_body(node.proto, node.opset):
            return schema_body(self, node)
        raise Unsupported(node.kind)

    def _kept(self, node: Node) -> Sequence[Result]:
        """The outputs; where opaque operators are allowed, of one if there is no other way."""
        last = self.block.last_op
        try:
            return self.results(node)
        except (VerifyException, ImportFailure, ValueError) as e:
            if not self.allow_opaque:
                raise
            erase_after(self.block, last)
            return keep(self, node, e)

    def _folded(self, node: Node) -> Sequence[Result] | None:
        """The outputs of a node whose inputs are known, computed now; None where nothing can."""
        block, values = self.block, self.values
        self.block, self.values = Block(), {}
        try:
            return evaluated(self, self.block, self.results(node))
        except Unsupported:
            return folded_by_reference(self, node)
        finally:
            self.block, self.values = block, values

    def _constant(self, node: Node) -> None:
        if not node.proto.output or not node.proto.output[0]:
            raise ImportFailure("it has no output")
        output = node.proto.output[0]
        if node.proto.op_type == "Constant":
            self.arrays[output] = node.constant_value()
            return
        shape = node.ints_input(0, "the shape")
        value = node.tensor("value", np.zeros(1, np.float32))
        if value.size != 1 or min(shape, default=0) < 0:
            raise ImportFailure(f"shape {list(shape)} of {value.size} values; give one value")
        self.arrays[output] = np.broadcast_to(value.reshape(()), shape)
        if prod(shape) > 1 and output not in self.generated:
            self.store.fill(output, shape, value)

    def value(self, name: str) -> SSAValue:
        """The SSA value of an ONNX name; constants are materialised once, where first used."""
        if name in self.values:
            return self.values[name]
        if name in self.aliases:
            self.values[name] = self.value(self.aliases[name])
            return self.values[name]
        if name not in self.arrays:
            why = self.absent.get(name, "it is computed by no earlier node")
            raise ImportFailure(f"value '{name}' is not there: {why}")
        array = self.arrays[name]
        op: Operation
        inline = array.nbytes <= INLINE_BYTES and name not in self.store.repeated
        if inline or name in self.generated:
            op = ConstantOp(dense(tensor_of(array.dtype, array.shape), array.tobytes()))
        else:
            self.store.arrays.setdefault(name, array)
            op = WeightOp(name, tensor_of(array.dtype, array.shape))
        op.location = named(name)
        op.results[0].name_hint = hint(name)
        self.block.add_op(op)
        self.values[name] = op.results[0]
        return self.values[name]

    def constant(self, array: Array) -> SSAValue:
        """An inline constant at the place of the current node."""
        content = np.ascontiguousarray(array)
        op = ConstantOp(dense(tensor_of(array.dtype, array.shape), content.tobytes()))
        op.location = self.loc
        self.block.add_op(op)
        return op.results[0]

    def build(
        self,
        name: str,
        operands: Sequence[SSAValue],
        attrs: Mapping[str, AttrValue | Attribute] | None = None,
        shape: Shape | None = None,
    ) -> tuple[SSAValue, ...]:
        """Append an operator; `shape` only where it does not follow from operands and attributes.

        Raises VerifyException where the operands contradict each other or the attributes.
        """
        types = None if shape is None else [make_type(tensor_type(operands[0]).element_type, shape)]
        op = build(name, operands, attrs, types)
        if types is not None:
            verify_view(op)
        op.location = self.loc
        self.block.add_op(op)
        return tuple(op.results)
