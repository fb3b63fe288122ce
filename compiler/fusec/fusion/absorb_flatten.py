"""A matrix product behind a flattened picture takes it channels last.

In: a group that turns a picture channels first, which only views to [N, C x pixels] read, which
only products with weights read. Out: the views read the picture as it was, and the rows of the
weights stand in the order of its elements, in `@weights`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from fusec.graph.reshaped import Sizes, sizes_of
from fusec.graph.weights_function import WeightsFunction
from fusec_dialects.graph import FusedOp, WeightOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.compute import GemmOp, MatmulOp
from fusec_dialects.graph.movement import FlattenOp, ReshapeOp


@dataclass(frozen=True)
class _Reader:
    """A product in a group; its right operand is input `weight`, stored [O, K] if `transposed`."""

    group: FusedOp
    weight: int
    transposed: bool


def absorb_flatten(block: Block, layout: FusedOp, weights: WeightsFunction) -> None:
    """Removes `layout`, which gives [N, C, pixels] for [N, pixels, C], unless something else reads
    it."""
    picture = sizes_of(layout.outputs[0])
    views = [use.operation for use in layout.outputs[0].uses]
    readers: list[_Reader] = []
    for view in views:
        if not _flattens(view, picture):
            return
        for use in view.results[0].uses:
            found = list(_readers(use.operation, use.index))
            if not found:
                return
            readers += found
    for view in views:
        _replace_view(block, view, layout.inputs[0])
    for reader in readers:
        _permute(block, reader, picture, weights)
    block.erase_op(layout)


def _flattens(view: Operation, picture: Sizes) -> bool:
    """Whether a view only puts channels and pixels on one axis."""
    known = isinstance(view, ReshapeOp | FlattenOp) and min(picture) > 0
    return known and sizes_of(view.results[0]) == (picture[0], prod(picture[1:]))


def _readers(user: Operation, index: int) -> Iterator[_Reader]:
    """The products with a weight that read input `index` of a group; none where another operator
    reads it or the operand is no weight."""
    if not isinstance(user, FusedOp):
        return
    found: list[_Reader] = []
    for use in user.body.block.args[index].uses:
        op = use.operation
        if not isinstance(op, GemmOp | MatmulOp) or use.index != 0:
            return
        right = op.operands[1]
        if isinstance(op, GemmOp) and op.trans_a.value.data:
            return
        if not isinstance(right, BlockArgument) or not right.has_one_use():
            return
        if not isinstance(user.inputs[right.index].owner, WeightOp) or len(sizes_of(right)) != 2:
            return
        transposed = isinstance(op, GemmOp) and bool(op.trans_b.value.data)
        found.append(_Reader(user, right.index, transposed))
    yield from found


def _replace_view(block: Block, view: Operation, source: SSAValue) -> None:
    new = ReshapeOp.make([source], [view.results[0].type])
    new.location = view.location
    new.results[0].name_hint = view.results[0].name_hint
    block.insert_op_before(new, view)
    view.results[0].replace_all_uses_with(new.results[0])
    block.erase_op(view)


def _permute(block: Block, reader: _Reader, picture: Sizes, weights: WeightsFunction) -> None:
    """The weight with its rows in the order [pixels, C]."""
    old = reader.group.inputs[reader.weight].owner
    if not isinstance(old, WeightOp):
        raise ValueError(f"input {reader.weight} is no weight")
    inner = weights.weight(old.weight.data, tensor_type(old.y))
    shape = sizes_of(inner)
    first = int(reader.transposed)
    axes = tuple(range(first, first + len(picture) - 1))
    cut = (*shape[:first], *picture[1:], *shape[first + 1 :])
    perm = (*range(first), *axes[1:], axes[0], *range(axes[-1] + 1, len(cut)))
    inner = weights.build("reshape", [inner], shape=cut, loc=old.location)
    inner = weights.build("transpose", [inner], {"perm": perm}, loc=old.location)
    inner = weights.build("reshape", [inner], shape=shape, loc=old.location)
    new = WeightOp(weights.name(old.weight.data + ".pixels", inner), tensor_type(inner))
    new.y.name_hint = old.y.name_hint
    new.location = old.location
    block.insert_op_before(new, reader.group)
    reader.group.operands[reader.weight] = new.y
