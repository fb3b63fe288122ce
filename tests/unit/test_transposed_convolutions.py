"""Transposed convolutions against ONNX Runtime, as they are imported and as placed kernels.

Where the strides divide the result they are convolutions to all positions between two inputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from fusec import api
from fusec_dialects.graph import KernelOp
from onnx_model import by_meaning, model_of
from ort import by_runtime

CASES = {
    "windows that do not touch": ((6, 5), (2, 2), (2, 2), (0, 0, 0, 0), (0, 0), 1),
    "twice the size": ((6, 5), (4, 4), (2, 2), (1, 1, 1, 1), (0, 0), 1),
    "output padding": ((6, 5), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 1),
    "groups": ((4, 5), (5, 5), (3, 3), (1, 1, 1, 1), (0, 0), 2),
    "one axis": ((7,), (4,), (2,), (1, 1), (0,), 1),
    "three axes": ((3, 4, 3), (2, 2, 2), (2, 2, 2), (0,) * 6, (0, 0, 0), 1),
    "smaller than the stride": ((6, 5), (1, 1), (2, 2), (0, 0, 0, 0), (1, 1), 1),
    "uneven pads": ((5, 4), (4, 3), (2, 1), (2, 0, 0, 1), (0, 0), 1),
    "strides that do not divide": ((6, 5), (3, 3), (2, 2), (0, 0, 0, 0), (0, 0), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str) -> None:
    sizes, kernel, strides, pads, more, group = CASES[name]
    rng = np.random.default_rng(0)
    inputs = {"x": rng.standard_normal((2, 4, *sizes)).astype(np.float32)}
    weights = {
        "w": rng.standard_normal((4, 6 // group, *kernel)).astype(np.float32),
        "b": rng.standard_normal(6 // group * group).astype(np.float32),
    }
    attrs: dict[str, Any] = {
        "strides": strides,
        "pads": pads,
        "output_padding": more,
        "group": group,
    }
    nodes = [
        helper.make_node("ConvTranspose", ["x", "w", "b"], ["t"], **attrs),
        helper.make_node("Relu", ["t"], ["y"]),
    ]
    model = model_of(nodes, inputs, weights)
    wanted = by_runtime(model, inputs)["y"]
    np.testing.assert_allclose(by_meaning(model, inputs)["y"], wanted, atol=2e-5)
    compiled = api.compile(api.load(model), objective="kernels")
    np.testing.assert_allclose(compiled.run(inputs, "npu")["y"], wanted, atol=2e-5)
    names = {op.pattern.data for op in compiled.fused.walk() if isinstance(op, KernelOp)}
    touching = name not in ("windows that do not touch", "three axes", "smaller than the stride")
    assert touching or "conv_transpose_bias_relu" in names
