"""One ONNX graph to a module of the graph dialect: `main`, node names as locations, weights by
name.

Each node is given to the entry of OPERATORS for its type and opset. All operators without an entry
are collected into one error. Every operator that is built is checked at once.
"""

from __future__ import annotations

from collections import Counter
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
from fusec.frontends.onnx.container import numpy_dtype, tensor_array
from fusec.frontends.onnx.names import DimNames, hint, node_name
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.operators import OPERATORS, Entry
from fusec.frontends.onnx.roles import weight_roles
from fusec.frontends.shapes import fit_all
from fusec.semantics.dtypes import Array
from fusec.semantics.types import element_type, tensor_of
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import AttrValue, ConstantOp, WeightOp, build
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.shapes import Shape, make_type, verify_view

INLINE_BYTES = 64
"""Constants up to this size stand in the text; larger ones are weights."""

CONSTANTS = ("Constant", "ConstantOfShape")
"""Operators that give constants; they become no operator of their own."""


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
    opsets: dict[str, int] = field(default_factory=dict[str, int])
    loc: LocationAttr = field(default_factory=lambda: location(""))

    def run(self) -> ModuleOp:
        """Build the module. Raises ImportFailure with every unsupported operator at once."""
        graph = self.model.graph
        self._check_opsets()
        self._check_supported()
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
        self._check_opsets()
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

    def _check_opsets(self) -> None:
        newest = onnx.defs.onnx_opset_version()
        for entry in self.model.opset_import:
            domain = "" if entry.domain == "ai.onnx" else entry.domain
            self.opsets[domain] = entry.version
        if (found := self.opsets.get("", 1)) > newest:
            raise ImportFailure(
                f"opset {found} is newer than {newest}, the newest that the installed onnx package "
                "knows; update it, or export with an older opset"
            )

    def _check_supported(self) -> None:
        unknown: Counter[str] = Counter()
        first: dict[str, str] = {}
        for index, node in enumerate(self.model.graph.node):
            ours = node.domain in ("", "ai.onnx")
            kind = node.op_type if ours else f"{node.domain}.{node.op_type}"
            if kind not in OPERATORS and kind not in CONSTANTS:
                unknown[kind] += 1
                first.setdefault(kind, node_name(index, node))
        if unknown:
            listed = ", ".join(
                f"{k} ({n} time{'s' * (n > 1)}, first '{first[k]}')" for k, n in unknown.items()
            )
            raise ImportFailure(f"operators that are not supported yet: {listed}")

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
            argument = self.block.insert_arg(make_type(elements[name], sizes), len(self.block.args))
            argument.name_hint = hint(name)
            self.values[name] = argument
        return list(dims)

    def _new(self, name: str, what: str = "value ") -> None:
        if name in self.values or name in self.arrays:
            raise ImportFailure(f"{what}'{name}' is defined twice; every value has one definition")

    def _node(self, index: int, proto: NodeProto) -> None:
        name = node_name(index, proto)
        self.loc = location(name)
        node = Node(proto, self)
        try:
            for output in filter(None, proto.output):
                self._new(output)
            if proto.op_type in CONSTANTS:
                self._constant(node)
                return
            results = self._entry(node)(node)
        except (VerifyException, ImportFailure, ValueError) as e:
            raise ImportFailure(f"node '{name}' ({proto.op_type}): {e}") from e
        for i, output in enumerate(proto.output):
            if output and i < len(results):
                self.values[output] = results[i]
            elif output:
                self.absent[output] = (
                    f"output {i} of node '{name}' ({proto.op_type}) is not supported"
                )

    def _entry(self, node: Node) -> Entry:
        versions = OPERATORS[node.proto.op_type]
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
        if prod(shape) > 1:
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
        if array.nbytes <= INLINE_BYTES and name not in self.store.repeated:
            op = ConstantOp(dense(tensor_of(array.dtype, array.shape), array.tobytes()))
        else:
            self.store.arrays.setdefault(name, array)
            op = WeightOp(name, tensor_of(array.dtype, array.shape))
        op.location = location(name)
        op.results[0].name_hint = hint(name)
        self.block.add_op(op)
        self.values[name] = op.results[0]
        return self.values[name]

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
