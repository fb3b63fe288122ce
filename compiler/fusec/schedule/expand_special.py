"""Trigonometric, hyperbolic and rounding functions and powers, as steps of float32 instructions.

Each takes and gives numbers of f32 values of a program. The polynomials are our own fits: minimax
of the relative error by reweighted least squares on Chebyshev nodes.
"""

from __future__ import annotations

from math import pi

from fusec.schedule.expand_math import reciprocal
from fusec.schedule.program import Operand, Program

SIN_COEFFICIENTS = (
    0.999999994686006,
    -0.1666665668400585,
    0.008333025138944813,
    -0.00019807418725924683,
    2.6019030647168433e-06,
)
"""sin(r) / r in r^2 for |r| <= pi / 2, lowest first; error 5.3e-9."""

ATAN_COEFFICIENTS = (
    0.999999997630614,
    -0.33333283641448286,
    0.19998266034910644,
    -0.14261933037470223,
    0.1094203031045892,
    -0.0837731440585565,
    0.057552084024439704,
    -0.03080457908564279,
    0.010726934334419307,
    -0.001753927973216768,
)
"""atan(t) / t in t^2 for |t| <= 1, lowest first; error 2.4e-9."""

TWO_PI = (6.28125, 1.93500518798828125e-3, 3.0199159819567e-7)
"""2 pi in parts of few bits, so that a whole number below 2^16 times the first two is exact."""

PI_LOW = 8.742278000372e-8
"""What f32's pi is too large by."""

SERIES = {
    "sinh": (1.0, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362880.0),
    "asinh": (1.0, -1.0 / 6.0, 3.0 / 40.0, -15.0 / 336.0, 105.0 / 3456.0),
    "atanh": (1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0),
}
"""f(x) / x in x^2 near 0, lowest first (Taylor), where the closed form cancels."""

WHOLE = 2.0**23
"""From here on every f32 is a whole number."""


def rounded(p: Program, x: int, mode: str) -> int:
    """x to a whole number by the vector unit's rounding `mode`; through i32 where that can hold it.

    Large values, infinities and nan stay as they are.
    """
    near = p.compare("lt", p.unary("vabs", x), WHOLE)
    whole = p.cast(p.cast(p.select(near, x, 0.0, "f32"), "i32", mode), "f32")
    return p.select(near, whole, x, "f32")


def _polynomial(p: Program, x: int, coefficients: tuple[float, ...]) -> int:
    *lower, highest = coefficients
    value = p.binary("vmul", x, highest)
    for coefficient in reversed(lower[1:]):
        value = p.binary("vmul", p.binary("vadd", value, coefficient), x)
    return p.binary("vadd", value, lower[0])


def _odd(p: Program, x: int, coefficients: tuple[float, ...]) -> int:
    """x times a polynomial in x^2."""
    return p.binary("vmul", x, _polynomial(p, p.binary("vmul", x, x), coefficients))


def _reduced(p: Program, x: int) -> int:
    """x less a multiple of 2 pi, in [-pi, pi]; good for |x| up to 4e5."""
    turns = rounded(p, p.binary("vmul", x, 0.5 / pi), "rint")
    for part in TWO_PI:
        x = p.binary("vsub", x, p.binary("vmul", turns, part))
    return p.binary("vmax", p.binary("vmin", x, pi), -pi)


def _less_than(p: Program, x: int, whole: float, low: float) -> int:
    """(whole + low) - x."""
    return p.binary("vadd", p.binary("vadd", p.binary("vmul", x, -1.0), whole), low)


def sin(p: Program, x: int) -> int:
    """Folded into [-pi / 2, pi / 2] by sin(x) = sin(pi - x) = sin(-pi - x)."""
    r = _reduced(p, x)
    r = p.binary("vmin", r, _less_than(p, r, pi, -PI_LOW))
    r = p.binary("vmax", r, _less_than(p, r, -pi, PI_LOW))
    return _odd(p, r, SIN_COEFFICIENTS)


def cos(p: Program, x: int) -> int:
    """sin(pi / 2 - |x|)."""
    r = p.unary("vabs", _reduced(p, x))
    return _odd(p, _less_than(p, r, pi / 2, -PI_LOW / 2), SIN_COEFFICIENTS)


def tan(p: Program, x: int) -> int:
    """sin / cos."""
    return p.binary("vdiv", sin(p, x), cos(p, x))


def _with_sign(p: Program, magnitude: int, x: int) -> int:
    """magnitude where x is not negative, -magnitude elsewhere."""
    negative = p.compare("lt", x, 0.0)
    return p.select(negative, p.binary("vmul", magnitude, -1.0), magnitude, "f32")


def atan(p: Program, x: int) -> int:
    """pi / 2 - atan(1 / |x|) where |x| > 1."""
    size = p.unary("vabs", x)
    small = p.binary("vmin", size, reciprocal(p, size))
    angle = _odd(p, small, ATAN_COEFFICIENTS)
    steep = _less_than(p, angle, pi / 2, 0.0)
    return _with_sign(p, p.select(p.compare("gt", size, 1.0), steep, angle, "f32"), x)


def _one_less(p: Program, x: int) -> int:
    """1 - x."""
    return p.binary("vadd", p.binary("vmul", x, -1.0), 1.0)


def asin(p: Program, x: int) -> int:
    """atan(x / sqrt((1 - x) (1 + x)))."""
    product = p.binary("vmul", _one_less(p, x), p.binary("vadd", x, 1.0))
    return atan(p, p.binary("vdiv", x, p.unary("vsqrt", product)))


def acos(p: Program, x: int) -> int:
    """2 atan(sqrt((1 - x) / (1 + x)))."""
    ratio = p.binary("vdiv", _one_less(p, x), p.binary("vadd", x, 1.0))
    return p.binary("vmul", atan(p, p.unary("vsqrt", ratio)), 2.0)


def _near_zero(p: Program, x: int, name: str, limit: float, far: int) -> int:
    """The series where |x| < limit, `far` elsewhere."""
    near = p.compare("lt", p.unary("vabs", x), limit)
    return p.select(near, _odd(p, x, SERIES[name]), far, "f32")


def sinh(p: Program, x: int) -> int:
    """(exp(x) - exp(-x)) / 2."""
    power, inverse = p.unary("vexp", x), p.unary("vexp", p.binary("vmul", x, -1.0))
    far = p.binary("vmul", p.binary("vsub", power, inverse), 0.5)
    return _near_zero(p, x, "sinh", 1.0, far)


def cosh(p: Program, x: int) -> int:
    """(exp(x) + exp(-x)) / 2."""
    power, inverse = p.unary("vexp", x), p.unary("vexp", p.binary("vmul", x, -1.0))
    return p.binary("vmul", p.binary("vadd", power, inverse), 0.5)


def asinh(p: Program, x: int) -> int:
    """log(|x| + sqrt(x^2 + 1)) with the sign of x; x^2 may not overflow."""
    size = p.unary("vabs", x)
    root = p.unary("vsqrt", p.binary("vadd", p.binary("vmul", x, x), 1.0))
    far = _with_sign(p, p.unary("vln", p.binary("vadd", size, root)), x)
    return _near_zero(p, x, "asinh", 0.125, far)


def acosh(p: Program, x: int) -> int:
    """log(x + sqrt((x - 1) (x + 1)))."""
    product = p.binary("vmul", p.binary("vadd", x, -1.0), p.binary("vadd", x, 1.0))
    return p.unary("vln", p.binary("vadd", x, p.unary("vsqrt", product)))


def atanh(p: Program, x: int) -> int:
    """log((1 + x) / (1 - x)) / 2."""
    ratio = p.binary("vdiv", p.binary("vadd", x, 1.0), _one_less(p, x))
    far = p.binary("vmul", p.unary("vln", ratio), 0.5)
    return _near_zero(p, x, "atanh", 0.125, far)


def sign(p: Program, x: int) -> int:
    """-1, 0 or 1; nan gives 0."""
    above = p.select(p.compare("gt", x, 0.0), p.fill(1.0, "f32", p.vals[x].axes), 0.0, "f32")
    below = p.fill(-1.0, "f32", p.vals[x].axes)
    return p.select(p.compare("lt", x, 0.0), below, above, "f32")


def general_power(p: Program, x: int, exponent: Operand) -> int:
    """exp(exponent log |x|): negative bases take whole exponents, odd ones negate, others give nan.

    The relative error is that of the logarithm times the exponent, about 6e-8 |exponent log x|.
    """
    if isinstance(exponent, float):
        return p.unary("vexp", p.binary("vmul", p.unary("vln", x), exponent))
    size = p.unary("vabs", x)
    power = p.unary("vexp", p.binary("vmul", p.unary("vln", size), exponent))
    half = p.binary("vmul", exponent, 0.5)
    even = p.compare("eq", rounded(p, half, "floor"), half)
    whole = p.compare("eq", rounded(p, exponent, "floor"), exponent)
    odd = p.select(even, power, p.binary("vmul", power, -1.0), "f32")
    negative = p.select(whole, odd, float("nan"), "f32")
    power = p.select(p.compare("lt", x, 0.0), negative, power, "f32")
    return p.select(p.compare("eq", exponent, 0.0), p.fill(1.0, "f32", frozenset()), power, "f32")
