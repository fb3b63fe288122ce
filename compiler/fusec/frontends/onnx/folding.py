"""Shape arithmetic of a model evaluated while it is read, by the meaning of the operators.

What is folded is small and made of integers, booleans, single numbers and what follows from them:
a computation on weights stays in the module, where it is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from onnx import AttributeProto
from xdsl.ir import Block, SSAValue

from fusec.semantics import evaluate
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import constant_array, semantic_attrs
from fusec_dialects.graph import ConstantOp, GraphOp, WeightOp

if TYPE_CHECKING:
    from fusec.frontends.onnx.importer import Importer
    from fusec.frontends.onnx.node import Node

MOST = 1 << 14
"""Elements of an operand up to which it is folded."""

Result: TypeAlias = SSAValue | Array
"""What an entry gives for an output: a value, or an array that is known already."""


def is_foldable(importer: Importer, node: Node) -> bool:
    """Whether every input is known, small, and an integer, one number, or made of these.

    Dequantised weights stay integers that are seen: a product may be one of integers.
    """
    graphs = any(a.type == AttributeProto.GRAPH for a in node.proto.attribute)
    if graphs or node.proto.op_type == "DequantizeLinear":
        return False
    names = [name for name in node.proto.input if name]
    return bool(names) and all(
        name in importer.arrays
        and importer.arrays[name].size <= MOST
        and (name in importer.generated or _is_shape_like(importer.arrays[name]))
        for name in names
    )


def _is_shape_like(array: Array) -> bool:
    return array.dtype.kind in "iub" or array.size == 1


def evaluated(importer: Importer, block: Block, results: Sequence[Result]) -> list[Result]:
    """The results as arrays; `block` holds the operators that compute them from constants."""
    known: dict[SSAValue, Array] = {}
    for op in block.ops:
        match op:
            case ConstantOp():
                known[op.y] = constant_array(op)
            case WeightOp():
                known[op.y] = importer.arrays[op.weight.data]
            case GraphOp():
                operands = [known[o] for o in op.operands]
                arrays = evaluate(op.op_name, operands, semantic_attrs(op))
                known.update(zip(op.results, arrays, strict=True))
            case _:
                raise ValueError(f"{op.name} is not an operator of the graph dialect")
    return [r if isinstance(r, np.ndarray) else known[r] for r in results]
