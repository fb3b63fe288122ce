"""Special functions that numpy lacks, vectorised: float32 and float64 in, the same type out.

erf and erfc are W. J. Cody's rational approximations ("Rational Chebyshev approximations for the
error function", Math. Comp. 23 (1969) 631-637, with the coefficients of his routine CALERF),
evaluated in float64, so float32 results are correctly rounded but for rare ties.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np

from fusec.semantics.dtypes import FLOAT64, Array

# |x| <= 0.46875: erf(x) = x * P(x^2) / Q(x^2). Highest coefficient first, as Horner takes them.
_SMALL = 0.46875
_SMALL_P = (
    1.85777706184603153e-1,
    3.16112374387056560e0,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
_SMALL_Q = (
    1.0,
    2.36012909523441209e1,
    2.44024637934444173e2,
    1.28261652607737228e3,
    2.84423683343917062e3,
)
# 0.46875 <= y <= 4: erfc(y) = exp(-y^2) * P(y) / Q(y).
_LARGE = 4.0
_MIDDLE_P = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e0,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
_MIDDLE_Q = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
# y > 4: erfc(y) = exp(-y^2) / y * (1/sqrt(pi) - z * P(z) / Q(z)) with z = 1/y^2.
_LARGE_P = (
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
)
_LARGE_Q = (
    1.0,
    2.56852019228982242e0,
    1.87295284992346725e0,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)
_INV_SQRT_PI = 0.56418958354775628695
_UNDERFLOW = 28.0
"""erfc is 0 in float64 from here on."""

_CHUNK = 8192
"""Elements at a time: the temporaries of one chunk stay in the second-level cache."""


def erf(x: Array) -> Array:
    """The error function of a float32 or float64 array, elementwise."""
    return _chunked(_erf, x)


def erfc(x: Array) -> Array:
    """1 - erf(x) without cancellation, of a float32 or float64 array, elementwise."""
    return _chunked(_erfc, x)


def gelu(x: Array) -> Array:
    """x/2 * (1 + erf(x/sqrt(2))), as x/2 * erfc(-x/sqrt(2)): the same number, no cancellation."""
    return _chunked(_gelu, x)


def gelu_tanh(x: Array) -> Array:
    """x/2 * (1 + tanh(u)) with u = sqrt(2/pi) * (x + 0.044715 x^3), as x * sigmoid(2u)."""
    return x * sigmoid((x * x * 0.044715 + 1.0) * x * (2.0 * sqrt(2.0 / np.pi)))


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)) with no overflow on either side."""
    decay = np.exp(-np.abs(x))
    one = x.dtype.type(1)
    return np.where(x >= 0, one, decay) / (one + decay)


def _chunked(function: Callable[[Array], Array], x: Array) -> Array:
    flat = x.ravel()
    result = np.empty_like(flat)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK].astype(FLOAT64, copy=False)
        result[start : start + _CHUNK] = function(part)
    return result.reshape(x.shape)


def _horner(coefficients: tuple[float, ...], x: Array) -> Array:
    value = x * coefficients[0]
    for coefficient in coefficients[1:-1]:
        value += coefficient
        value *= x
    value += coefficients[-1]
    return value


def _erf_small(x: Array) -> Array:
    """erf where |x| <= 0.46875, anything elsewhere."""
    square = np.minimum(x * x, _SMALL * _SMALL)
    return x * _horner(_SMALL_P, square) / _horner(_SMALL_Q, square)


def _erfc_tail(magnitude: Array) -> Array:
    """erfc where magnitude >= 0.46875, anything elsewhere."""
    y = np.minimum(magnitude, _UNDERFLOW)
    middle = np.clip(y, _SMALL, _LARGE)
    ratio = _horner(_MIDDLE_P, middle) / _horner(_MIDDLE_Q, middle)
    large = np.flatnonzero(y > _LARGE)
    if large.size:
        far = y[large]
        z = 1.0 / (far * far)
        correction = z * _horner(_LARGE_P, z) / _horner(_LARGE_Q, z)
        ratio[large] = (_INV_SQRT_PI - correction) / far
    # Cody: exp(-y^2) as a product, y0 being y cut to 1/16, keeps the relative error of y^2 out.
    y0 = np.trunc(y * 16.0) / 16.0
    return np.exp(-y0 * y0) * np.exp((y0 - y) * (y0 + y)) * ratio


def _erf(x: Array) -> Array:
    magnitude = np.abs(x)
    tail = np.copysign(1.0 - _erfc_tail(magnitude), x)
    return np.where(magnitude <= _SMALL, _erf_small(x), tail)


def _erfc(x: Array) -> Array:
    magnitude = np.abs(x)
    tail = _erfc_tail(magnitude)
    tail = np.where(x < 0, 2.0 - tail, tail)
    return np.where(magnitude <= _SMALL, 1.0 - _erf_small(x), tail)


def _gelu(x: Array) -> Array:
    return x * 0.5 * _erfc(x * -sqrt(0.5))
