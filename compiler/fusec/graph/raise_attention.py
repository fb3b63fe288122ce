"""Attention from two matmuls around a softmax, with scale and additive mask where there are any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite

from xdsl.ir import SSAValue

from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import scalar_of
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import python_value, tensor_type
from fusec_dialects.graph.shapes import Shape, dims_of
from fusec_dialects.graph.sizes import certainly_equal


def _dims(value: SSAValue) -> Shape:
    return dims_of(tensor_type(value))


def _single(value: SSAValue, name: str) -> GraphOp | None:
    """The operator of that name that computes a value with one use."""
    owner = value.owner
    if isinstance(owner, GraphOp) and owner.op_name == name and value.has_one_use():
        return owner
    return None


def _raise(op: GraphOp, rewriter: Rewriter) -> bool:
    softmax = _single(op.operands[0], "softmax")
    v = op.operands[1]
    dims = _dims(op.operands[0])
    rank = len(dims)
    if softmax is None or rank < 2 or len(_dims(v)) != rank:
        return False
    if python_value(softmax.properties["axis"]) not in (-1, rank - 1):
        return False
    for product, scale, mask in _scores(softmax.operands[0]):
        q, keys = product.operands
        if len(_dims(q)) != rank or len(_dims(keys)) != rank:
            continue
        k = swap_last(keys, rewriter.build)
        operands = [q, k, v] if mask is None else [q, k, v, mask]
        types = [op.results[0].type]
        return rewriter.replace(rewriter.build("attention", operands, {"scale": scale}, types))
    return False


def _scores(value: SSAValue) -> Iterator[tuple[GraphOp, float, SSAValue | None]]:
    """Readings of what the softmax takes: the product of queries and keys, the scale, the mask."""
    for unmasked, mask in _unmasked(value):
        for unscaled, scale in _unscaled(unmasked):
            product = _single(unscaled, "matmul")
            if product is not None and certainly_equal(_dims(unscaled), _dims(value)):
                yield product, scale, mask


def _unmasked(value: SSAValue) -> Iterator[tuple[SSAValue, SSAValue | None]]:
    """The value without mask, then what an addition adds to it, in both readings."""
    yield value, None
    add = _single(value, "add")
    if add is not None:
        a, b = add.operands
        yield a, b
        yield b, a


def _unscaled(value: SSAValue) -> Iterator[tuple[SSAValue, float]]:
    """The value with the factor 1, then the product or quotient by a number that it is."""
    yield value, 1.0
    if (div := _single(value, "div")) is not None:
        number = scalar_of(div.operands[1])
        if number and isfinite(1.0 / number):
            yield div.operands[0], 1.0 / number
    if (mul := _single(value, "mul")) is not None:
        for scores, factor in (tuple(mul.operands), tuple(mul.operands)[::-1]):
            number = scalar_of(factor)
            if number is not None and isfinite(number):
                yield scores, number


def swap_last(value: SSAValue, build: Callable[..., SSAValue]) -> SSAValue:
    """The value with its last two axes exchanged.

    A transposition that is there already is changed, or left out, instead of added to. `build`
    takes an operator's name, operands and attributes.
    """
    rank = len(_dims(value))
    swap = (*range(rank - 2), rank - 1, rank - 2)
    owner = value.owner
    if isinstance(owner, GraphOp) and owner.op_name == "transpose":
        perm = python_value(owner.properties["perm"])
        if isinstance(perm, tuple):
            new = tuple(perm[s] for s in swap)
            if new == tuple(range(rank)):
                return owner.operands[0]
            return build("transpose", [owner.operands[0]], {"perm": new})
    return build("transpose", [value], {"perm": swap})


ATTENTION_RULES = (Rule("raise-attention", ("graph.matmul",), _raise),)
