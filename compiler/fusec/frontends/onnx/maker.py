"""Compositions of graph operators, as the entries write them: numbers and arrays become constants.

`m = Maker(node)`; `m("mul", x, 2.0)` appends an operator of one result and gives its value.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from xdsl.ir import Attribute, SSAValue

from fusec.frontends.onnx.entry import static
from fusec.frontends.onnx.node import Node
from fusec.semantics.dtypes import Array
from fusec.semantics.types import element_type, numpy_type
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.shapes import Shape

Operand: TypeAlias = SSAValue | float | Array


class Maker:
    """Appends operators in the place of one node."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def __call__(
        self,
        name: str,
        *operands: Operand,
        shape: Shape | None = None,
        **attrs: AttrValue | Attribute,
    ) -> SSAValue:
        """One operator; a number becomes a scalar of the type of the last operand that is a value.

        `shape` only where it does not follow from operands and attributes.
        """
        like = next((o for o in reversed(operands) if isinstance(o, SSAValue)), None)
        values = [self.operand(o, like) for o in operands]
        return self.node.build(name, values, attrs, shape)[0]

    def operand(self, operand: Operand, like: SSAValue | None) -> SSAValue:
        if isinstance(operand, SSAValue):
            return operand
        if isinstance(operand, np.ndarray):
            return self.node.constant(operand)
        if like is None:
            raise ValueError("a number needs a value beside it that says its type")
        return self.node.constant(np.array(operand, numpy_type(self.node.element(like))))

    def sizes(self, x: SSAValue) -> tuple[int, ...]:
        """The shape of a value, which has to be static."""
        return static(self.node.shape(x), f"'{self.node.proto.op_type}'")

    def rank(self, x: SSAValue) -> int:
        return len(self.node.shape(x))

    def reshape(self, x: SSAValue, shape: Shape) -> SSAValue:
        return x if self.node.shape(x) == shape else self("reshape", x, shape=shape)

    def transpose(self, x: SSAValue, *perm: int) -> SSAValue:
        return x if list(perm) == sorted(perm) else self("transpose", x, perm=perm)

    def cast(self, x: SSAValue, to: str) -> SSAValue:
        """The value in the element type of that numpy name."""
        element = element_type(np.dtype(to))
        return x if self.node.element(x) == element else self("cast", x, to=element)

    def cut(self, x: SSAValue, axis: int, start: int, end: int) -> SSAValue:
        """Positions start to end of an axis."""
        return self("slice", x, starts=(start,), ends=(end,), axes=(axis,), steps=(1,))

    def reduce(self, kind: str, x: SSAValue, *axes: int, keepdims: bool = True) -> SSAValue:
        """`reduce_<kind>` over axes; over none x itself."""
        return self(f"reduce_{kind}", x, axes=axes, keepdims=keepdims) if axes else x

    def filled(self, shape: tuple[int, ...], value: float, dtype: str) -> SSAValue:
        return self.node.constant(np.full(shape, value, np.dtype(dtype)))
