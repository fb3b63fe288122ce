"""Imported operators that are compositions, on random values against ONNX Runtime and numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from fusec import api
from fusec.frontends.errors import ImportFailure
from fusec.semantics.dtypes import Array
from onnx_model import by_meaning, model_of
from ort import by_runtime

RANDOM = np.random.default_rng(11)


def _random(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def _both(model: bytes, inputs: Mapping[str, Array]) -> tuple[Array, Array]:
    """The output by our meaning and by ONNX Runtime."""
    return by_meaning(model, inputs)["y"], by_runtime(model, inputs)["y"]


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("bihd,bjhd->bhij", [(2, 4, 3, 5), (2, 6, 3, 5)]),
        ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)]),
        ("ij->ji", [(2, 3)]),
        ("ijk->k", [(2, 3, 4)]),
        ("i,j->ij", [(2,), (3,)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
        ("ij,ij", [(2, 3), (2, 3)]),
        ("ii->i", [(4, 4)]),
        ("ii", [(4, 4)]),
        ("bii->b", [(3, 4, 4)]),
        ("iji->j", [(4, 3, 4)]),
        ("iii->i", [(3, 3, 3)]),
        ("...ii->...i", [(2, 5, 4, 4)]),
        ("ii,i->i", [(4, 4), (4,)]),
        ("iijj->ij", [(3, 3, 2, 2)]),
        ("...ij,...jk->...ik", [(3, 1, 2, 4), (5, 4, 2)]),
        ("bij,bjk->bik", [(1, 2, 3), (4, 3, 5)]),
        ("ij,jk->ik", [(2, 1), (3, 4)]),
        ("...i->...", [(2, 3, 4)]),
        ("i...,i...->...", [(4, 2, 3), (4, 3)]),
        ("Ab,bA->A", [(2, 3), (3, 2)]),
        (" i j , j -> i ", [(2, 3), (3,)]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    inputs = {f"x{i}": _random(*shape) for i, shape in enumerate(shapes)}
    node = helper.make_node("Einsum", list(inputs), ["y"], equation=equation)
    found = api.load(model_of([node], inputs)).run(inputs)["y"]
    wanted = np.einsum(equation, *inputs.values())
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"strides": [2, 3], "pads": [1, 0, 0, 2]},
        {"strides": [2, 2], "output_padding": [1, 1], "pads": [1, 1, 1, 1]},
        {"strides": [3, 2], "dilations": [2, 1]},
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"strides": [2, 2], "output_shape": [9, 11]},
        {"group": 2, "strides": [1, 2]},
        {"strides": [3, 3]},
        {"strides": [3, 3], "group": 2},
        {"strides": [3, 3], "dilations": [2, 2]},
        {"strides": [3, 3], "pads": [0, 1, 0, 0]},
    ],
)
def test_conv_transpose(attrs: dict[str, Any]) -> None:
    inputs = {"x": _random(2, 4, 5, 6)}
    weights = {"w": _random(4, 3, 3, 3), "b": _random(3 * attrs.get("group", 1))}
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], **attrs)
    found, wanted = _both(model_of([node], inputs, weights), inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("how", ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"])
@pytest.mark.parametrize("sizes", [(2, 3, 10, 14), (2, 3, 3, 4), (2, 3, 7, 5)])
def test_resize(mode: str, how: str, sizes: tuple[int, ...]) -> None:
    inputs = {"x": _random(2, 3, 5, 7)}
    constants = {"sizes": np.array(sizes, np.int64)}
    node = helper.make_node(
        "Resize",
        ["x", "", "", "sizes"],
        ["y"],
        mode=mode,
        coordinate_transformation_mode=how,
        nearest_mode="floor",
    )
    found, wanted = _both(model_of([node], inputs, constants), inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [0, 1])
def test_extreme_with_ties(op: str, last: int) -> None:
    inputs = {"x": RANDOM.integers(0, 3, (4, 9)).astype(np.float32)}
    node = helper.make_node(op, ["x"], ["y"], axis=1, select_last_index=last)
    found, wanted = _both(model_of([node], inputs), inputs)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("largest", [0, 1])
def test_top_k_with_ties(largest: int) -> None:
    inputs = {"x": RANDOM.integers(0, 3, (4, 9)).astype(np.float32)}
    node = helper.make_node("TopK", ["x", "k"], ["values", "y"], largest=largest)
    found, wanted = _both(model_of([node], inputs, {"k": np.array([5], np.int64)}), inputs)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("op", ["Softplus", "Mish", "Elu", "Selu", "Celu", "HardSwish", "Softsign"])
def test_activation_far_out(op: str) -> None:
    """No overflow and no lost digits where the closed form has them."""
    inputs = {"x": np.linspace(-90, 90, 181).astype(np.float32)}
    found, wanted = _both(model_of([helper.make_node(op, ["x"], ["y"])], inputs), inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_global_lp_pool(p: int) -> None:
    inputs = {"x": _random(2, 3, 4, 5)}
    found, wanted = _both(
        model_of([helper.make_node("GlobalLpPool", ["x"], ["y"], p=p)], inputs), inputs
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_shape_arithmetic_is_folded() -> None:
    """Flattening by the sizes that the model computes leaves one reshape."""
    inputs = {"x": _random(2, 3, 4)}
    constants = {"first": np.array([0], np.int64), "rest": np.array([-1], np.int64)}
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "first"], ["batch"]),
        helper.make_node("Concat", ["batch", "rest"], ["new"], axis=0),
        helper.make_node("Reshape", ["x", "new"], ["y"]),
    ]
    model = api.load(model_of(nodes, inputs, constants))
    assert [op.name for op in model.module.walk() if op.name.startswith("graph.")] == [
        "graph.reshape"
    ]
    assert model.run(inputs)["y"].shape == (2, 12)


@pytest.mark.parametrize("taken", [False, True])
def test_if_with_a_constant_condition(taken: bool) -> None:
    """The branch stands in place of the node and sees the values around it."""
    inputs = {"x": _random(2, 3)}
    branches = [
        helper.make_graph(
            [helper.make_node(op, ["x"], ["r"])],
            op,
            [],
            [helper.make_tensor_value_info("r", TensorProto.FLOAT, [2, 3])],
        )
        for op in ("Neg", "Abs")
    ]
    node = helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])
    model = api.load(model_of([node], inputs, {"c": np.array(taken)}))
    wanted = -inputs["x"] if taken else abs(inputs["x"])
    np.testing.assert_array_equal(model.run(inputs)["y"], wanted)


def test_if_with_a_computed_condition() -> None:
    inputs = {"c": np.array(True)}
    branch = helper.make_graph(
        [helper.make_node("Constant", [], ["r"], value_float=1.0)],
        "b",
        [],
        [helper.make_tensor_value_info("r", TensorProto.FLOAT, [])],
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    with pytest.raises(ImportFailure, match=r"If.*the condition.*has to be constant"):
        api.load(model_of([node], inputs))


def test_body_of_an_operator() -> None:
    """ONNX's own definition stands in; every operator keeps the node's name."""
    inputs = {"x": _random(3, 4), "s": _random(4)}
    node = helper.make_node("LayerNormalization", ["x", "s"], ["y", "mean"], name="norm")
    model = api.load(model_of([node], inputs))
    mean, deviation = inputs["x"].mean(1, keepdims=True), inputs["x"].std(1, keepdims=True)
    wanted = (inputs["x"] - mean) / deviation * inputs["s"]
    np.testing.assert_allclose(model.run(inputs)["y"], wanted, rtol=1e-3, atol=1e-5)
    places = {str(op.location) for op in model.module.walk() if op.name == "graph.mul"}
    assert places == {'loc("norm")'}


def test_operator_inside_a_body_is_named() -> None:
    """What a body needs and is not there is refused by name."""
    inputs = {"x": _random(3)}
    with pytest.raises(ImportFailure, match="RandomUniformLike"):
        api.load(model_of([helper.make_node("Bernoulli", ["x"], ["y"])], inputs))
