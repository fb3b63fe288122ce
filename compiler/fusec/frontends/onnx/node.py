"""One ONNX node as the operator entries see it: inputs as values or constants, attributes with
defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto, SparseTensorProto, TensorProto
from xdsl.ir import Attribute, SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.bodies import branch_results, schema_body
from fusec.frontends.onnx.sparse import dense_array
from fusec.semantics.dtypes import Array
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import Shape, dims_of

if TYPE_CHECKING:
    from fusec.frontends.onnx.folding import Result
    from fusec.frontends.onnx.importer import Importer

_CONSTANT_FORMS = {
    "value_float": (AttributeProto.FLOAT, np.float32),
    "value_int": (AttributeProto.INT, np.int64),
    "value_floats": (AttributeProto.FLOATS, np.float32),
    "value_ints": (AttributeProto.INTS, np.int64),
}
"""Attribute of a `Constant` node -> its kind and the element type that it stands for."""


class Node:
    """Access to one node and to the module under construction."""

    def __init__(self, proto: NodeProto, importer: Importer, opset: int | None = None) -> None:
        """`opset` where it is another one than the model's."""
        self.proto = proto
        self._importer = importer
        self._attributes: dict[str, AttributeProto] = {a.name: a for a in proto.attribute}
        self.domain = "" if proto.domain == "ai.onnx" else proto.domain
        self.opset = importer.opsets.get(self.domain, 1) if opset is None else opset

    @property
    def kind(self) -> str:
        """The operator's name in the table of entries; other domains stand before it."""
        return f"{self.domain}.{self.proto.op_type}" if self.domain else self.proto.op_type

    def has(self, index: int) -> bool:
        """Whether the optional input is present."""
        return index < len(self.proto.input) and self.proto.input[index] != ""

    def outputs(self) -> int:
        """How many outputs the node names."""
        return sum(1 for output in self.proto.output if output)

    def value(self, index: int) -> SSAValue:
        """An input as an SSA value."""
        if not self.has(index):
            raise ImportFailure(f"input {index} is missing")
        return self._importer.value(self.proto.input[index])

    def values(self, least: int = 1, most: int | None = None) -> list[SSAValue]:
        """All inputs, in order; only those at the end may be absent."""
        names = list(self.proto.input)
        while names and not names[-1]:
            names.pop()
        if not least <= len(names) or (most is not None and len(names) > most):
            expected = f"{least}" if least == most else f"{least} to {most or 'any number'}"
            raise ImportFailure(f"{len(names)} inputs, expected {expected}")
        return [self.value(i) for i in range(len(names))]

    def is_constant(self, index: int) -> bool:
        """Whether an input is present and known before the model runs."""
        return self.has(index) and self.proto.input[index] in self._importer.arrays

    def array(self, index: int, what: str) -> Array:
        """An input that has to be constant."""
        if not self.has(index):
            raise ImportFailure(f"{what} (input {index}) is missing")
        if not self.is_constant(index):
            raise ImportFailure(
                f"{what} (input '{self.proto.input[index]}') has to be constant; --value NAME=V "
                "makes a constant of an input of the model"
            )
        return self._importer.arrays[self.proto.input[index]]

    def number(self, index: int, what: str) -> int | float | bool:
        """A constant input that is one number."""
        array = self.array(index, what)
        if array.size != 1:
            raise ImportFailure(f"{what} (input {index}) is {list(array.shape)}, not one number")
        return cast(float, array.item())

    def ints_input(self, index: int, what: str) -> tuple[int, ...]:
        """A constant input that is a list of integers."""
        array = self.array(index, what)
        if array.dtype.kind not in "iu":
            raise ImportFailure(f"{what} (input {index}) is {array.dtype.name}, not integers")
        return tuple(int(v) for v in array.reshape(-1))

    def shape(self, value: SSAValue) -> Shape:
        """Sizes of a value, names for the dynamic ones."""
        return dims_of(tensor_type(value))

    def element(self, value: SSAValue) -> Attribute:
        """Element type of a value."""
        return tensor_type(value).element_type

    def _get(self, name: str, kind: AttributeProto.AttributeType) -> Any:
        """The attribute, None where it is absent; ImportFailure where it is of another kind."""
        found = self._attributes.get(name)
        if found is None:
            return None
        if found.type != kind:
            kinds = AttributeProto.AttributeType
            raise ImportFailure(
                f"attribute '{name}' is {kinds.Name(found.type)}, expected {kinds.Name(kind)}"
            )
        return onnx.helper.get_attribute_value(found)

    def int_(self, name: str, default: int | None = None) -> int:
        found = self._get(name, AttributeProto.INT)
        if found is None and default is None:
            raise ImportFailure(f"attribute '{name}' is missing")
        return cast(int, default if found is None else found)

    def float_(self, name: str, default: float) -> float:
        found = self._get(name, AttributeProto.FLOAT)
        return default if found is None else float(found)

    def ints(self, name: str) -> tuple[int, ...] | None:
        found = self._get(name, AttributeProto.INTS)
        return None if found is None else tuple(int(v) for v in found)

    def floats(self, name: str) -> tuple[float, ...] | None:
        found = self._get(name, AttributeProto.FLOATS)
        return None if found is None else tuple(float(v) for v in found)

    def text(self, name: str, default: str) -> str:
        found = self._get(name, AttributeProto.STRING)
        return default if found is None else cast(bytes, found).decode()

    def tensor(self, name: str, default: Array) -> Array:
        found = self._get(name, AttributeProto.TENSOR)
        return default if found is None else self._array(cast(TensorProto, found))

    def _array(self, tensor: TensorProto) -> Array:
        return self._importer.stored(tensor, "its value")

    def constant_value(self) -> Array:
        """The value of a `Constant` node in any of its forms."""
        if (found := self._get("value", AttributeProto.TENSOR)) is not None:
            return self._array(cast(TensorProto, found))
        for name, (kind, dtype) in _CONSTANT_FORMS.items():
            if (found := self._get(name, kind)) is not None:
                return np.array(found, dtype)
        if (found := self._get("sparse_value", AttributeProto.SPARSE_TENSOR)) is not None:
            return dense_array(cast(SparseTensorProto, found), self._array)
        forms = ", ".join(self._attributes) or "none"
        raise ImportFailure(f"a constant of this form is not supported: {forms}")

    def constant(self, array: Array) -> SSAValue:
        """A constant that the import makes, in the text whatever its size."""
        return self._importer.constant(array)

    def known(self, index: int) -> Array | None:
        """The array of an input that is known before the model runs; else None."""
        return self._importer.arrays[self.proto.input[index]] if self.is_constant(index) else None

    def body(self) -> Sequence[Result]:
        """The outputs by the body that ONNX defines the operator with."""
        return schema_body(self._importer, self)

    def branch(self, name: str) -> Sequence[Result]:
        """The outputs of a subgraph, in place of the node."""
        return branch_results(self._importer, self, name)

    def as_onnx(
        self,
        op_type: str,
        inputs: Sequence[str],
        attributes: Mapping[str, Any],
        opset: int,
        outputs: int | None = None,
    ) -> Sequence[Result]:
        """The outputs of an operator of ONNX's own in place of this one, by that opset's entry.

        `outputs` says how many of this node's it has, where it does not have all.
        """
        names = self.proto.output[:outputs]
        proto = onnx.helper.make_node(op_type, inputs, names, self.proto.name)
        proto.attribute.extend(
            a if isinstance(a, AttributeProto) else onnx.helper.make_attribute(name, a)
            for name, a in attributes.items()
        )
        return self._importer.results(Node(proto, self._importer, opset))

    def named(self, result: Result, text: str) -> str:
        """A name for a value in the place of the node, to be an input of `as_onnx`."""
        name = f"{next(filter(None, self.proto.output), '')}/{text}"
        if isinstance(result, SSAValue):
            self._importer.values[name] = result
        else:
            self._importer.arrays[name] = result
            self._importer.generated.add(name)
        return name

    def as_value(self, result: Result) -> SSAValue:
        """What an entry gave, as an SSA value."""
        return result if isinstance(result, SSAValue) else self.constant(result)

    def build(
        self,
        name: str,
        operands: Sequence[SSAValue],
        attrs: Mapping[str, AttrValue | Attribute] | None = None,
        shape: Shape | None = None,
    ) -> tuple[SSAValue, ...]:
        """Append an operator of the graph dialect."""
        return self._importer.build(name, operands, attrs, shape)
