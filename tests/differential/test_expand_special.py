"""Special functions on the vector cores against float64, over the range that each promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusec import api
from fusec.semantics.dtypes import Array

RANDOM = np.random.default_rng(7)
EVERYWHERE = np.concatenate([np.linspace(-8, 8, 500), RANDOM.standard_normal(500) * 1e-3])

Function = Callable[[Array], Any]

CASES: dict[str, tuple[Function, Array]] = {
    "sin": (np.sin, np.concatenate([EVERYWHERE, np.linspace(-4e4, 4e4, 501)])),
    "cos": (np.cos, np.concatenate([EVERYWHERE, np.linspace(-4e4, 4e4, 501)])),
    "tan": (np.tan, np.linspace(-1.5, 1.5, 501)),
    "asin": (np.arcsin, np.linspace(-1, 1, 501)),
    "acos": (np.arccos, np.linspace(-1, 1, 501)),
    "atan": (np.arctan, np.concatenate([EVERYWHERE, [1e6, -1e6, np.inf, -np.inf]])),
    "sinh": (np.sinh, EVERYWHERE),
    "cosh": (np.cosh, EVERYWHERE),
    "asinh": (np.arcsinh, np.concatenate([EVERYWHERE, [1e6, -1e6]])),
    "acosh": (np.arccosh, np.linspace(1, 100, 501)),
    "atanh": (np.arctanh, np.linspace(-0.99, 0.99, 501)),
    "sign": (np.sign, np.concatenate([EVERYWHERE, [0.0, -0.0, np.inf, -np.inf]])),
}


def _run(text: str, **inputs: Array) -> Array:
    """The one result of @main's body, from the placed kernels."""
    from xdsl.parser import Parser

    from fusec.semantics.weights import WeightStore

    module = Parser(api.context(), text).parse_module()
    compiled = api.compile(api.Model(module, WeightStore()))
    (result,) = compiled.run(inputs, "npu").values()
    return result


def _unary(name: str, x: Array) -> Array:
    type_ = f"tensor<{x.size}xf32>"
    return _run(
        f"func.func @main(%x: {type_}) -> {type_} {{\n"
        f"  %y = graph.{name} %x : {type_} -> {type_}\n  func.return %y : {type_}\n}}",
        x=x,
    )


@pytest.mark.parametrize("name", CASES)
def test_function(name: str) -> None:
    function, points = CASES[name]
    x = points.astype(np.float32)
    exact = function(x.astype(np.float64))
    np.testing.assert_allclose(_unary(name, x), exact, rtol=3e-6, atol=3e-7)


@pytest.mark.parametrize("name", ["floor", "ceil", "round"])
def test_rounding_is_exact(name: str) -> None:
    """Halves, whole numbers, numbers too large for i32, infinities and nan."""
    near = np.arange(-4, 4, 0.25)
    far = [2.0**23 - 0.5, 2.0**23 + 1, -(2.0**22) - 0.5, 3e9, -3e38, np.inf, -np.inf, np.nan]
    x = np.concatenate([near, far]).astype(np.float32)
    function = {"floor": np.floor, "ceil": np.ceil, "round": np.rint}[name]
    np.testing.assert_array_equal(_unary(name, x), function(x))


def test_sine_of_what_has_none() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 1.0], np.float32)
    assert np.isnan(_unary("sin", x)).tolist() == [True, True, True, False]


def test_power_of_computed_exponents() -> None:
    bases = np.array([-2.0, -1.5, 0.0, 0.5, 1.0, 3.0], np.float32)
    exponents = np.array([-3.0, -1.0, 0.0, 0.5, 2.0, 3.0], np.float32)
    x, y = (grid.reshape(-1).astype(np.float32) for grid in np.meshgrid(bases, exponents))
    type_ = f"tensor<{x.size}xf32>"
    text = (
        f"func.func @main(%x: {type_}, %y: {type_}) -> {type_} {{\n"
        f"  %z = graph.pow %x, %y : ({type_}, {type_}) -> {type_}\n  func.return %z : {type_}\n}}"
    )
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y)
    np.testing.assert_allclose(_run(text, x=x, y=y), expected, rtol=2e-6)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("bitwise_and", np.bitwise_and),
        ("bitwise_or", np.bitwise_or),
        ("bitwise_xor", np.bitwise_xor),
        ("equal", np.equal),
    ],
)
def test_integers(name: str, function: Callable[[Array, Array], Array]) -> None:
    """Over all 32 bits; equal ones among them."""
    x, y = (RANDOM.integers(-(2**31), 2**31, 99).astype(np.int32) for _ in range(2))
    y[::3] = x[::3]
    x[1], y[1] = np.int32(2**31 - 1), np.int32(-(2**31))
    result = "i1" if name == "equal" else "i32"
    text = (
        f"func.func @main(%x: tensor<99xi32>, %y: tensor<99xi32>) -> tensor<99x{result}> {{\n"
        f"  %z = graph.{name} %x, %y : (tensor<99xi32>, tensor<99xi32>) -> tensor<99x{result}>\n"
        f"  func.return %z : tensor<99x{result}>\n}}"
    )
    np.testing.assert_array_equal(_run(text, x=x, y=y), function(x, y))


@pytest.mark.parametrize("dtype", ["i32", "i1"])
def test_where_without_floats(dtype: str) -> None:
    c = RANDOM.random(99) < 0.5
    if dtype == "i1":
        a, b = (RANDOM.random(99) < 0.5 for _ in range(2))
    else:
        a, b = (RANDOM.integers(-(2**31), 2**31, 99).astype(np.int32) for _ in range(2))
    t = f"tensor<99x{dtype}>"
    text = (
        f"func.func @main(%c: tensor<99xi1>, %a: {t}, %b: {t}) -> {t} {{\n"
        f"  %y = graph.where %c, %a, %b : (tensor<99xi1>, {t}, {t}) -> {t}\n"
        f"  func.return %y : {t}\n}}"
    )
    np.testing.assert_array_equal(_run(text, c=c, a=a, b=b), np.where(c, a, b))


def test_mask_before_softmax_may_be_infinite() -> None:
    """The sum of a product and a mask is no identity product, where -inf would give nan."""
    text = """func.func @main(%q: tensor<16x8xf32>, %k: tensor<8x16xf32>, %m: tensor<16x16xf32>)
    -> tensor<16x16xf32> {
  %s = graph.matmul %q, %k : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %a = graph.add %s, %m : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %y = graph.softmax %a : tensor<16x16xf32> -> tensor<16x16xf32>
  func.return %y : tensor<16x16xf32>
}"""
    q, k = (RANDOM.standard_normal(s).astype(np.float32) for s in ((16, 8), (8, 16)))
    m = np.where(np.tri(16, dtype=np.bool_), 0.0, -np.inf).astype(np.float32)
    scores = (q @ k + m).astype(np.float64)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(_run(text, q=q, k=k, m=m), expected, rtol=1e-5, atol=1e-7)
