"""Errors between two sets of outputs, and the reference in ONNX Runtime."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

import fusec
from fusec.accuracy.compare import difference, worst
from fusec.accuracy.inputs import check_inputs, input_types, seeded_inputs, table_size
from fusec.accuracy.reference import run_reference
from fusec.api import context
from fusec.semantics.dtypes import Array, np_dtype
from fusec.semantics.interpreter import GraphError
from fusec_dialects.graph.base import tensor_type
from networks import Net, embedding, perceptron


def array(*values: float, dtype: str = "float32") -> Array:
    return np.array(values, dtype)


def test_relative_error_is_of_the_largest_value() -> None:
    found = difference("y", array(1.0, -8.25, 0.5), array(1.5, -8.0, 0.5))
    assert (found.max_abs_error, found.max_rel_error) == (0.5, 0.0625)
    assert found.cosine == pytest.approx(0.998, abs=1e-3)


@pytest.mark.parametrize(
    ("found", "reference", "error"),
    [
        (array(nan, 1), array(nan, 1), 0),
        (array(inf, 1), array(inf, 1), 0),
        (array(inf, 1), array(-inf, 1), inf),
        (array(nan, 1), array(1, 1), inf),
        (array(1, 1), array(1, nan), inf),
        (array(0, 0), array(0, 0), 0),
        (array(0, 1e-9), array(0, 0), inf),
        (array(), array(), 0),
        (array(1, 2), array(1, 2, 3), inf),
        (array(1, 2, dtype="int64"), array(1, 2, dtype="int64"), 0),
        (array(1, 3, dtype="int64"), array(1, 2, dtype="int64"), inf),
        (array(1, 0, dtype="bool"), array(1, 1, dtype="bool"), inf),
    ],
)
def test_special_values(found: Array, reference: Array, error: float) -> None:
    assert difference("y", found, reference).max_rel_error == error


def test_the_worst_output_counts() -> None:
    reference = {"a": array(1, 2), "b": array(1, 2), "c": array(1, 2)}
    found = {**reference, "b": array(1, 2.5)}
    assert worst(found, reference).output == "b"
    with pytest.raises(KeyError):
        worst({}, reference)


def test_a_shift_shows_in_the_error_and_not_in_the_cosine() -> None:
    found = difference("y", array(2, 4, 6), array(1, 2, 3))
    assert found.cosine == pytest.approx(1)
    assert found.max_rel_error == 1


@pytest.mark.parametrize(
    ("dtype", "value", "step"),
    [
        ("float32", 1.0, 2.0**-23),
        ("float32", 3.0, 2.0**-22),
        ("float32", 0.0, 2.0**-149),
        ("float16", 1.5, 2.0**-10),
        ("float16", 1e-7, 2.0**-24),
        ("bfloat16", -8.0, 2.0**-4),
        ("float64", 1.0, 2.0**-52),
        ("int64", 5.0, 1.0),
    ],
)
def test_units_in_the_last_place(dtype: str, value: float, step: float) -> None:
    """Of the type that was found, also where the reference is of another."""
    exact = np.array([value], np_dtype(dtype)).astype(np.float64)
    found = (exact + 3 * step).astype(np_dtype(dtype))
    assert difference("y", found, exact).max_ulp == 3
    assert difference("y", found, found).max_ulp == 0


# Inputs


def test_indices_lie_inside_the_smallest_table() -> None:
    net = Net()
    ids = net.input("ids", [1, 40], "int64")
    flat = net.op("Reshape", [net.op("Cast", [ids], to=6), net.ints(-1)])
    large = net.op("Gather", [net.weight([50, 4]), ids], axis=0)
    small = net.op("Gather", [net.weight([4, 3]), flat], axis=1)
    y = net.op("Add", [net.op("ReduceSum", [large]), net.op("ReduceSum", [small])])
    module = fusec.load(net.model({y: []})).module
    (ids_argument,) = next(iter(module.ops)).regions[0].block.args
    assert table_size(ids_argument) == 3
    assert set(np.unique(seeded_inputs(module, 1)["ids"])) == {0, 1, 2}


def test_indices_are_found_in_groups_and_kernels() -> None:
    fused = fusec.fuse(fusec.load(embedding(rows=3)))
    assert fused.level == "fused"
    assert set(np.unique(seeded_inputs(fused.module, 0)["ids"])) == {0, 1, 2}


def test_inputs_depend_on_the_seed_and_the_name_only() -> None:
    module = fusec.load(perceptron()).module
    first, again, other = (seeded_inputs(module, seed)["x"] for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_input_types_on_each_level() -> None:
    model = fusec.load(perceptron())
    compiled = fusec.compile(model)
    for level in ("graph", "fused", "npu"):
        types = input_types(compiled.module(level))
        assert {n: str(t) for n, t in types.items()} == {"x": "tensor<20x32xf32>"}


def test_a_dynamic_input_asks_for_a_shape() -> None:
    from xdsl.parser import Parser

    module = Parser(
        context(),
        'func.func @main(%x: tensor<?xf32> {graph.name = "a"}) { func.return }',
    ).parse_module()
    with pytest.raises(GraphError, match=r"input 'a' is tensor<.xf32>; give it .* --shape a=AxB"):
        seeded_inputs(module, 0)
    (type_,) = input_types(module).values()
    assert type_ == tensor_type(next(iter(module.ops)).regions[0].block.args[0])
    with pytest.raises(GraphError, match="input 'a' is missing; there are b"):
        check_inputs(module, {"b": array(1)})


# ONNX Runtime


def test_seeded_weights_reach_onnx_runtime(tmp_path: Path) -> None:
    """A filter that the file gives as one number is fed as an input of the session."""
    net = Net()
    x = net.input("x", [3, 8])
    shape = net.ints(8, 5)
    w = net.op("ConstantOfShape", [shape])
    y = net.op("MatMul", [x, w])
    path = tmp_path / "m.onnx"
    path.write_bytes(net.model({y: [3, 5]}))
    model = fusec.load(path)
    repeated = set(model.weights.repeated)
    assert repeated == {w}
    seeded = model.seeded(0)
    inputs = seeded_inputs(seeded.module, 0)
    reference = run_reference(str(path), seeded.weights, repeated, inputs)
    assert np.abs(reference[y]).max() > 0.1
    assert worst(seeded.run(inputs), reference).max_rel_error < 1e-6
    assert np.all(run_reference(str(path), model.weights, set(), inputs)[y] == 0)
