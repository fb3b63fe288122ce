"""Sorting, running sums, and reading and writing at computed places: placed kernels against the
meaning of the operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from fusec.semantics.dtypes import Array
from onnx_model import by_kernels, by_meaning, model_of

RANDOM = np.random.default_rng(21)


def random(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def places(size: int, *shape: int) -> Array:
    """Places of an axis, negative ones too."""
    return RANDOM.integers(-size, size, shape).astype(np.int64)


def check(
    node: Any,
    inputs: dict[str, Array],
    constants: dict[str, Array] | None = None,
    opset: int = 20,
    tolerance: float = 0.0,
) -> None:
    model = model_of([node], inputs, constants, opset)
    found, wanted = by_kernels(model, inputs)["y"], by_meaning(model, inputs)["y"]
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def split(
    inputs: dict[str, Array], names: tuple[str, ...], constant: bool
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Inputs and constants: `names` are constant or not."""
    kept = {k: v for k, v in inputs.items() if not constant or k not in names}
    return kept, {k: v for k, v in inputs.items() if k not in kept}


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(
    ("x", "lead", "depth", "batch"),
    [
        ((5, 6), (4,), 2, 0),
        ((5, 6, 3), (2, 4), 1, 0),
        ((2, 5, 3), (2, 4), 1, 1),
        ((7,), (3,), 1, 0),
    ],
)
def test_gather_nd(
    x: tuple[int, ...], lead: tuple[int, ...], depth: int, batch: int, constant: bool
) -> None:
    indices = np.stack([places(n, *lead) for n in x[batch : batch + depth]], -1)
    given = split({"x": random(*x), "i": indices}, ("i",), constant)
    check(helper.make_node("GatherND", ["x", "i"], ["y"], batch_dims=batch), *given)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_gather_elements(axis: int, constant: bool, dtype: str) -> None:
    inputs = {"x": (random(4, 5, 6) * 9).astype(dtype), "i": places(4, 3, 4, 5)}
    given = split(inputs, ("i",), constant)
    check(helper.make_node("GatherElements", ["x", "i"], ["y"], axis=axis), *given)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_scatter_nd(reduction: str, dtype: str, constant: bool) -> None:
    """Places that come twice where something is combined."""
    indices = places(5, 3, 2) if reduction != "none" else np.array([[0, 4], [-1, 2], [2, -3]])
    inputs = {
        "x": (random(5, 5, 3) * 9).astype(dtype),
        "i": indices,
        "u": (random(3, 3) * 9).astype(dtype),
    }
    node = helper.make_node("ScatterND", ["x", "i", "u"], ["y"], reduction=reduction)
    check(node, *split(inputs, ("i",), constant), tolerance=1e-6)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("axis", [0, 1])
def test_scatter_elements(reduction: str, axis: int) -> None:
    """Fewer updates than data along the other axis too; -1 is the last and not none."""
    indices = places(5, 3, 4) if reduction != "none" else np.argsort(random(3, 4), axis) - 1
    inputs = {"x": random(5, 6), "i": indices, "u": random(3, 4)}
    node = helper.make_node(
        "ScatterElements", ["x", "i", "u"], ["y"], axis=axis, reduction=reduction
    )
    check(node, inputs, tolerance=1e-6)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("batch", [0, 1])
def test_reverse_sequence(batch: int, constant: bool) -> None:
    shape = (4, 6, 3) if batch == 0 else (6, 4, 3)
    given = split({"x": random(*shape), "n": np.array([6, 1, 3, 0])}, ("n",), constant)
    node = helper.make_node(
        "ReverseSequence", ["x", "n"], ["y"], batch_axis=batch, time_axis=1 - batch
    )
    check(node, *given)


@pytest.mark.parametrize(
    "shapes", [((3, 4), (3, 4), (3, 4)), ((4,), (3, 1), ()), ((3, 1), (), (4,))]
)
def test_where_of_64_bits(shapes: tuple[tuple[int, ...], ...]) -> None:
    """All 64 of them."""
    c, a, b = shapes
    inputs = {"c": RANDOM.random(c) < 0.5}
    inputs |= {n: RANDOM.integers(-(2**62), 2**62, s) for n, s in (("a", a), ("b", b))}
    check(helper.make_node("Where", ["c", "a", "b"], ["y"]), inputs)


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize(("axis", "k"), [(1, 1), (0, 3), (-1, 16)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_top_k(dtype: str, axis: int, k: int, largest: int) -> None:
    """Ties, and infinities that are entries as all others."""
    x = RANDOM.integers(-4, 4, (5, 17)).astype(dtype)
    if dtype == "float32":
        x[0, :5] = [np.inf, -np.inf, -np.inf, np.inf, -np.inf]
        x[2] = -np.inf
    for output in ("y", "v"):
        names = ["y", "i"] if output == "y" else ["v", "y"]
        node = helper.make_node("TopK", ["x", "k"], names, axis=axis, largest=largest)
        check(node, {"x": x}, {"k": np.array([k], np.int64)})


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize(("shape", "axis"), [((3, 7), 1), ((7, 3), 0), ((2, 100), 1)])
@pytest.mark.parametrize("dtype", ["float32", "int32", "float16"])
def test_running_sum(
    dtype: str, shape: tuple[int, ...], axis: int, reverse: int, exclusive: int
) -> None:
    node = helper.make_node("CumSum", ["x", "a"], ["y"], exclusive=exclusive, reverse=reverse)
    inputs = {"x": (random(*shape) * (1e5 if dtype == "int32" else 1)).astype(dtype)}
    tolerance = {"float32": 1e-5, "int32": 0.0, "float16": 1e-2}[dtype]
    check(node, inputs, {"a": np.array(axis, np.int64)}, tolerance=tolerance)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_determinant(n: int) -> None:
    check(helper.make_node("Det", ["x"], ["y"]), {"x": random(4, n, n)}, tolerance=1e-5)
