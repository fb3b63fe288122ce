"""Activations that stand for a small expression, as vector kernels, against the oracle."""

from __future__ import annotations

import numpy as np
import pytest

from kernel_check import kernel
from vector_check import Outcome, check_kernel, meaning, scheduled, simulate

ACTIVATIONS = {
    "swish": "",
    "swish, quick gelu": "{alpha = 1.702}",
    "swish, slope below 0": "{alpha = -0.5}",
    "hard_sigmoid": "",
    "hard_sigmoid, other line": "{alpha = -1.5, beta = 0.25}",
    "hard_swish": "",
    "softplus": "",
    "mish": "",
}

EXTREME = np.array([0.0, -0.0, 1e-30, -1e-6, 88.0, -88.0, 120.0, -120.0, 1e30, -1e30], np.float32)


def text_of(name: str, shape: tuple[int, ...], element: str) -> str:
    type_ = f"tensor<{'x'.join(map(str, (*shape, element)))}>"
    op = f"graph.{name.partition(',')[0]} %x {ACTIVATIONS[name]} : {type_} -> {type_}"
    head = f'graph.kernel @k "k"(%x: {type_}) -> {type_}'
    return f"{head} {{\n  %0 = {op}\n  graph.yield %0 : {type_}\n}}\n"


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_extreme_values(name: str) -> None:
    """Saturated, not overflowed."""
    values = np.concatenate([EXTREME, np.linspace(-25, 25, 1006, dtype=np.float32)])
    op = kernel(text_of(name, (8, 127), "f32"))
    scheduled(op, "ascend910b3")
    (found,) = simulate(op, "ascend910b3", [values.reshape(8, 127)])
    (wanted,) = meaning(op, [values.reshape(8, 127)], exact=True)
    scale = np.maximum(np.abs(wanted), 1.0)
    assert float((np.abs(found - wanted) / scale).max()) < 1e-6


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_16_bit_types(name: str, element: str) -> None:
    assert isinstance(check_kernel(kernel(text_of(name, (5, 33), element)), "tiny"), Outcome)
