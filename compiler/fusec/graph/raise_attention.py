"""Attention from two matmuls around a softmax, with scale and additive mask where there are any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from fusec.graph.query import axis_of, dims, only_user, producer, rank, single
from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import scalar_of
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import ConstantOp, GraphOp
from fusec_dialects.graph.base import element_name, python_value, tensor_type
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.sizes import certainly_equal

HUGE = 1e30
"""A masked score of this size or more swallows, in f32, whatever is added to it."""

Factor: TypeAlias = tuple[SSAValue, float]
Mask: TypeAlias = Callable[[Rewriter], SSAValue]


def _raise(op: GraphOp, rewriter: Rewriter) -> bool:
    softmax = single(op.operands[0], "softmax")
    v = op.operands[1]
    n = rank(op.operands[0])
    if softmax is None or n < 2 or rank(v) != n or axis_of(softmax) != n - 1:
        return False
    for product, scale, mask in _scores(softmax.operands[0]):
        (q, of_q), (keys, of_k) = (_unscaled_operand(o) for o in product.operands)
        if rank(q) != n or rank(keys) != n:
            continue
        k = swap_last(keys, rewriter.build)
        operands = [q, k, v] if mask is None else [q, k, v, mask(rewriter)]
        types = [op.results[0].type]
        attrs = {"scale": scale * of_q * of_k}
        return rewriter.replace(rewriter.build("attention", operands, attrs, types))
    return False


def _scores(value: SSAValue) -> Iterator[tuple[GraphOp, float, Mask | None]]:
    """Readings of what the softmax takes: the product of queries and keys, the scale, the mask."""
    for unmasked, mask in _unmasked(value):
        for unscaled, scale in _unscaled(unmasked):
            product = single(unscaled, "matmul")
            if product is not None and certainly_equal(dims(unscaled), dims(value)):
                yield product, scale, mask


def _unmasked(value: SSAValue) -> Iterator[tuple[SSAValue, Mask | None]]:
    """The value without mask, then what an addition adds to it, in both readings, or a choice."""
    yield value, None
    add = single(value, "add")
    if add is not None:
        a, b = add.operands
        yield a, lambda _: b
        yield b, lambda _: a
    where = single(value, "where")
    if where is not None:
        yield from _chosen(where)


def _chosen(where: GraphOp) -> Iterator[tuple[SSAValue, Mask | None]]:
    """A choice between scores and a number that swallows them is a sum with 0 or that number."""
    condition, a, b = where.operands
    for scores, other, keeps in ((a, b, True), (b, a, False)):
        number = scalar_of(other)
        if number is None or number > -HUGE or element_name(scores.type) not in ("f32", "f64"):
            continue

        def mask(rewriter: Rewriter, other: SSAValue = other, keeps: bool = keeps) -> SSAValue:
            element = tensor_type(other).element_type
            bits = bytes(numpy_type(element).itemsize)
            zero = rewriter.insert(ConstantOp(dense(TensorType(element, []), bits))).results[0]
            pair = (zero, other) if keeps else (other, zero)
            return rewriter.build("where", [condition, *pair])

        yield scores, mask


def _unscaled(value: SSAValue) -> Iterator[Factor]:
    """The value with the factor 1, then the product or quotient by a number that it is."""
    yield value, 1.0
    scaled = single(value, "mul", "div")
    if scaled is not None:
        yield from _factors(scaled)


def _factors(op: GraphOp) -> Iterator[Factor]:
    """What a product or quotient multiplies by a number, and the number."""
    readings = [tuple(op.operands)]
    if op.op_name == "mul":
        readings.append(readings[0][::-1])
    for kept, other in readings:
        number = scalar_of(other)
        if number is None or number == 0.0 or kept.type != op.results[0].type:
            continue
        factor = number if op.op_name == "mul" else 1.0 / number
        if isfinite(factor):
            yield kept, factor


def _unscaled_operand(value: SSAValue) -> Factor:
    """Queries or keys before they are scaled; in f16 the larger scores might overflow."""
    if element_name(value.type) == "f16":
        return value, 1.0
    scaled = producer(value, "mul", "div")
    found = None if scaled is None else next(_factors(scaled), None)
    return (value, 1.0) if found is None else found


def swap_last(value: SSAValue, build: Callable[..., SSAValue]) -> SSAValue:
    """The value with its last two axes exchanged.

    A transposition that is there already is changed, or left out, instead of added to. `build`
    takes an operator's name, operands and attributes.
    """
    n = rank(value)
    swap = (*range(n - 2), n - 1, n - 2)
    owner = value.owner
    if isinstance(owner, GraphOp) and owner.op_name == "transpose":
        perm = python_value(owner.properties["perm"])
        if isinstance(perm, tuple):
            new = tuple(perm[s] for s in swap)
            if new == tuple(range(n)):
                return owner.operands[0]
            return build("transpose", [owner.operands[0]], {"perm": new})
    return build("transpose", [value], {"perm": swap})


MOST_STEPS = 6
"""Operators between a product of queries and keys and its softmax."""


def _leads_to_softmax(value: SSAValue) -> bool:
    """Whether masks, scales and views alone lead from a value to a softmax, its only use."""
    for _ in range(MOST_STEPS):
        user = only_user(value)
        if not isinstance(user, GraphOp) or not value.has_one_use():
            return False
        if user.op_name == "softmax":
            return True
        if user.op_name not in ("add", "where", "mul", "div", "reshape"):
            return False
        value = user.results[0]
    return False


def _scale_scores(op: GraphOp, rewriter: Rewriter) -> bool:
    """Factors of queries and keys become one of the scores, where the softmax takes it in."""
    (q, of_q), (keys, of_k) = (_unscaled_operand(o) for o in op.operands)
    if (of_q, of_k) == (1.0, 1.0) or not _leads_to_softmax(op.results[0]):
        return False
    scores = rewriter.build("matmul", [q, keys])
    element = tensor_type(scores).element_type
    content = np.full((), of_q * of_k, numpy_type(element)).tobytes()
    scale = rewriter.insert(ConstantOp(dense(TensorType(element, []), content))).results[0]
    return rewriter.replace(rewriter.build("mul", [scores, scale]))


ATTENTION_RULES = (
    Rule("raise-score-scale", ("graph.matmul",), _scale_scores),
    Rule("raise-attention", ("graph.matmul",), _raise, 2),
)
