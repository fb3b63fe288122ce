"""Products of dequantised integers become kernels on the integers, with ONNX Runtime's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import NodeProto, helper

from fusec import api
from fusec.semantics.dtypes import Array
from fusec_dialects.graph.compute import MatmulIntegerOp, MatmulOp
from onnx_model import model_of
from ort import by_runtime

ZERO = np.array(0, np.int8)


def network(columns: bool, zero: int, bias: bool) -> tuple[list[NodeProto], dict[str, Array]]:
    """Quantise, dequantise, MatMul, bias, Relu, quantise: what quantised networks are made of."""
    rng = np.random.default_rng(1)
    scales = rng.uniform(0.005, 0.03, 24 if columns else ()).astype(np.float32)
    constants: dict[str, Array] = {
        "xs": np.array(0.05, np.float32),
        "xz": np.array(zero, np.int8),
        "w": rng.integers(-128, 128, (72, 24)).astype(np.int8),
        "ws": scales,
        "wz": np.zeros(scales.shape, np.int8),
        "b": rng.standard_normal(24).astype(np.float32),
        "ys": np.array(0.3, np.float32),
        "yz": ZERO,
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"], axis=1),
        helper.make_node("MatMul", ["d", "v"], ["m"]),
        helper.make_node("Add", ["m", "b"], ["s"])
        if bias
        else helper.make_node("Neg", ["m"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("QuantizeLinear", ["r", "ys", "yz"], ["y"]),
    ]
    used = {name for node in nodes for name in node.input}
    return nodes, {name: array for name, array in constants.items() if name in used}


@pytest.mark.parametrize(
    ("rows", "columns", "bias"), [(48, False, True), (33, True, True), (3, True, False)]
)
def test_dequantised_products_are_of_integers(rows: int, columns: bool, bias: bool) -> None:
    x = np.random.default_rng(2).standard_normal((rows, 72)).astype(np.float32)
    nodes, constants = network(columns, 0, bias)
    model = model_of(nodes, {"x": x}, constants)
    compiled = api.compile(api.load(model), objective="kernels")
    assert any(isinstance(op, MatmulIntegerOp) for op in compiled.fused.walk())
    wanted = by_runtime(model, {"x": x})["y"].astype(int)
    for level in ("fused", "npu"):
        steps = np.abs(compiled.run({"x": x}, level)["y"].astype(int) - wanted)
        assert steps.max() <= 1 and (steps > 0).mean() < 0.02, level


def test_a_zero_point_keeps_the_product_in_floats() -> None:
    x = np.random.default_rng(2).standard_normal((16, 72)).astype(np.float32)
    nodes, constants = network(False, 3, True)
    model = model_of(nodes, {"x": x}, constants)
    compiled = api.compile(api.load(model))
    assert any(isinstance(op, MatmulOp) for op in compiled.fused.walk())
    steps = compiled.run({"x": x}, "npu")["y"].astype(int) - by_runtime(model, {"x": x})["y"]
    assert np.abs(steps).max() <= 1


@pytest.mark.parametrize("depth", [40, 700])
def test_matmul_integer_of_signed_bytes(depth: int) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((20, depth), (depth, 17)))
    model = model_of([helper.make_node("MatMulInteger", ["a", "b"], ["y"])], {"a": a}, {"b": b})
    compiled = api.compile(api.load(model))
    assert any(isinstance(op, MatmulIntegerOp) for op in compiled.fused.walk())
    found = compiled.run({"a": a}, "npu")["y"]
    assert found.dtype == np.int32
    assert np.array_equal(found, a.astype(np.int64) @ b.astype(np.int64))
