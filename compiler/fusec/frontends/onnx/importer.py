"""One ONNX graph to a module of the graph dialect: `main`, node names as locations, weights by
name.

Each node is given to the entry of OPERATORS for its type and opset. All operators without an entry
are collected into one error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

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
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.container import tensor_array
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.operators import OPERATORS
from fusec.frontends.onnx.roles import weight_roles
from fusec.semantics.dtypes import Array
from fusec.semantics.types import element_type, tensor_of
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import OPERATORS as GRAPH_OPERATORS
from fusec_dialects.graph import AttrValue, ConstantOp, WeightOp
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.shapes import Shape, infer_types, make_type

INLINE_BYTES = 64
"""Constants up to this size stand in the text; larger ones are weights."""


def location(name: str) -> LocationAttr:
    """The location that names an ONNX node."""
    return NameLoc(StringAttr(name), NoneAttr())


@dataclass
class Importer:
    """State of one import. `arrays` holds initializers and constants, `values` what is built."""

    model: ModelProto
    raw: dict[str, memoryview]
    path: Path | None
    shapes: Mapping[str, tuple[int, ...]]
    block: Block = field(default_factory=Block)
    store: WeightStore = field(default_factory=WeightStore)
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    loc: LocationAttr = field(default_factory=lambda: location(""))

    def run(self) -> ModuleOp:
        """Build the module. Raises ImportFailure with every unsupported operator at once."""
        graph = self.model.graph
        self._check_supported()
        folder = None if self.path is None else self.path.parent
        for tensor in graph.initializer:
            self.arrays[tensor.name] = tensor_array(tensor, self.raw, folder)
        names = self._inputs()
        for index, node in enumerate(graph.node):
            self._node(index, node)
        outputs = [o.name for o in graph.output]
        missing = [o for o in outputs if o not in self.values and o not in self.arrays]
        if missing:
            raise ImportFailure(f"output '{missing[0]}' is computed by no node")
        self.loc = location("outputs")
        results = [self.value(o) for o in outputs]
        self.block.add_op(ReturnOp(*results))
        self.store.roles = weight_roles(self.model, self.arrays)
        return self._module(names, outputs, results)

    def _module(
        self, names: Sequence[str], outputs: Sequence[str], results: Sequence[SSAValue]
    ) -> ModuleOp:
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
        return ModuleOp([main], attributes)

    def _check_supported(self) -> None:
        unknown: Counter[str] = Counter()
        first: dict[str, str] = {}
        for index, node in enumerate(self.model.graph.node):
            kind = (
                node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"
            )
            if kind not in OPERATORS and kind not in ("Constant", "ConstantOfShape"):
                unknown[kind] += 1
                first.setdefault(kind, node_name(index, node))
        if unknown:
            listed = ", ".join(f"{k} ({n} times, first '{first[k]}')" for k, n in unknown.items())
            raise ImportFailure(f"operators that are not supported yet: {listed}")

    def _inputs(self) -> list[str]:
        names: list[str] = []
        given = dict(self.shapes)
        for value in self.model.graph.input:
            if value.name in self.arrays:
                continue
            if not value.type.HasField("tensor_type"):
                raise ImportFailure(f"input '{value.name}' is not a tensor")
            dims = _dims(value)
            if value.name in given:
                dims = _fit(value.name, dims, given.pop(value.name))
            try:
                element = element_type(
                    onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
                )
            except (ValueError, KeyError) as e:
                raise ImportFailure(f"input '{value.name}': {e}") from e
            argument = self.block.insert_arg(make_type(element, dims), len(names))
            argument.name_hint = _hint(value.name)
            self.values[value.name] = argument
            names.append(value.name)
        if given:
            raise ImportFailure(
                f"--shape names '{next(iter(given))}', "
                f"but the inputs are {', '.join(names) or 'none'}"
            )
        return names

    def _node(self, index: int, proto: NodeProto) -> None:
        name = node_name(index, proto)
        self.loc = location(name)
        node = Node(name, proto, self)
        try:
            if proto.op_type in ("Constant", "ConstantOfShape") and proto.domain in ("", "ai.onnx"):
                self._constant(node)
                return
            versions = OPERATORS[proto.op_type]
            entry = next((f for since, f in versions if since <= node.opset), None)
            if entry is None:
                raise ImportFailure(f"opset {node.opset} is older than what is supported")
            results = entry(node)
        except (VerifyException, ImportFailure, ValueError) as e:
            raise ImportFailure(f"node '{name}' ({proto.op_type}): {e}") from e
        for output, value in zip(proto.output, results, strict=False):
            if output:
                self.values[output] = value

    def _constant(self, node: Node) -> None:
        output = node.proto.output[0]
        if node.proto.op_type == "Constant":
            self.arrays[output] = node.constant_value()
            return
        shape = tuple(int(d) for d in node.array(0, "the shape"))
        value = node.tensor("value", np.zeros(1, np.float32))
        if int(np.prod(shape, dtype=np.int64)) * value.dtype.itemsize <= INLINE_BYTES:
            self.arrays[output] = np.full(shape, value.reshape(()))
            if int(np.prod(shape, dtype=np.int64)) == 1:
                return
        self.arrays[output] = np.broadcast_to(value.reshape(()), shape)
        self.store.fill(output, shape, value)

    def value(self, name: str) -> SSAValue:
        """The SSA value of an ONNX name; constants are materialised once, where first used."""
        if name in self.values:
            return self.values[name]
        if name not in self.arrays:
            raise ImportFailure(f"value '{name}' is computed by no earlier node")
        array = self.arrays[name]
        op: Operation
        if array.nbytes <= INLINE_BYTES and name not in self.store.repeated:
            op = ConstantOp(dense(tensor_of(array.dtype, array.shape), array.tobytes()))
        else:
            self.store.arrays.setdefault(name, array)
            op = WeightOp(name, tensor_of(array.dtype, array.shape))
        op.location = location(name)
        op.results[0].name_hint = _hint(name)
        self.block.add_op(op)
        self.values[name] = op.results[0]
        return self.values[name]

    def build(
        self,
        name: str,
        operands: Sequence[SSAValue],
        attrs: Mapping[str, AttrValue | Attribute] | None = None,
        shape: Shape | None = None,
        results: int = 1,
    ) -> tuple[SSAValue, ...]:
        """Append an operator; `shape` only where it does not follow from operands and attributes."""
        cls = GRAPH_OPERATORS[name]
        types: Sequence[TensorType[Attribute]]
        if shape is not None:
            element = cast(TensorType[Attribute], operands[0].type).element_type
            types = [make_type(element, shape)]
        else:
            draft = cls.make(operands, [operands[0].type] * results, attrs)
            inferred = infer_types(draft)
            if inferred is None:
                raise ImportFailure(f"the shape of {name} is not known")
            types = inferred
            draft.erase()
        op = cls.make(operands, types, attrs)
        op.location = self.loc
        self.block.add_op(op)
        return tuple(op.results)


def node_name(index: int, node: NodeProto) -> str:
    """The node's name, or one made of its type and place where it has none."""
    return node.name or f"{node.op_type}_{index}"


def _dims(value: onnx.ValueInfoProto) -> Shape:
    if not value.type.tensor_type.HasField("shape"):
        raise ImportFailure(
            f"input '{value.name}' has no shape; give one by --shape {value.name}=1x2"
        )
    dims: list[int | str] = []
    for dim in value.type.tensor_type.shape.dim:
        if dim.HasField("dim_value"):
            dims.append(dim.dim_value)
        else:
            text = "".join(c if c.isalnum() or c == "_" else "_" for c in dim.dim_param)
            dims.append(text if text and not text[0].isdigit() else "?")
    return tuple(dims)


def _fit(name: str, dims: Shape, given: tuple[int, ...]) -> Shape:
    fits = len(dims) == len(given) and all(
        isinstance(d, str) or d == g for d, g in zip(dims, given, strict=True)
    )
    if not fits:
        model = "x".join(map(str, dims))
        raise ImportFailure(
            f"--shape {name}={'x'.join(map(str, given))} does not fit the model's {model}"
        )
    return given


def _hint(name: str) -> str | None:
    text = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    return text if text and not text[0].isdigit() and not text.isdigit() else None


def _named(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({"graph.name": StringAttr(n)}) for n in names])
