"""One ONNX graph to a module of the graph dialect: `main`, node names as locations, weights by
name.

Each node is given to the entry of OPERATORS for its type and opset. All operators without an entry
are collected into one error. Every operator that is built is checked at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, NodeProto
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.checks import CONSTANTS, check_supported, opsets_of
from fusec.frontends.onnx.container import numpy_dtype, tensor_array
from fusec.frontends.onnx.folding import Result, evaluated, is_foldable
from fusec.frontends.onnx.functions import body_of, branch, has_body, instantiated
from fusec.frontends.onnx.names import DimNames, hint, node_name
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.operators import OPERATORS, Entry
from fusec.frontends.onnx.roles import weight_roles
from fusec.frontends.shapes import fit_all
from fusec.semantics.dtypes import Array
from fusec.semantics.types import element_type, numpy_type, tensor_of
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import AttrValue, ConstantOp, WeightOp, build
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.shapes import Shape, make_type, verify_view

INLINE_BYTES = 64
"""Constants up to this size stand in the text; larger ones are weights."""


def location(name: str) -> LocationAttr:
    """The location that names an ONNX node."""
    return NameLoc(StringAttr(name), NoneAttr())


@dataclass
class Importer:
    """State of one import. `arrays` holds initializers and constants, `values` what is built.

    `absent` says why an output that a node names has no value.
    """

    model: ModelProto
    raw: dict[str, memoryview]
    path: Path | None
    shapes: Mapping[str, tuple[int, ...]]
    block: Block = field(default_factory=Block)
    store: WeightStore = field(default_factory=WeightStore)
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    absent: dict[str, str] = field(default_factory=dict[str, str])
    generated: set[str] = field(default_factory=set[str])
    """Names of `arrays` that the import made itself: they stand in the text at any size."""
    opsets: dict[str, int] = field(default_factory=dict[str, int])
    loc: LocationAttr = field(default_factory=lambda: location(""))

    def run(self) -> ModuleOp:
        """Build the module. Raises ImportFailure with every unsupported operator at once."""
        graph = self.model.graph
        self.opsets = opsets_of(self.model)
        check_supported(self.model, self.opsets)
        self._initializers()
        names = self._inputs()
        for index, node in enumerate(graph.node):
            self._node(index, node)
        outputs = [o.name for o in graph.output]
        if not outputs:
            raise ImportFailure("the model has no outputs")
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
            arg_attrs=_named(names),
            res_attrs=_named(outputs),
        )
        source = "" if self.path is None else str(self.path)
        self.store.source = source
        attributes: dict[str, Attribute] = {"graph.source": StringAttr(source)} if source else {}
        module = ModuleOp([main], attributes)
        for op in (module, main, end):
            op.location = location(self.model.graph.name or "main")
        return module

    def _initializers(self) -> None:
        graph = self.model.graph
        if graph.sparse_initializer:
            name = graph.sparse_initializer[0].values.name
            raise ImportFailure(f"initializer '{name}' is sparse; store it as a dense tensor")
        folder = None if self.path is None else self.path.parent
        for tensor in graph.initializer:
            self._new(tensor.name)
            self.arrays[tensor.name] = tensor_array(tensor, self.raw, folder)

    def _inputs(self) -> list[str]:
        """Arguments of `main`; their names in the model."""
        dims: dict[str, Shape] = {}
        elements: dict[str, Attribute] = {}
        dim_names = DimNames()
        for value in self.model.graph.input:
            if value.name in self.arrays:
                continue
            self._new(value.name, "input ")
            if value.name in dims:
                raise ImportFailure(f"input '{value.name}' stands there twice")
            if not value.type.HasField("tensor_type"):
                raise ImportFailure(f"input '{value.name}' is not a tensor")
            what = f"input '{value.name}'"
            elements[value.name] = element_type(numpy_dtype(value.type.tensor_type.elem_type, what))
            dims[value.name] = dim_names.dims(value, self.shapes.get(value.name))
        for name, sizes in fit_all(dims, self.shapes).items():
            type_ = make_type(elements[name], sizes)
            argument = self.block.insert_arg(type_, len(self.block.args), location(name))
            argument.name_hint = hint(name)
            self.values[name] = argument
            self._empty(name, argument)
        return list(dims)

    def _new(self, name: str, what: str = "value ") -> None:
        if name in self.values or name in self.arrays:
            raise ImportFailure(f"{what}'{name}' is defined twice; every value has one definition")

    def _node(self, index: int, proto: NodeProto) -> None:
        name = node_name(index, proto)
        self.loc = location(name)
        try:
            self._build_node(name, proto)
        except (VerifyException, ImportFailure, ValueError) as e:
            raise ImportFailure(f"node '{name}' ({proto.op_type}): {e}") from e

    def _build_node(self, name: str, proto: NodeProto) -> None:
        node = Node(proto, self)
        for output in filter(None, proto.output):
            self._new(output)
        if proto.op_type in CONSTANTS and node.domain == "":
            self._constant(node)
            return
        results = self._folded(node) if is_foldable(self, node) else self._results(node)
        for i, output in enumerate(proto.output):
            if output and i < len(results):
                result = results[i]
                if isinstance(result, SSAValue):
                    self.values[output] = result
                    self._empty(output, result)
                else:
                    self.arrays[output] = result
                    self.generated.add(output)
            elif output:
                self.absent[output] = (
                    f"output {i} of node '{name}' ({proto.op_type}) is not supported"
                )

    def _empty(self, name: str, value: SSAValue) -> None:
        """A tensor without elements is known."""
        type_ = tensor_type(value)
        if 0 in type_.get_shape() and type_.has_static_shape():
            self.arrays[name] = np.zeros(type_.get_shape(), numpy_type(type_.element_type))
            self.generated.add(name)

    def _results(self, node: Node) -> Sequence[Result]:
        if node.kind in OPERATORS:
            return self._entry(node)(node)
        return self.body(node)

    def _folded(self, node: Node) -> Sequence[Result]:
        """The outputs of a node whose inputs are known, computed now."""
        block, values = self.block, self.values
        self.block, self.values = Block(), {}
        try:
            return evaluated(self, self.block, self._results(node))
        finally:
            self.block, self.values = block, values

    def body(self, node: Node) -> Sequence[Result]:
        """The outputs of a node by the body that ONNX defines its operator with."""
        proto = node.proto
        types = [self._type(name) for name in proto.input]
        body = body_of(proto, node.opset, types)
        if body is None:
            raise ImportFailure("this form of the operator is not supported")
        prefix = f"{proto.output[0]}/"
        outer = self.opsets
        for formal, actual in zip(
            body.input, [*proto.input, *[""] * len(body.input)], strict=False
        ):
            if not actual:
                continue
            if actual in self.arrays:
                self.arrays[prefix + formal] = self.arrays[actual]
                self.generated |= {prefix + formal} if actual in self.generated else set()
            if actual not in self.arrays or actual in self.values:
                self.values[prefix + formal] = self.value(actual)
        self.opsets = {**outer, **{e.domain: e.version for e in body.opset_import}}
        try:
            for inner in instantiated(body, proto, node.opset, prefix):
                kept = [n if self._is_there(n) else "" for n in inner.input]
                inner.input[:] = kept
                self._inner(inner)
        finally:
            self.opsets = outer
        wanted = zip(body.output, proto.output, strict=False)
        names = [prefix + name if output else "" for name, output in wanted]
        return [self._known(name) for name in names]

    def branch(self, node: Node, name: str) -> Sequence[Result]:
        """The outputs of a subgraph of a node, in place."""
        prefix = f"{node.proto.output[0]}/"
        graph = branch(node.proto, name, prefix)
        for tensor in graph.initializer:
            self.arrays[tensor.name] = tensor_array(tensor, self.raw, None)
            self.generated.add(tensor.name)
        for inner in graph.node:
            self._inner(inner)
        return [self._known(output.name) for output in graph.output]

    def _inner(self, proto: NodeProto) -> None:
        """A node of a body; the names that it gives are all new."""
        node = Node(proto, self)
        known = node.kind in OPERATORS or node.kind in CONSTANTS
        if not known and not has_body(proto, node.opset):
            raise ImportFailure(f"operators that are not supported yet: {node.kind}")
        self.generated.update(proto.output)
        self._build_node(proto.op_type, proto)

    def _known(self, name: str) -> Result:
        """What a body gives for an output; an empty array for one that nobody asks for."""
        if not name:
            return np.zeros(0, np.float32)
        return self.arrays[name] if name in self.arrays else self.value(name)

    def _is_there(self, name: str) -> bool:
        return name in self.values or name in self.arrays

    def _type(self, name: str) -> onnx.TypeProto:
        """The type of a value as ONNX writes it; empty for an absent input."""
        if not name:
            return onnx.TypeProto()
        if name in self.arrays:
            dtype, shape = self.arrays[name].dtype, self.arrays[name].shape
        else:
            found = tensor_type(self.value(name))
            dtype = numpy_type(found.element_type)
            shape = tuple(None if d < 0 else d for d in found.get_shape())
        element = onnx.helper.np_dtype_to_tensor_dtype(dtype)
        return onnx.helper.make_tensor_type_proto(element, shape)

    def _entry(self, node: Node) -> Entry:
        versions = OPERATORS[node.kind]
        for since, entry in versions:
            if since <= node.opset:
                return entry
        raise ImportFailure(
            f"opset {node.opset} is too old, this operator is read from opset {versions[-1][0]} "
            "on; convert the model with onnx.version_converter"
        )

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
        op.location = location(name)
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
        if shape is None:
            op = build(name, operands, attrs)
        else:
            op = build(
                name, operands, attrs, [make_type(tensor_type(operands[0]).element_type, shape)]
            )
            verify_view(op)
        op.location = self.loc
        self.block.add_op(op)
        return tuple(op.results)


def _named(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({"graph.name": StringAttr(n)}) for n in names])
