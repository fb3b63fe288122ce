"""Attention from two matmuls around a softmax, with scale and additive mask where there are any."""

from __future__ import annotations

from xdsl.ir import SSAValue

from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import scalar_of
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import python_value, tensor_type


def _single(value: SSAValue, name: str) -> GraphOp | None:
    """The operator of that name that computes a value with one use."""
    owner = value.owner
    if isinstance(owner, GraphOp) and owner.op_name == name and value.has_one_use():
        return owner
    return None


def _raise(op: GraphOp, rewriter: Rewriter) -> bool:
    softmax = _single(op.operands[0], "softmax")
    v = op.operands[1]
    rank = len(tensor_type(op.operands[0]).get_shape())
    if softmax is None or rank < 2 or len(tensor_type(v).get_shape()) != rank:
        return False
    if python_value(softmax.properties["axis"]) not in (-1, rank - 1):
        return False
    value, mask = _split_mask(softmax.operands[0])
    value, scale = _split_scale(value)
    scores = _single(value, "matmul")
    if (
        scores is None
        or tensor_type(scores.results[0]).get_shape() != tensor_type(softmax.results[0]).get_shape()
    ):
        return False
    q, keys = scores.operands
    shapes = [len(tensor_type(t).get_shape()) for t in (q, keys)]
    if shapes != [rank, rank]:
        return False
    k = _transposed(keys, rewriter)
    operands = [q, k, v] if mask is None else [q, k, v, mask]
    return rewriter.replace(rewriter.build("attention", operands, {"scale": scale}))


def _split_mask(value: SSAValue) -> tuple[SSAValue, SSAValue | None]:
    """The scores and the mask that is added to them; the mask may not make the scores larger."""
    add = _single(value, "add")
    if add is None:
        return value, None
    shape = tensor_type(value).get_shape()
    for scores, mask in (tuple(add.operands), tuple(add.operands)[::-1]):
        owner = scores.owner
        if (
            tensor_type(scores).get_shape() == shape
            and isinstance(owner, GraphOp)
            and owner.op_name
            in (
                "matmul",
                "mul",
                "div",
            )
        ):
            return scores, mask
    return value, None


def _split_scale(value: SSAValue) -> tuple[SSAValue, float]:
    """The unscaled scores and the factor."""
    for name in ("mul", "div"):
        op = _single(value, name)
        if op is None:
            continue
        pairs = [(op.operands[0], op.operands[1])]
        if name == "mul":
            pairs.append((op.operands[1], op.operands[0]))
        for scores, factor in pairs:
            number = scalar_of(factor)
            if number is not None and (name == "mul" or number != 0.0):
                return scores, number if name == "mul" else 1.0 / number
    return value, 1.0


def _transposed(keys: SSAValue, rewriter: Rewriter) -> SSAValue:
    """K from K transposed; a transposition that is there already is changed instead of added to."""
    rank = len(tensor_type(keys).get_shape())
    swap = (*range(rank - 2), rank - 1, rank - 2)
    owner = keys.owner
    if isinstance(owner, GraphOp) and owner.op_name == "transpose":
        perm = python_value(owner.properties["perm"])
        if isinstance(perm, tuple):
            new = tuple(perm[s] for s in swap)
            if new == tuple(range(rank)):
                return owner.operands[0]
            return rewriter.build("transpose", [owner.operands[0]], {"perm": new})
    return rewriter.build("transpose", [keys], {"perm": swap})


ATTENTION_RULES = (Rule("raise-attention", ("graph.matmul",), _raise),)
