"""Movement and views of the graph dialect, and where values come from: weights and constants."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    StringAttr,
    TensorType,
    i1,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .base import AttrValue, Float, GraphOp, Int, Ints, Tensor, tensor_type
from .elements import verify_known


def _sizes(value: SSAValue) -> tuple[int, ...]:
    """The shape, -1 for a dynamic size."""
    return tuple(-1 if d == DYNAMIC_INDEX else d for d in tensor_type(value).get_shape())


class MoveOp(GraphOp):
    """y holds elements of x."""

    x = operand_def(Tensor)
    y = result_def(Tensor)


@irdl_op_definition
class TransposeOp(MoveOp):
    """Axis i of y is axis perm[i] of x."""

    name = "graph.transpose"
    perm = prop_def(Ints)


@irdl_op_definition
class ReshapeOp(MoveOp):
    """The elements of x in order, in the shape of the result."""

    name = "graph.reshape"

    def attrs(self) -> dict[str, AttrValue]:
        return {"shape": _sizes(self.y)}


@irdl_op_definition
class ExpandOp(MoveOp):
    """x broadcast to the shape of the result."""

    name = "graph.expand"

    def attrs(self) -> dict[str, AttrValue]:
        return {"shape": _sizes(self.y)}


@irdl_op_definition
class SqueezeOp(MoveOp):
    """x without `axes`, which have size 1; without axes every one of size 1 goes."""

    name = "graph.squeeze"
    axes = prop_def(Ints)


@irdl_op_definition
class UnsqueezeOp(MoveOp):
    """x with `axes` of size 1 in the result."""

    name = "graph.unsqueeze"
    axes = prop_def(Ints)


@irdl_op_definition
class FlattenOp(MoveOp):
    """x as a matrix, the axes before `axis` and those from it on."""

    name = "graph.flatten"
    axis = prop_def(Int)

    DEFAULTS: ClassVar = {"axis": 1}


@irdl_op_definition
class SliceOp(MoveOp):
    """x from starts to ends by steps along axes.

    Negative starts and ends count from the end of the axis; then both are clamped into [0, size],
    for a negative step starts into [0, size - 1] and ends into [-1, size - 1].
    """

    name = "graph.slice"
    starts = prop_def(Ints)
    ends = prop_def(Ints)
    axes = prop_def(Ints)
    steps = prop_def(Ints)


@irdl_op_definition
class PadOp(MoveOp):
    """x with `pads` (all begins, then all ends) elements of `value` around it."""

    name = "graph.pad"
    pads = prop_def(Ints)
    value = prop_def(Float)

    DEFAULTS: ClassVar = {"value": 0.0}


@irdl_op_definition
class GatherOp(GraphOp):
    """Entries of x along `axis` at indices; negative ones count from the end."""

    name = "graph.gather"
    x = operand_def(Tensor)
    indices = operand_def(Tensor)
    y = result_def(Tensor)
    axis = prop_def(Int)

    DEFAULTS: ClassVar = {"axis": 0}


@irdl_op_definition
class GatherElementsOp(GraphOp):
    """y[i, j] = x[indices[i, j], j] for axis 0."""

    name = "graph.gather_elements"
    x = operand_def(Tensor)
    indices = operand_def(Tensor)
    y = result_def(Tensor)
    axis = prop_def(Int)

    DEFAULTS: ClassVar = {"axis": 0}


@irdl_op_definition
class ConcatOp(GraphOp):
    """The operands one behind the other along `axis`."""

    name = "graph.concat"
    inputs = var_operand_def(Tensor)
    y = result_def(Tensor)
    axis = prop_def(Int)


@irdl_op_definition
class SplitOp(GraphOp):
    """x cut along `axis` into pieces of `sizes`."""

    name = "graph.split"
    x = operand_def(Tensor)
    outputs = var_result_def(Tensor)
    axis = prop_def(Int)
    sizes = prop_def(Ints)

    DEFAULTS: ClassVar = {"axis": 0}


@irdl_op_definition
class ConstantOfShapeOp(GraphOp):
    """`value` in the shape and type of the result."""

    name = "graph.constant_of_shape"
    y = result_def(Tensor)
    value = prop_def(Float)

    DEFAULTS: ClassVar = {"value": 0.0}

    def attrs(self) -> dict[str, AttrValue]:
        type_ = tensor_type(self.y)
        return {
            "shape": _sizes(self.y),
            "value": self.value.value.data,
            "to": str(type_.element_type),
        }


@irdl_op_definition
class EyeLikeOp(GraphOp):
    """Ones on the main diagonal, zeros elsewhere, in the shape and type of the result."""

    name = "graph.eye_like"
    y = result_def(Tensor)

    def verify_(self) -> None:
        super().verify_()
        if (rank := len(tensor_type(self.y).get_shape())) != 2:
            raise VerifyException(f"{self.name}: a matrix has rank 2, not {rank}")

    def attrs(self) -> dict[str, AttrValue]:
        type_ = tensor_type(self.y)
        return {"shape": _sizes(self.y), "to": str(type_.element_type)}


@irdl_op_definition
class WeightOp(IRDLOperation):
    """A parameter by name: `graph.weight "conv1_w" : tensor<64x3x7x7xf32>`.

    The name is looked up among the results of `@weights` first, then in the model's weight store.
    """

    name = "graph.weight"

    weight = prop_def(StringAttr)
    y = result_def(Tensor)

    traits = traits_def(Pure())
    assembly_format = "$weight attr-dict `:` type($y)"

    def __init__(self, weight: str, type_: TensorType) -> None:
        super().__init__(result_types=[type_], properties={"weight": StringAttr(weight)})

    @classmethod
    def named(cls, weight: str, type_: TensorType) -> Self:
        """The same in half the time: networks have hundreds."""
        return cls.create(result_types=[type_], properties={"weight": StringAttr(weight)})

    def verify_(self) -> None:
        _verify_stored(self.name, self.y)


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A small constant in the text: `graph.constant dense<"0x0000803F"> : tensor<f32>`."""

    name = "graph.constant"

    value = prop_def(DenseIntOrFPElementsAttr)
    y = result_def(Tensor)

    traits = traits_def(Pure())

    def __init__(self, value: DenseIntOrFPElementsAttr[Any]) -> None:
        super().__init__(result_types=[value.get_type()], properties={"value": value})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict_with_keyword()
        start = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error("graph.constant: expected dense<...> : tensor<...>", start)
        op = cls(cast(DenseIntOrFPElementsAttr[Any], value))
        if attributes is not None:
            op.attributes = dict(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(' dense<"0x')
        printer.print_string(self.content.hex().upper())
        printer.print_string('"> : ')
        printer.print_attribute(self.y.type)

    @property
    def content(self) -> bytes:
        """The elements in row-major order, little endian; i1 as one byte each, 0 or 1."""
        data = self.value.data.data
        if self.value.get_element_type() == i1 and data.strip(b"\x00\x01"):
            return bytes(b & 1 for b in data)
        return data

    def verify_(self) -> None:
        if self.value.get_type() != self.y.type:
            raise VerifyException(f"{self.name}: the value is {self.value.get_type()}")
        _verify_stored(self.name, self.y)
        count = prod(tensor_type(self.y).get_shape())
        if len(self.value) != count:
            raise VerifyException(f"{self.name}: {len(self.value)} elements, expected {count}")


def _verify_stored(name: str, value: SSAValue) -> None:
    """What is stored has a static shape and an element type of the dialect."""
    type_ = tensor_type(value)
    if not type_.has_static_shape():
        raise VerifyException(f"{name}: {type_} is not static; what is stored has a size")
    try:
        verify_known(type_.element_type)
    except VerifyException as e:
        raise VerifyException(f"{name}: {e}") from e


MOVEMENT = [
    TransposeOp,
    ReshapeOp,
    ExpandOp,
    SqueezeOp,
    UnsqueezeOp,
    FlattenOp,
    SliceOp,
    PadOp,
    GatherOp,
    GatherElementsOp,
    ConcatOp,
    SplitOp,
    ConstantOfShapeOp,
    EyeLikeOp,
]
"""Every operator of this file with GraphOp's format."""
