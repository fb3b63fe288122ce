"""Composite operators without a kernel of their own become the operators that they consist of.

graph.attention: scores by a matmul with the transposed keys, scale, additive mask, softmax, and a
matmul with the values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from fusec.graph.raise_attention import swap_last
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import AttrValue, ConstantOp, build
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.compute import AttentionOp
from fusec_dialects.graph.dense import dense


class _Writer:
    """Inserts operators before one that they replace, at its location."""

    def __init__(self, block: Block, op: Operation) -> None:
        self._block = block
        self._op = op

    def add(self, op: Operation) -> SSAValue:
        op.location = self._op.location
        self._block.insert_op_before(op, self._op)
        return op.results[0]

    def build(
        self, name: str, operands: Sequence[SSAValue], attrs: dict[str, AttrValue] | None = None
    ) -> SSAValue:
        return self.add(build(name, operands, attrs))


def decompose_attention(block: Block) -> None:
    """Replaces every graph.attention of a block."""
    for op in list(block.ops):
        if isinstance(op, AttentionOp):
            _attention(block, op)


def _attention(block: Block, op: AttentionOp) -> None:
    write = _Writer(block, op)
    scores = write.build("matmul", [op.q, swap_last(op.k, write.build)])
    scale = op.scale.value.data
    if scale != 1.0:
        element = tensor_type(scores).element_type
        value = np.full((), scale, numpy_type(element))
        constant = ConstantOp(dense(TensorType(element, []), value.tobytes()))
        scores = write.build("mul", [scores, write.add(constant)])
    if op.mask is not None:
        scores = write.build("add", [scores, op.mask])
    weights = write.build("softmax", [scores], {"axis": -1})
    result = write.build("matmul", [weights, op.v])
    result.name_hint = op.y.name_hint
    op.y.replace_all_uses_with(result)
    block.erase_op(op)
