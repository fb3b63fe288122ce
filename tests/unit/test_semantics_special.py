"""erf, erfc, GELU and sigmoid against the C library's scalar functions."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from fusec.semantics import Array
from fusec.semantics.special import erf, erfc, gelu, gelu_tanh, sigmoid

GRID = np.concatenate(
    [np.linspace(-28, 28, 20001), np.linspace(-0.5, 0.5, 5001), [1e-300, -1e-20, 0.46875, 4.0]]
)


def scalar(function: Callable[[float], float], x: Array) -> Array:
    return np.array([function(float(value)) for value in x])


@pytest.mark.parametrize(("vector", "function"), [(erf, math.erf), (erfc, math.erfc)])
def test_float64_is_accurate_to_a_few_ulp(
    vector: Callable[[Array], Array], function: Callable[[float], float]
) -> None:
    expected = scalar(function, GRID)
    normal = np.abs(expected) > 1e-300
    np.testing.assert_allclose(vector(GRID)[normal], expected[normal], rtol=1e-15)
    np.testing.assert_allclose(vector(GRID), expected, rtol=0, atol=2.3e-16)


def test_float32_is_correctly_rounded() -> None:
    x = GRID.astype(np.float32)
    np.testing.assert_array_equal(erf(x), scalar(math.erf, x).astype(np.float32))
    assert erf(x).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values(dtype: type[np.floating]) -> None:
    x = np.array([0.0, -0.0, math.inf, -math.inf, math.nan], dtype)
    assert [str(value) for value in erf(x).tolist()] == ["0.0", "-0.0", "1.0", "-1.0", "nan"]
    assert [str(value) for value in erfc(x).tolist()] == ["1.0", "1.0", "0.0", "2.0", "nan"]
    assert [str(value) for value in sigmoid(x).tolist()] == ["0.5", "0.5", "1.0", "0.0", "nan"]
    assert erf(x[:0]).shape == (0,) and erf(x[0]).shape == ()


def test_gelu_has_no_cancellation() -> None:
    x = np.linspace(-12, 12, 4001)
    expected = 0.5 * x * scalar(math.erfc, -x / math.sqrt(2))
    np.testing.assert_allclose(gelu(x), expected, rtol=1e-13)
    np.testing.assert_allclose(gelu(x.astype(np.float32)), expected, rtol=3e-5, atol=1e-9)


def test_gelu_tanh_is_its_formula() -> None:
    x = np.linspace(-6, 6, 1001)
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    np.testing.assert_allclose(gelu_tanh(x), 0.5 * x * (1 + np.tanh(inner)), rtol=1e-9, atol=1e-15)


def test_strided_and_long_inputs() -> None:
    x = np.linspace(-3, 3, 60000).reshape(200, 300)
    np.testing.assert_array_equal(erf(x.T), erf(x).T)
