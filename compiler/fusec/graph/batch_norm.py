"""Batch norm behind a convolution or matmul, folded inside of one block.

The block's arguments change; what the new ones are is returned as recipes, so that the same
function serves a fused group (which gets new weights) and a group that is only thought of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, BlockArgument, SSAValue

from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.compute import BatchNormalizationOp, ConvOp, GemmOp, MatmulOp
from fusec_dialects.locations import joined

CONTRACTIONS = (ConvOp, MatmulOp, GemmOp)


@dataclass(frozen=True)
class FoldedBatchNorm:
    """Arguments by number in the old block: the filter, an old bias, the four parameters.

    `weight` and `bias` are the new block arguments: weight * s and (old - mean) * s + offset with
    s = scale / sqrt(variance + epsilon) for each output channel, which is `axis` of the filter.
    """

    weight: BlockArgument
    bias: BlockArgument
    old_weight: int
    old_bias: int | None
    parameters: tuple[int, int, int, int]
    epsilon: float
    axis: int


def _argument(value: SSAValue | None, block: Block) -> int | None:
    if isinstance(value, BlockArgument) and value.block is block:
        return value.index
    return None


def _channel_axis(op: ConvOp | MatmulOp | GemmOp, norm: BatchNormalizationOp) -> int | None:
    """The filter's axis of output channels, where the norm's channels are these."""
    if isinstance(op, ConvOp):
        if op.y_layout.data != norm.layout.data:
            return None
        return 0 if op.w_layout.data == "OIHW" else len(tensor_type(op.w).get_shape()) - 1
    y, w = tensor_type(op.y).get_shape(), tensor_type(op.b).get_shape()
    if len(w) != 2 or len(y) != 2 or norm.layout.data != "NCHW":
        return None
    if isinstance(op, GemmOp):
        if op.c is not None or op.alpha.value.data != 1.0:
            return None
        return 0 if op.trans_b.value.data else 1
    return 1


def fold_batch_norms(block: Block, weights: Sequence[bool]) -> list[FoldedBatchNorm]:
    """Folds each batch norm whose producer is a contraction with weights that are arguments.

    `weights[i]` says whether argument i is known before the model runs; what an earlier fold added
    is not among them, so of two norms in a row the second stays. The producer may have no other
    user: that one would see folded weights. Old arguments stay, perhaps without use.
    """
    folded: list[FoldedBatchNorm] = []
    for norm in list(block.ops):
        if isinstance(norm, BatchNormalizationOp) and (one := _fold(block, norm, weights)):
            folded.append(one)
    return folded


def _fold(
    block: Block, norm: BatchNormalizationOp, weights: Sequence[bool]
) -> FoldedBatchNorm | None:
    op = norm.x.owner
    if not isinstance(op, CONTRACTIONS) or not norm.x.has_one_use():
        return None
    axis = _channel_axis(op, norm)
    filter_ = op.w if isinstance(op, ConvOp) else op.b
    old_bias = op.b if isinstance(op, ConvOp) else None
    parameters = [_argument(v, block) for v in (norm.scale, norm.bias, norm.mean, norm.variance)]
    w = _argument(filter_, block)
    b = _argument(old_bias, block)
    known = [w, *parameters, *([] if old_bias is None else [b])]
    numbers = [k for k in known if k is not None and k < len(weights) and weights[k]]
    if axis is None or len(numbers) < len(known):
        return None
    weight = block.insert_arg(filter_.type, len(block.args))
    weight.name_hint = filter_.name_hint
    channels = tensor_type(norm.scale)
    bias = block.insert_arg(
        TensorType(channels.element_type, channels.get_shape()), len(block.args)
    )
    bias.name_hint = norm.bias.name_hint
    if isinstance(op, ConvOp):
        new = ConvOp.create(
            operands=[op.x, weight, bias], result_types=[norm.y.type], properties=op.properties
        )
    elif isinstance(op, GemmOp):
        new = GemmOp.create(
            operands=[op.a, weight, bias], result_types=[norm.y.type], properties=op.properties
        )
    else:
        new = GemmOp.make([op.a, weight, bias], [norm.y.type])
    new.location = joined([op.location], [norm.location])
    block.insert_op_before(new, norm)
    new.results[0].name_hint = norm.y.name_hint
    norm.y.replace_all_uses_with(new.results[0])
    block.erase_op(norm)
    block.erase_op(op)
    return FoldedBatchNorm(
        weight,
        bias,
        numbers[0],
        b,
        (numbers[1], numbers[2], numbers[3], numbers[4]),
        norm.epsilon.value.data,
        axis,
    )
