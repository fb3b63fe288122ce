"""Quantised and integer operators against ONNX Runtime, by meaning and as placed kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from fusec.frontends.errors import ImportFailure
from fusec.semantics.dtypes import Array
from onnx_model import by_kernels, by_meaning, model_of
from ort import by_runtime

RANDOM = np.random.default_rng(5)


def whole(dtype: str, *shape: int) -> Array:
    """Integers of the whole range of a type."""
    limits = np.iinfo(np.dtype(dtype))
    return RANDOM.integers(limits.min, limits.max + 1, shape).astype(dtype)


def scales(*shape: int) -> Array:
    return RANDOM.uniform(0.005, 0.05, shape).astype(np.float32)


@pytest.mark.parametrize("dtypes", [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")])
@pytest.mark.parametrize(
    ("a_zero", "b_zero"), [(False, ()), (True, ()), (True, (5,))], ids=["none", "one", "columns"]
)
@pytest.mark.parametrize("depth", [7, 600])
def test_matmul_integer(
    dtypes: tuple[str, str], a_zero: bool, b_zero: tuple[int, ...], depth: int
) -> None:
    """Long sums too are exact: 600 products leave the range that f32 holds."""
    inputs = {"a": whole(dtypes[0], 3, depth)}
    constants = {"b": whole(dtypes[1], depth, 5)}
    names = ["a", "b"]
    if a_zero:
        constants |= {"az": whole(dtypes[0]), "bz": whole(dtypes[1], *b_zero)}
        names += ["az", "bz"]
    model = model_of([helper.make_node("MatMulInteger", names, ["y"])], inputs, constants)
    left = inputs["a"].astype(np.int64) - constants.get("az", np.array(0, np.int64))
    right = constants["b"].astype(np.int64) - constants.get("bz", np.array(0, np.int64))
    found = by_meaning(model, inputs)["y"]
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, left @ right)


@pytest.mark.parametrize("attrs", [{}, {"strides": [2, 1], "pads": [1, 0, 2, 1]}, {"group": 2}])
@pytest.mark.parametrize("channels", [4, 80])
def test_conv_integer(attrs: dict[str, Any], channels: int) -> None:
    """A padded position holds the zero point of x."""
    inputs = {"x": whole("uint8", 2, channels, 5, 6)}
    group = attrs.get("group", 1)
    constants = {"w": whole("uint8", 4, channels // group, 3, 3), "xz": np.array(119, np.uint8)}
    constants["wz"] = np.array(7, np.uint8)
    node = helper.make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], **attrs)
    model = model_of([node], inputs, constants)
    wanted = by_runtime(model, inputs)["y"]
    np.testing.assert_array_equal(by_meaning(model, inputs)["y"], wanted)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_qlinear_conv(per_channel: bool, bias: bool) -> None:
    shape = (6,) if per_channel else ()
    inputs = {"x": whole("uint8", 1, 4, 6, 6)}
    constants = {
        "xs": scales(),
        "xz": np.array(130, np.uint8),
        "w": whole("int8", 6, 4, 3, 3),
        "ws": scales(*shape),
        "wz": np.zeros(shape, np.int8),
        "ys": np.array(0.4, np.float32),
        "yz": np.array(120, np.uint8),
    }
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
    if bias:
        constants["b"] = RANDOM.integers(-4000, 4000, 6).astype(np.int32)
        names.append("b")
    node = helper.make_node("QLinearConv", names, ["y"], pads=[1, 1, 1, 1])
    model = model_of([node], inputs, constants)
    found, wanted = by_meaning(model, inputs)["y"], by_runtime(model, inputs)["y"]
    assert found.dtype == np.uint8 and len(set(wanted.reshape(-1).tolist())) > 20
    assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 1
    assert (found != wanted).mean() < 0.01


def test_qlinear_matmul_rows_and_columns() -> None:
    inputs = {"a": whole("int8", 2, 3, 8)}
    constants = {
        "as": scales(),
        "az": np.array(-3, np.int8),
        "b": whole("int8", 2, 8, 5),
        "bs": scales(),
        "bz": np.array(4, np.int8),
        "ys": np.array(0.3, np.float32),
        "yz": np.array(-7, np.int8),
    }
    names = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
    model = model_of([helper.make_node("QLinearMatMul", names, ["y"])], inputs, constants, opset=21)
    found, wanted = by_meaning(model, inputs)["y"], by_runtime(model, inputs)["y"]
    assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 1


FORMS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "one": ((), {}),
    "axis 1": ((6,), {}),
    "axis -1": ((8,), {"axis": -1}),
    "blocks": ((4, 2, 8), {"axis": 1, "block_size": 3}),
    "blocks with a rest": ((4, 6, 3), {"axis": 2, "block_size": 3}),
}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("form", FORMS)
def test_quantize_and_back(form: str, dtype: str) -> None:
    """Ties go to even, what is out of range to its end."""
    shape, attrs = FORMS[form]
    inputs = {"x": (RANDOM.standard_normal((4, 6, 8)) * 3).astype(np.float32)}
    inputs["x"][0, 0] = [0.5, 1.5, 2.5, -0.5, -1.5, 1e9, -1e9, 0.0]
    constants = {"s": scales(*shape), "z": whole(dtype, *shape)}
    if form == "one":
        constants["s"] = np.array(1.0, np.float32)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], **attrs),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], **attrs),
    ]
    model = model_of(nodes, inputs, constants, 21, ("q", "y"))
    found, wanted = by_meaning(model, inputs), by_runtime(model, inputs)
    np.testing.assert_array_equal(found["q"], wanted["q"])
    np.testing.assert_allclose(found["y"], wanted["y"], rtol=1e-6)


def test_output_type_without_a_zero_point() -> None:
    inputs = {"x": np.array([-200, -1.5, 3.5, 400], np.float32)}
    node = helper.make_node("QuantizeLinear", ["x", "s"], ["y"], output_dtype=TensorProto.INT8)
    model = model_of([node], inputs, {"s": np.array(1, np.float32)}, 21)
    found = by_meaning(model, inputs)["y"]
    assert found.dtype == np.int8
    np.testing.assert_array_equal(found, [-128, -2, 4, 127])


def test_blocks_of_the_wrong_number() -> None:
    inputs = {"x": np.zeros((4, 6), np.float32)}
    node = helper.make_node("QuantizeLinear", ["x", "s"], ["y"], axis=1, block_size=4)
    with pytest.raises(ImportFailure, match=r"QuantizeLinear.*expected \[4, 2\]"):
        by_meaning(model_of([node], inputs, {"s": scales(4, 3)}, 21), inputs)


def test_dynamic_quantize() -> None:
    inputs = {"x": (RANDOM.standard_normal((3, 7)) * 2).astype(np.float32)}
    names = ("y", "s", "z")
    node = helper.make_node("DynamicQuantizeLinear", ["x"], list(names))
    model = model_of([node], inputs, opset=11, outputs=names)
    found, wanted = by_meaning(model, inputs), by_runtime(model, inputs)
    for name in names:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-6)


@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "uint8"), ("uint8", "int8")])
def test_integer_product_in_kernels(dtypes: tuple[str, str]) -> None:
    """Bytes of the whole range at the npu level: 300 products leave f32's whole numbers."""
    inputs = {"a": whole(dtypes[0], 16, 1200)}
    constants = {"b": whole(dtypes[1], 1200, 8), "bz": np.array(3, dtypes[1])}
    model = model_of(
        [helper.make_node("MatMulInteger", ["a", "b", "", "bz"], ["y"])], inputs, constants
    )
    wanted = inputs["a"].astype(np.int64) @ (constants["b"].astype(np.int64) - 3)
    np.testing.assert_array_equal(by_kernels(model, inputs)["y"], wanted)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_quantize_in_kernels(dtype: str) -> None:
    """What is stored are the bytes of the type; moves take them as they are."""
    inputs = {"x": (RANDOM.standard_normal((6, 40)) * 9).astype(np.float32)}
    constants = {"s": np.array(0.05, np.float32), "z": np.array(100, dtype)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("Transpose", ["q"], ["t"]),
        helper.make_node("DequantizeLinear", ["t", "s", "z"], ["y"]),
    ]
    model = model_of(nodes, inputs, constants, 13, ("q", "t", "y"))
    found, wanted = by_kernels(model, inputs), by_meaning(model, inputs)
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
