"""Functions that the vector unit lacks, as steps of float32 instructions.

Each takes and gives the number of an f32 value of a program.
"""

from __future__ import annotations

from math import pi, sqrt

from fusec.schedule.program import Program

GELU_COEFFICIENTS = (
    -1.5957698829796694,
    -0.07266616881805357,
    6.518949014721986e-05,
    0.00011061263294157361,
    -7.929546163290625e-06,
    2.6453254386780517e-07,
    -3.5125544179920555e-09,
)
"""log((1 - P(x)) / P(x)) = x times this polynomial in x^2, lowest first, P the normal distribution.

Our own fit: minimax of |erf(x / sqrt 2)| by reweighted least squares on 0 < x <= 5.5. The error of
erf is 5.8e-8, and 2.5e-7 in float32.
"""

GELU_LIMIT = 5.5**2
"""x^2 is cut here: P is 0 or 1 in float32 beyond, and the polynomial is good for no more."""

ERF_COEFFICIENTS = tuple(c * sqrt(2.0) * 2.0**k for k, c in enumerate(GELU_COEFFICIENTS))
"""The same in terms of x for erf(x) = 2 P(x sqrt 2) - 1."""


def reciprocal(p: Program, x: int, numerator: float = 1.0) -> int:
    """numerator / x."""
    return p.binary("vdiv", p.fill(numerator, p.dtype(x), p.vals[x].axes), x)


def _odds(p: Program, x: int, coefficients: tuple[float, ...], limit: float) -> int:
    """1 + exp(x poly(min(x^2, limit)))."""
    square = p.binary("vmin", p.binary("vmul", x, x), limit)
    *lower, highest = coefficients
    value = p.binary("vmul", square, highest)
    for coefficient in reversed(lower[1:]):
        value = p.binary("vmul", p.binary("vadd", value, coefficient), square)
    value = p.binary("vmul", p.binary("vadd", value, lower[0]), x)
    return p.binary("vadd", p.unary("vexp", value), 1.0)


def erf(p: Program, x: int) -> int:
    """2 / (1 + exp(-2 atanh(erf x))) - 1."""
    odds = _odds(p, x, ERF_COEFFICIENTS, GELU_LIMIT / 2)
    return p.binary("vadd", reciprocal(p, odds, 2.0), -1.0)


def gelu(p: Program, x: int) -> int:
    """x P(x), P(x) = 1 / (1 + exp(x poly(x^2)))."""
    return p.binary("vdiv", x, _odds(p, x, GELU_COEFFICIENTS, GELU_LIMIT))


def gelu_tanh(p: Program, x: int) -> int:
    """x / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3)."""
    factor = -2.0 * sqrt(2.0 / pi)
    square = p.binary("vmul", x, x)
    value = p.binary("vadd", p.binary("vmul", square, 0.044715 * factor), factor)
    odds = p.binary("vadd", p.unary("vexp", p.binary("vmul", value, x)), 1.0)
    return p.binary("vdiv", x, odds)


def sigmoid(p: Program, x: int) -> int:
    """1 / (1 + exp(-x)); exp overflows to infinity where the result is 0."""
    odds = p.binary("vadd", p.unary("vexp", p.binary("vmul", x, -1.0)), 1.0)
    return reciprocal(p, odds)


def tanh(p: Program, x: int) -> int:
    """1 - 2 / (1 + exp(2 x)); exp overflows to infinity where the result is 1."""
    odds = p.binary("vadd", p.unary("vexp", p.binary("vmul", x, 2.0)), 1.0)
    return p.binary("vadd", reciprocal(p, odds, -2.0), 1.0)


def power(p: Program, x: int, exponent: float) -> int | None:
    """x to a constant exponent by products, root and reciprocal; None for other exponents."""
    if exponent == 0.0:
        return p.fill(1.0, p.dtype(x), p.vals[x].axes)
    if exponent < 0.0:
        positive = power(p, x, -exponent)
        return None if positive is None else reciprocal(p, positive)
    if exponent == 0.5:
        return p.unary("vsqrt", x)
    if exponent != int(exponent) or exponent > 16:
        return None
    return _integer_power(p, x, int(exponent))


def _integer_power(p: Program, x: int, exponent: int) -> int:
    """By squaring."""
    if exponent == 1:
        return x
    half = _integer_power(p, x, exponent // 2)
    square = p.binary("vmul", half, half)
    return p.binary("vmul", square, x) if exponent % 2 else square
