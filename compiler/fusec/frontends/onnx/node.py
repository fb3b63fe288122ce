"""One ONNX node as the operator entries see it: inputs as values or constants, attributes with
defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.semantics.dtypes import Array
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.shapes import Shape, dims_of

if TYPE_CHECKING:
    from fusec.frontends.onnx.importer import Importer


class Node:
    """Access to one node and to the module under construction."""

    def __init__(self, name: str, proto: NodeProto, importer: Importer) -> None:
        self.name = name
        self.proto = proto
        self._importer = importer
        self._attributes: dict[str, AttributeProto] = {a.name: a for a in proto.attribute}
        domain = proto.domain if proto.domain != "ai.onnx" else ""
        self.opset = next(
            (
                o.version
                for o in importer.model.opset_import
                if (o.domain if o.domain != "ai.onnx" else "") == domain
            ),
            1,
        )

    def has(self, index: int) -> bool:
        """Whether the optional input is present."""
        return index < len(self.proto.input) and self.proto.input[index] != ""

    def value(self, index: int) -> SSAValue:
        """An input as an SSA value."""
        if not self.has(index):
            raise ImportFailure(f"input {index} is missing")
        return self._importer.value(self.proto.input[index])

    def values(self) -> list[SSAValue]:
        """All present inputs, in order."""
        return [self.value(i) for i in range(len(self.proto.input)) if self.has(i)]

    def array(self, index: int, what: str) -> Array:
        """An input that has to be constant."""
        if not self.has(index):
            raise ImportFailure(f"{what} (input {index}) is missing")
        name = self.proto.input[index]
        if name not in self._importer.arrays:
            raise ImportFailure(f"{what} (input '{name}') has to be constant")
        return self._importer.arrays[name]

    def ints_input(self, index: int, what: str) -> tuple[int, ...]:
        """A constant input that is a list of integers."""
        return tuple(int(v) for v in self.array(index, what).reshape(-1))

    def shape(self, value: SSAValue) -> Shape:
        """Sizes of a value, names for the dynamic ones."""
        return dims_of(cast(TensorType[Attribute], value.type))

    def element(self, value: SSAValue) -> Attribute:
        """Element type of a value."""
        return cast(TensorType[Attribute], value.type).element_type

    def _get(self, name: str) -> object:
        attribute = self._attributes.get(name)
        return None if attribute is None else onnx.helper.get_attribute_value(attribute)

    def int_(self, name: str, default: int | None = None) -> int:
        found = self._get(name)
        if found is None and default is None:
            raise ImportFailure(f"attribute '{name}' is missing")
        return default if found is None and default is not None else int(cast(int, found))

    def float_(self, name: str, default: float) -> float:
        found = self._get(name)
        return default if found is None else float(cast(float, found))

    def ints(self, name: str) -> tuple[int, ...] | None:
        found = self._get(name)
        return None if found is None else tuple(int(v) for v in cast(Sequence[int], found))

    def text(self, name: str, default: str) -> str:
        found = self._get(name)
        return default if found is None else cast(bytes, found).decode()

    def tensor(self, name: str, default: Array) -> Array:
        found = self._get(name)
        return (
            default if found is None else onnx.numpy_helper.to_array(cast(onnx.TensorProto, found))
        )

    def constant_value(self) -> Array:
        """The value of a `Constant` node in any of its forms."""
        if (found := self._get("value")) is not None:
            return onnx.numpy_helper.to_array(cast(onnx.TensorProto, found))
        for name, dtype in (("value_float", np.float32), ("value_int", np.int64)):
            if (found := self._get(name)) is not None:
                return np.array(found, dtype)
            if (found := self._get(name + "s")) is not None:
                return np.array(found, dtype)
        raise ImportFailure("this form of a constant is not supported")

    def build(
        self,
        name: str,
        operands: Sequence[SSAValue],
        attrs: Mapping[str, AttrValue | Attribute] | None = None,
        shape: Shape | None = None,
        results: int = 1,
    ) -> tuple[SSAValue, ...]:
        """Append an operator of the graph dialect."""
        return self._importer.build(name, operands, attrs, shape, results)
