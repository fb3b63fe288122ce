"""Places of maxima, unpooling, short-time transforms, cache updates: against references."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from fusec.frontends.errors import ImportFailure
from fusec.semantics.dtypes import Array
from onnx_model import by_kernels, by_meaning, model_of
from ort import by_runtime

RANDOM = np.random.default_rng(3)


def random(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


POOLS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "plain": ((2, 3, 6, 8), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "pads": ((1, 2, 5, 6), {"kernel_shape": [3, 2], "pads": [1, 0, 2, 1]}),
    "ceil": ((1, 2, 6, 7), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    "dilated": ((1, 1, 7, 7), {"kernel_shape": [2, 2], "dilations": [2, 3]}),
    "same": ((1, 1, 5, 5), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER"}),
    "one axis": ((2, 2, 9), {"kernel_shape": [3], "strides": [3]}),
    "three axes": ((1, 2, 4, 4, 6), {"kernel_shape": [2, 2, 3], "strides": [2, 2, 3]}),
    "columns first": ((1, 2, 4, 6), {"kernel_shape": [2, 2], "storage_order": 1}),
}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", POOLS)
def test_places_of_maxima(name: str, ties: bool) -> None:
    """Of equal ones the first; -inf is found on data and not on padding."""
    shape, attrs = POOLS[name]
    inputs = {"x": RANDOM.integers(-1, 2, shape).astype(np.float32) if ties else random(*shape)}
    node = helper.make_node("MaxPool", ["x"], ["y", "i"], **attrs)
    model = model_of([node], inputs, opset=12, outputs=("y", "i"))
    found, wanted = by_meaning(model, inputs), by_runtime(model, inputs)
    np.testing.assert_array_equal(found["y"], wanted["y"])
    np.testing.assert_array_equal(found["i"], wanted["i"])


def test_places_in_kernels() -> None:
    inputs = {"x": random(1, 3, 6, 6)}
    node = helper.make_node(
        "MaxPool", ["x"], ["y", "i"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0]
    )
    model = model_of([node], inputs, opset=12, outputs=("y", "i"))
    found, wanted = by_kernels(model, inputs), by_runtime(model, inputs)
    np.testing.assert_array_equal(found["i"], wanted["i"])


@pytest.mark.parametrize("larger", [None, (1, 2, 7, 9)])
def test_unpool(larger: tuple[int, ...] | None) -> None:
    inputs = {"x": random(1, 2, 6, 8)}
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p", "i"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node(
            "MaxUnpool",
            ["p", "i"] + ["s"] * (larger is not None),
            ["y"],
            kernel_shape=[2, 2],
            strides=[2, 2],
        ),
    ]
    constants = {} if larger is None else {"s": np.array(larger, np.int64)}
    model = model_of(nodes, inputs, constants)
    evaluator = cast(Any, ReferenceEvaluator(model))
    (wanted,) = evaluator.run(["y"], inputs)
    np.testing.assert_array_equal(by_meaning(model, inputs)["y"], wanted)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("window", [False, True])
@pytest.mark.parametrize(("size", "step"), [(16, 8), (15, 4), (10, 10)])
def test_stft(parts: int, window: bool, size: int, step: int) -> None:
    inputs = {"x": random(2, 64, parts)}
    constants: dict[str, Array] = {"step": np.array(step), "size": np.array(size)}
    if window:
        constants["w"] = np.hanning(size).astype(np.float32)
    node = helper.make_node(
        "STFT", ["x", "step", "w" if window else "", "size"], ["y"], onesided=int(parts == 1)
    )
    found = by_meaning(model_of([node], inputs, constants), inputs)["y"]
    wave = inputs["x"][..., 0] + (1j * inputs["x"][..., 1] if parts == 2 else 0)
    frames = np.stack([wave[:, s : s + size] for s in range(0, 64 - size + 1, step)], 1)
    frames = frames * constants.get("w", np.ones(size, np.float32))
    wanted = (np.fft.fft if parts == 2 else np.fft.rfft)(frames)
    np.testing.assert_allclose(found, np.stack([wanted.real, wanted.imag], -1), atol=2e-5)


def test_stft_of_a_complex_signal_is_not_onesided() -> None:
    inputs = {"x": random(1, 32, 2)}
    constants = {"step": np.array(4, np.int64), "size": np.array(8, np.int64)}
    node = helper.make_node("STFT", ["x", "step", "", "size"], ["y"], onesided=1)
    with pytest.raises(ImportFailure, match=r"STFT.*no onesided transform"):
        by_meaning(model_of([node], inputs, constants), inputs)


@pytest.mark.parametrize("count", [1, 3, 20])
@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_cache_update(mode: str, count: int) -> None:
    """Few updates by comparing, many by scattering; positions are known only when it runs."""
    inputs = {"past": random(2, 3, 24, 4), "new": random(2, 3, count, 4)}
    inputs["at"] = np.array([1, 23 if mode == "circular" else 4], np.int64)
    node = helper.make_node("TensorScatter", ["past", "new", "at"], ["y"], mode=mode)
    model = model_of([node], inputs, opset=24)
    wanted = inputs["past"].copy()
    for batch, first in enumerate(inputs["at"]):
        for i in range(count):
            wanted[batch, :, (first + i) % 24] = inputs["new"][batch, :, i]
    np.testing.assert_array_equal(by_meaning(model, inputs)["y"], wanted)
    if count == 1:
        np.testing.assert_array_equal(by_kernels(model, inputs)["y"], wanted)
