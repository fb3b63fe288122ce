"""A transpose behind elementwise operators that undoes the transposes before them: none is left.

What exporters for channels-last frameworks leave around activations and additions. Constants of
other shapes are transposed once, with the weights.
"""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from fusec.graph.query import ints, producer, rank, single, static
from fusec.graph.simplify_moves import becomes
from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import is_known
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type

LARGEST = 16
"""Elementwise operators that a transpose is looked for through."""


class _Cone:
    """The elementwise operators above a transpose, each with one user, and what they read."""

    def __init__(self, perm: tuple[int, ...]) -> None:
        self._perm = perm
        self.cancelled = 0
        self.ops: list[GraphOp] = []

    def takes(self, value: SSAValue) -> bool:
        """Whether a value transposed by the permutation costs nothing, or is in the cone."""
        inner = self._cancels(value)
        if inner is not None:
            self.cancelled += 1
            return True
        shape = static(value)
        if shape is not None and (set(shape) <= {1} or is_known(value)):
            return True
        op = value.owner
        if not isinstance(op, GraphOp) or not value.has_one_use():
            return False
        if fusion_class(op.op_name) != FusionClass.ELEMENTWISE or len(self.ops) == LARGEST:
            return False
        self.ops.append(op)
        return rank(value) == len(self._perm) and all(self.takes(o) for o in op.operands)

    def _cancels(self, value: SSAValue) -> SSAValue | None:
        inner = producer(value, "transpose")
        if inner is None or len(self._perm) != rank(value):
            return None
        first = ints(inner, "perm")
        there_and_back = tuple(first[p] for p in self._perm) == tuple(range(len(first)))
        return inner.operands[0] if there_and_back else None

    def moved(self, value: SSAValue, rewriter: Rewriter) -> SSAValue:
        """The value transposed; `takes` said yes to it."""
        inner = self._cancels(value)
        if inner is not None:
            return inner
        op, shape = value.owner, static(value) or ()
        if isinstance(op, GraphOp) and op in self.ops:
            operands = [self.moved(o, rewriter) for o in op.operands]
            return rewriter.build(op.op_name, operands, op.properties)
        if set(shape) <= {1}:
            return value
        whole = (1,) * (len(self._perm) - len(shape)) + shape
        if whole != shape:
            element = tensor_type(value).element_type
            value = rewriter.build("reshape", [value], types=[TensorType(element, whole)])
        return rewriter.build("transpose", [value], {"perm": self._perm})


def _undone(op: GraphOp, rewriter: Rewriter) -> bool:
    """Nothing that is computed is transposed any more where at least one transpose cancels."""
    last = op.operands[0].owner
    if not isinstance(last, GraphOp) or single(op.operands[0], last.op_name) is None:
        return False
    if fusion_class(last.op_name) != FusionClass.ELEMENTWISE:
        return False
    cone = _Cone(ints(op, "perm"))
    if not cone.takes(op.operands[0]) or not cone.cancelled:
        return False
    return becomes(op, rewriter, cone.moved(op.operands[0], rewriter))


TRANSPOSE_RULES = (Rule("undone-transpose", ("graph.transpose",), _undone),)
"""Rules on transposes around elementwise operators."""
