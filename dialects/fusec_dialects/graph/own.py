"""Operators that users register: `graph.NAME`, an operator like the others while the process runs.

In: names, attributes with their defaults, a rule for the result types. Out: the operator's class;
`add_operator` puts it into the dialect, so that text with it reads, verifies and prints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from xdsl.dialects.builtin import BoolAttr, StringAttr, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
)

from .base import AttrValue, Float, GraphOp, Int, Ints, Tensor

TypeRule: TypeAlias = Callable[
    [Sequence[TensorType[Attribute]], Mapping[str, AttrValue]], list[TensorType[Attribute]]
]
"""Types of the results from those of the operands and the attributes; raises VerifyException."""

KINDS: dict[type, Any] = {
    bool: BoolAttr,
    int: Int,
    float: Float,
    str: StringAttr,
    tuple: Ints,
}
"""What an attribute may be, by the Python type of its default."""


@dataclass(frozen=True)
class OwnOperator:
    """The last input may be optional; attributes are of the kind of their default.

    A node of type `onnx` in `domain` (empty: any domain that is not ONNX's own) imports as it.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    infer: TypeRule
    defaults: Mapping[str, AttrValue] = field(default_factory=dict[str, AttrValue])
    optional_last: bool = False
    onnx: str = ""
    domain: str = ""
    doc: str = ""

    @property
    def least(self) -> int:
        """How many inputs have to be given."""
        return len(self.inputs) - self.optional_last


OWN: dict[str, OwnOperator] = {}
"""Registered operators by name, in the order in which they came."""


def operator_class(own: OwnOperator) -> type[GraphOp]:
    """The class of `graph.NAME`."""
    last = len(own.inputs) - 1
    members: dict[str, Any] = {
        "name": f"graph.{own.name}",
        "DEFAULTS": dict(own.defaults),
        "__annotations__": {"DEFAULTS": ClassVar[Mapping[str, AttrValue]]},
    }
    if own.doc:
        members["__doc__"] = own.doc
    for i in range(len(own.inputs)):
        define = opt_operand_def if own.optional_last and i == last else operand_def
        members[f"in{i}"] = define(Tensor)
    for i in range(len(own.outputs)):
        members[f"out{i}"] = result_def(Tensor)
    for key, value in own.defaults.items():
        members[f"of_{key}"] = prop_def(KINDS[type(value)], prop_name=key)
    return irdl_op_definition(type(f"Own{own.name.title()}Op", (GraphOp,), members))
