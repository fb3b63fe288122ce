"""Contractions: matmul, gemm and the raised attention (convolution is in convolution.py).

Floating types accumulate in float32 (float64 in float64) and round once; K = 0 gives zeros.
"""

import numpy as np

from fusec.semantics.base import Attr, Call, Kind, Semantic
from fusec.semantics.dtypes import Array, is_floating, narrow, widen
from fusec.semantics.reduction import softmax_over


def _check_matmul(call: Call, a: Array, b: Array) -> None:
    call.same_dtype((a, b))
    call.numeric(a)
    call.rank(a, 1, "input 0")
    call.rank(b, 1, "input 1")
    rows = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != rows:
        raise call.error(
            f"shapes {a.shape} and {b.shape} contract {a.shape[-1]} with {rows}",
            "the last size of the first must be the last but one of the second",
        )
    call.broadcast(a.shape[:-2], b.shape[:-2])


def _matmul(call: Call) -> list[Array]:
    a, b = call.arrays()
    _check_matmul(call, a, b)
    return [narrow(np.matmul(widen(a), widen(b)), a.dtype)]


def _matmul_integer(call: Call) -> list[Array]:
    """Sums of whole numbers, which wrap as i32 does."""
    a, b = call.arrays()
    _check_matmul(call, a, b)
    if a.dtype != np.int8:
        raise call.error(f"{a.dtype.name} operands", "it multiplies int8")
    return [np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64).astype(np.int32)]


def _scaled(call: Call, x: Array, name: str) -> Array:
    """`x` times attribute `name`; an integer tensor takes whole factors only."""
    factor = call.float_(name)
    if factor == 1.0:
        return x
    if is_floating(x.dtype):
        return x * x.dtype.type(factor)
    if not factor.is_integer():
        raise call.error(f"{name} is {factor} on {x.dtype.name}", "use a whole number, or cast")
    return x * np.array(int(factor)).astype(x.dtype)


def _gemm(call: Call) -> list[Array]:
    """alpha * A' B' + beta * C, with A' = A or its transpose, C broadcast one way."""
    a, b, c = call.array(0), call.array(1), call.optional(2)
    if a.ndim != 2 or b.ndim != 2:
        raise call.error(f"shapes {a.shape} and {b.shape} are not matrices", "use matmul")
    left = a.T if call.bool_("trans_a") else a
    right = b.T if call.bool_("trans_b") else b
    _check_matmul(call, left, right)
    result = _scaled(call, np.matmul(widen(left), widen(right)), "alpha")
    if c is not None:
        call.same_dtype((a, c))
        call.broadcast_into(c.shape, result.shape, "c")
        result = result + _scaled(call, widen(c), "beta")
    return [narrow(result, a.dtype)]


def _attention(call: Call) -> list[Array]:
    """softmax(q k^T * scale + mask) v, nothing rounded in between."""
    q, k, v, mask = call.array(0), call.array(1), call.array(2), call.optional(3)
    call.floating(q)
    call.same_dtype((q, k, v))
    for index, array in enumerate((q, k, v)):
        call.rank(array, 2, f"input {index}")
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise call.error(
            f"shapes q {q.shape}, k {k.shape}, v {v.shape} do not fit",
            "give q [..., S, D], k [..., T, D] and v [..., T, E]",
        )
    lead = call.broadcast(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    scores = np.matmul(widen(q), np.swapaxes(widen(k), -1, -2))
    scores = scores * scores.dtype.type(call.float_("scale"))
    if mask is not None:
        call.same_dtype((q, mask))
        full = (*lead, q.shape[-2], k.shape[-2])
        call.broadcast_into(mask.shape, full, "the mask")
        scores = scores + widen(mask)
    return [narrow(np.matmul(softmax_over(scores, scores.ndim - 1), widen(v)), q.dtype)]


CONTRACTION: dict[str, Semantic] = {
    "matmul": Semantic(_matmul, 2, 2),
    "matmul_integer": Semantic(_matmul_integer, 2, 2),
    "gemm": Semantic(
        _gemm,
        2,
        3,
        {
            "alpha": Attr(Kind.FLOAT, 1.0),
            "beta": Attr(Kind.FLOAT, 1.0),
            "trans_a": Attr(Kind.BOOL, False),
            "trans_b": Attr(Kind.BOOL, False),
        },
    ),
    "attention": Semantic(_attention, 3, 4, {"scale": Attr(Kind.FLOAT)}),
}
