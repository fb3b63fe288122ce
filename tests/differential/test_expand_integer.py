"""Quotients, remainders and shifts of i32 on the vector cores: every bit, at the range's ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from fusec.semantics.dtypes import Array
from onnx_model import by_kernels, by_meaning, model_of

_POSITIVE = (
    *(0, 1, 2, 3, 7, 1000, 65535, 65536, 16777216, 16777217, 123456789, 2**30, 2**31 - 129),
    2**31 - 1,
)
ENDS = np.array([*_POSITIVE, *(-n for n in _POSITIVE), -(2**31)], np.int64).astype(np.int32)
RANDOM = np.random.default_rng(1).integers(-(2**31), 2**31, 400).astype(np.int32)
SMALL = np.random.default_rng(2).integers(-300, 300, 400).astype(np.int32)


def _pairs() -> dict[str, Array]:
    """Every end with every end, and numbers of all sizes."""
    a, b = np.meshgrid(ENDS, ENDS)
    return {
        "a": np.concatenate([a.ravel(), RANDOM, RANDOM, SMALL]),
        "b": np.concatenate([b.ravel(), RANDOM[::-1], SMALL, SMALL[::-1]]),
    }


def _towards_zero(a: Array, b: Array) -> tuple[Array, Array]:
    """Quotient and remainder in 64 bits; both 0 by zero."""
    wide, by = a.astype(np.int64), b.astype(np.int64)
    there = np.where(by == 0, 1, by)
    q = np.abs(wide) // np.abs(there) * np.sign(wide) * np.sign(there)
    return np.where(by == 0, 0, q), np.where(by == 0, 0, wide - q * there)


@pytest.mark.parametrize("op", ["Div", "Mod", "fmod"])
def test_quotients(op: str) -> None:
    inputs = _pairs()
    attrs: dict[str, Any] = {"fmod": 1} if op == "fmod" else {}
    node = helper.make_node(
        "Mod" if op == "fmod" else op, ["a", "b"], ["y"], None, None, None, **attrs
    )
    model = model_of([node], inputs)
    q, r = _towards_zero(**inputs)
    b = inputs["b"].astype(np.int64)
    wanted = {"Div": q, "fmod": r, "Mod": r + b * ((r != 0) & ((r < 0) != (b < 0)))}[op]
    for found in (by_meaning(model, inputs)["y"], by_kernels(model, inputs)["y"]):
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, wanted.astype(np.int32))


@pytest.mark.parametrize("constant", [3, -10])
def test_by_a_constant(constant: int) -> None:
    inputs = {"a": np.concatenate([ENDS, RANDOM]).reshape(3, -1)}
    model = model_of(
        [helper.make_node("Div", ["a", "b"], ["y"])], inputs, {"b": np.array(constant, np.int32)}
    )
    wanted, _ = _towards_zero(inputs["a"], np.array(constant))
    np.testing.assert_array_equal(by_kernels(model, inputs)["y"], wanted)


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_shifts(direction: str) -> None:
    """Counts past the width leave zeros, or to the right the sign."""
    counts = np.array([0, 1, 2, 7, 15, 16, 23, 24, 30, 31, 32, 33, 100, -1], np.int32)
    a, b = np.meshgrid(np.concatenate([ENDS, RANDOM[:50]]), counts)
    inputs = {"a": a, "b": b}
    node = helper.make_node("BitShift", ["a", "b"], ["y"], direction=direction)
    model = model_of([node], inputs, opset=26)
    wide, inside = a.astype(np.int64), (b >= 0) & (b < 32)
    by = np.where(inside, b, 0)
    if direction == "LEFT":
        wanted = np.where(inside, wide << by, 0)
    else:
        wanted = np.where(inside, wide >> by, wide >> 63)
    for found in (by_meaning(model, inputs)["y"], by_kernels(model, inputs)["y"]):
        np.testing.assert_array_equal(found, wanted.astype(np.int32))


def test_to_int8_towards_zero() -> None:
    """Not by way of a half that rounds: 126.99 is 126."""
    inputs = {"x": np.array([126.99, -127.99, 0.99, -0.99, 127, -128, 3.5], np.float32)}
    node = helper.make_node("Cast", ["x"], ["y"], to=3)
    model = model_of([node], inputs)
    np.testing.assert_array_equal(by_kernels(model, inputs)["y"], [126, -127, 0, 0, 127, -128, 3])
