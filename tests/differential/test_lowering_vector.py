"""Vector kernels against the oracle: random regions, long rows, odd sizes, special values."""

from __future__ import annotations

import numpy as np
import pytest

from fusec.schedule.types import Refusal
from fusec.schedule.vector import VectorSchedule
from kernel_check import kernel
from vector_check import Outcome, check_kernel, meaning, scheduled, simulate
from vector_regions import random_integers, random_region, tensor

TARGETS = ("ascend910b3", "tiny")


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("target", TARGETS)
def test_random_regions(target: str, seed: int) -> None:
    answer = check_kernel(kernel(random_region(seed)), target, seed=seed)
    assert isinstance(answer, Outcome) or answer.reason == "nested-reduction"


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("target", TARGETS)
def test_random_integers(target: str, seed: int) -> None:
    assert isinstance(check_kernel(kernel(random_integers(seed)), target, seed=seed), Outcome)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_many_random_regions(seed: int) -> None:
    for target in TARGETS:
        answer = check_kernel(kernel(random_region(seed)), target, seed=seed)
        assert isinstance(answer, Outcome) or answer.reason == "nested-reduction"


def unary(name: str, shape: tuple[int, ...], dtype: str = "f32", attrs: str = "") -> str:
    type_ = tensor(shape, dtype)
    return (
        f'graph.kernel @k "k"(%x: {type_}) -> {type_} {{\n'
        f"  %0 = graph.{name} %x {attrs} : {type_} -> {type_}\n"
        f"  graph.yield %0 : {type_}\n}}\n"
    )


def layer_norm(shape: tuple[int, ...], dtype: str = "f32") -> str:
    type_, row = tensor(shape, dtype), tensor(shape[-1:], dtype)
    return (
        f'graph.kernel @k "k"(%x: {type_}, %r: {type_}, %g: {row}, %b: {row}) -> {type_} {{\n'
        f"  %0 = graph.add %x, %r : ({type_}, {type_}) -> {type_}\n"
        f"  %1 = graph.layer_normalization %0, %g, %b : ({type_}, {row}, {row}) -> {type_}\n"
        f"  graph.yield %1 : {type_}\n}}\n"
    )


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(3, 5000), (1, 50001), (7, 1)])
def test_rows_that_do_not_fit(name: str, shape: tuple[int, ...]) -> None:
    for target in TARGETS:
        assert isinstance(check_kernel(kernel(unary(name, shape)), target), Outcome)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("shape", [(2, 6000), (5, 197), (1, 1)])
def test_layer_norm(shape: tuple[int, ...], dtype: str) -> None:
    for target in TARGETS:
        answer = check_kernel(kernel(layer_norm(shape, dtype)), target)
        assert isinstance(answer, Outcome)
        swept = answer.schedule
        if target == "tiny" and shape[-1] == 6000:
            assert isinstance(swept, VectorSchedule) and swept.tiles[-1] < 6000


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("keep", [True, False])
def test_reductions_over_any_axes(kind: str, axes: tuple[int, ...], keep: bool) -> None:
    shape = (6, 70, 41) if kind != "prod" else (2, 7, 5)
    kept = [1 if a in axes else n for a, n in enumerate(shape)]
    result = tuple(kept if keep else [n for a, n in enumerate(shape) if a not in axes])
    x, y = tensor(shape, "f32"), tensor(result, "f32")
    text = (
        f'graph.kernel @k "k"(%x: {x}) -> {y} {{\n'
        f"  %0 = graph.reduce_{kind} %x {{axes = {list(axes)}, keepdims = {str(keep).lower()}}} "
        f": {x} -> {y}\n  graph.yield %0 : {y}\n}}\n"
    )
    for target in TARGETS:
        assert isinstance(check_kernel(kernel(text), target), Outcome)


EXTREME = np.array([0.0, -0.0, 1e-30, -1e-6, 88.0, -88.0, 120.0, -120.0, 1e30, -1e30], np.float32)


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "erf", "gelu", "relu", "leaky_relu"])
def test_functions_at_extreme_values(name: str) -> None:
    """Saturated, not overflowed; the error of the functions on all of f32 is below 5e-7."""
    near = np.linspace(-6, 6, 6006, dtype=np.float32)
    values = np.concatenate([EXTREME, near]).reshape(32, 188)
    op = kernel(unary(name, values.shape))
    scheduled(op, "ascend910b3")
    (found,) = simulate(op, "ascend910b3", [values])
    (wanted,) = meaning(op, [values], exact=True)
    scale = np.maximum(np.abs(wanted), 1.0)
    assert float((np.abs(found - wanted) / scale).max()) < 5e-7


def test_gelu_by_tanh_is_the_same_formula() -> None:
    values = np.linspace(-9, 9, 1000, dtype=np.float32).reshape(8, 125)
    op = kernel(unary("gelu", values.shape, attrs='{approximate = "tanh"}'))
    answer = check_kernel(op, "ascend910b3", inputs=[values])
    assert isinstance(answer, Outcome)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0, 3.0, 7.0, -1.0, -2.0, -0.5])
def test_powers(exponent: float) -> None:
    x = "tensor<17x5xf32>"
    text = (
        f'graph.kernel @k "k"(%x: {x}) -> {x} {{\n'
        f"  %a = graph.abs %x : {x} -> {x}\n"
        f"  %e = graph.constant dense<{exponent}> : tensor<f32>\n"
        f"  %0 = graph.pow %a, %e : ({x}, tensor<f32>) -> {x}\n  graph.yield %0 : {x}\n}}\n"
    )
    assert isinstance(check_kernel(kernel(text), "ascend910b3"), Outcome)


def test_an_output_twice_and_an_input_as_output() -> None:
    x = "tensor<9x33xf16>"
    text = (
        f'graph.kernel @k "k"(%x: {x}) -> {x}, {x}, {x} {{\n'
        f"  %0 = graph.exp %x : {x} -> {x}\n  graph.yield %0, %0, %x : {x}, {x}, {x}\n}}\n"
    )
    assert isinstance(check_kernel(kernel(text), "tiny"), Outcome)


def test_a_table_inside_the_region_becomes_an_argument() -> None:
    x = "tensor<4x3xf32>"
    text = (
        f'graph.kernel @k "k"(%x: {x}) -> {x} {{\n'
        "  %t = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n"
        f"  %0 = graph.mul %x, %t : ({x}, tensor<3xf32>) -> {x}\n  graph.yield %0 : {x}\n}}\n"
    )
    assert isinstance(check_kernel(kernel(text), "ascend910b3"), Outcome)


@pytest.mark.parametrize("tiles", [(1, 96), (5, 96), (24, 32), (7, 17), (1, 1)])
def test_hand_written_tiles(tiles: tuple[int, int]) -> None:
    given = VectorSchedule((24, 96), tiles, 1)
    answer = check_kernel(kernel(layer_norm((24, 96))), "ascend910b3", given=given)
    assert isinstance(answer, Outcome)


def test_empty_tensors_are_refused() -> None:
    answer = check_kernel(kernel(unary("relu", (0, 5))), "ascend910b3")
    assert isinstance(answer, Refusal) and answer.reason == "empty"
