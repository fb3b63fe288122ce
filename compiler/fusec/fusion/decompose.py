"""Composite operators without a kernel of their own become the operators that they consist of.

graph.attention: scores by a matmul with the transposed keys, scale, additive mask, softmax, and a
matmul with the values. RMS and group norm: a mean of squares in f32, root and quotient.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType, bf16, f16, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fusec.fusion.decompose_indexed import decompose_indexed
from fusec.fusion.decompose_split import sliced
from fusec.graph.query import axis_of, rank, splat_of, static
from fusec.graph.raise_attention import swap_last
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import AttrValue, ConstantOp, GraphOp, build
from fusec_dialects.graph.base import static_shape, tensor_type
from fusec_dialects.graph.composite import GroupNormalizationOp, RmsNormalizationOp
from fusec_dialects.graph.compute import AttentionOp
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.movement import SplitOp, TransposeOp
from fusec_dialects.locations import joined, of_result, part


class Writer:
    """Inserts operators before one that they replace, at its location; the last one makes its
    tensor."""

    def __init__(self, block: Block, op: Operation) -> None:
        self._block = block
        self._op = op
        self._location = part(op.location)

    def add(self, op: Operation) -> SSAValue:
        op.location = self._location
        self._block.insert_op_before(op, self._op)
        return op.results[0]

    def build(
        self,
        name: str,
        operands: Sequence[SSAValue],
        attrs: dict[str, AttrValue | Attribute] | None = None,
        types: Sequence[Attribute] | None = None,
    ) -> SSAValue:
        return self.add(build(name, operands, attrs, types))

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        """A constant in the element type of another value."""
        element = tensor_type(like).element_type
        content = np.full((), value, numpy_type(element)).tobytes()
        return self.add(ConstantOp(dense(TensorType(element, []), content)))

    def seen(self, x: SSAValue, shape: Sequence[int]) -> SSAValue:
        """x in another shape."""
        if static(x) == tuple(shape):
            return x
        return self.build("reshape", [x], types=[TensorType(tensor_type(x).element_type, shape)])

    def cast(self, x: SSAValue, element: Attribute) -> SSAValue:
        if tensor_type(x).element_type == element:
            return x
        return self.build("cast", [x], {"to": element})

    def replace_all(self, results: Sequence[SSAValue]) -> None:
        """Each result of the operator by a value of its own."""
        for i, (old, new) in enumerate(zip(self._op.results, results, strict=True)):
            new.name_hint = old.name_hint
            if isinstance(new.owner, Operation) and new.owner.location is self._location:
                made = [of_result(self._op.location, i)]
                new.owner.location = joined([self._location], made)
            old.replace_all_uses_with(new)
        self._block.erase_op(self._op)

    def replace(self, result: SSAValue) -> None:
        """The only result of the operator by another value."""
        self.replace_all([result])


def decompose(block: Block) -> None:
    """Replaces every composite operator of a block."""
    for op in list(block.ops):
        write = Writer(block, op)
        match op:
            case AttentionOp():
                write.replace(_attention(write, op))
            case RmsNormalizationOp():
                write.replace(_rms_norm(write, op))
            case GroupNormalizationOp() if static(op.x) is not None:
                write.replace(_group_norm(write, op))
            case SplitOp() if (pieces := sliced(write, op)) is not None:
                write.replace_all(pieces)
            case GraphOp() if (found := decompose_indexed(write, op)) is not None:
                write.replace(found)
            case _:
                pass


def _attention(write: Writer, op: AttentionOp) -> SSAValue:
    scores = write.build("matmul", [op.q, _transposed(write, op.k)])
    scale = op.scale.value.data
    if scale != 1.0:
        scores = write.build("mul", [scores, write.scalar(scale, scores)])
    if op.mask is not None:
        scores = write.build("add", [scores, op.mask])
    weights = write.build("softmax", [scores], {"axis": -1})
    return write.build("matmul", [weights, op.v])


def _transposed(write: Writer, keys: SSAValue) -> SSAValue:
    """Keys with their last axes exchanged; a transposition that was there remains that node's."""
    found = swap_last(keys, write.build)
    if isinstance(keys.owner, TransposeOp) and isinstance(found.owner, TransposeOp):
        found.owner.location = part(keys.owner.location)
    return found


def _wide(write: Writer, x: SSAValue) -> SSAValue:
    """x in f32 where its own type is narrower."""
    return write.cast(x, f32) if tensor_type(x).element_type in (f16, bf16) else x


def _mean_square_quotient(
    write: Writer, x: SSAValue, axes: tuple[int, ...], epsilon: float
) -> SSAValue:
    """x / sqrt(mean(x^2) + epsilon)."""
    mean = write.build("reduce_mean", [write.build("mul", [x, x])], {"axes": axes})
    root = write.build("sqrt", [write.build("add", [mean, write.scalar(epsilon, mean)])])
    return write.build("div", [x, root])


def _rms_norm(write: Writer, op: RmsNormalizationOp) -> SSAValue:
    n = rank(op.x)
    axes = tuple(range(axis_of(op), n))
    y = _mean_square_quotient(write, _wide(write, op.x), axes, op.epsilon.value.data)
    if splat_of(op.scale) != 1.0:
        y = write.build("mul", [y, _wide(write, op.scale)])
    return write.cast(y, tensor_type(op.x).element_type)


def _group_norm(write: Writer, op: GroupNormalizationOp) -> SSAValue:
    """On [N, groups, channels of a group, spatial positions]."""
    shape = static_shape(op.x)
    groups = op.num_groups.value.data
    grouped = (shape[0], groups, shape[1] // groups, prod(shape[2:]))
    x = write.seen(_wide(write, op.x), grouped)
    mean = write.build("reduce_mean", [x], {"axes": (2, 3)})
    centred = write.build("sub", [x, mean])
    y = _mean_square_quotient(write, centred, (2, 3), op.epsilon.value.data)
    channel = (1, groups, shape[1] // groups, 1)
    for name, parameter, neutral in (("mul", op.scale, 1.0), ("add", op.bias, 0.0)):
        if splat_of(parameter) == neutral:
            continue
        wide = _wide(write, parameter)
        y = write.build(name, [y, write.seen(wide, channel) if rank(wide) else wide])
    return write.cast(write.seen(y, shape), tensor_type(op.x).element_type)
