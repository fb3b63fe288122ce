"""Gathers of rows with what follows in one vector kernel, against the oracle."""

from __future__ import annotations

import numpy as np
import pytest

from accepted import CHIP, check_accepted
from embeddings import embedding, embedding_inputs
from fusec.hw import load_target
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
from fusec.schedule.types import Refusal
from fusec.schedule.vector import VectorSchedule
from fusec.simulator.errors import SimulationError
from kernel_check import kernel, scheduled
from placed_vector import check_placed
from vector_check import Outcome, check_kernel, simulate
from vector_regions import Shape, tensor

TARGETS = ("ascend910b3", "tiny")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("index", ["i64", "i32"])
@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize(
    ("ids", "rows", "width"),
    [((1, 128), 30, 64), ((3, 17), 30, 33), ((2, 3, 5), 9, 70), ((9,), 2, 800), ((1,), 4, 50)],
)
def test_embedding_sums_and_layer_norm(
    ids: Shape, rows: int, width: int, dtype: str, index: str, target: str
) -> None:
    text = embedding(ids, rows, width, dtype=dtype, index=index)
    inputs = embedding_inputs(ids, rows, width, dtype=dtype, index=index)
    answer = check_kernel(kernel(text), target, inputs=inputs)
    assert isinstance(answer, Outcome)
    assert isinstance(answer.schedule, VectorSchedule)


@pytest.mark.parametrize("target", TARGETS)
def test_rows_that_are_cut(target: str) -> None:
    """Parts of a row are loaded where the whole does not fit."""
    text = embedding((5,), 3, 9000, norm=False)
    inputs = embedding_inputs((5,), 3, 9000)
    assert isinstance(check_kernel(kernel(text), target, inputs=inputs), Outcome)


@pytest.mark.parametrize(
    ("shape", "ids", "axis", "result"),
    [
        ((4, 6, 40), (3,), 1, (4, 3, 40)),
        ((4, 6, 40), (2, 2), 0, (2, 2, 6, 40)),
        ((6, 5), (), 0, (5,)),
    ],
)
def test_any_outer_axis(shape: Shape, ids: Shape, axis: int, result: Shape) -> None:
    x, i, y = tensor(shape, "f32"), tensor(ids, "i64"), tensor(result, "f32")
    text = (
        f'graph.kernel @k "k"(%x: {x}, %i: {i}) -> {y} {{\n'
        f"  %0 = graph.gather %x, %i {{axis = {axis}}} : ({x}, {i}) -> {y}\n"
        f"  %1 = graph.gelu %0 : {y} -> {y}\n  graph.yield %1 : {y}\n}}\n"
    )
    rng = np.random.default_rng(1)
    size = shape[axis]
    indices = np.asarray(rng.integers(-size, size, ids), np.int64)
    inputs = [rng.standard_normal(shape).astype(np.float32), indices]
    for target in TARGETS:
        assert isinstance(check_kernel(kernel(text), target, inputs=inputs), Outcome)


def gather_of(body: str) -> str:
    x, i, y = tensor((40, 6), "f32"), tensor((3,), "i64"), tensor((40, 3), "f32")
    return (
        f'graph.kernel @k "k"(%x: {x}, %i: {i}) -> {y} {{\n  {body}\n  graph.yield %1 : {y}\n}}\n'
    )


REFUSED = {
    "one index for each row": (
        "%0 = graph.gather %x, %i {axis = 1} : (tensor<40x6xf32>, tensor<3xi64>) -> "
        "tensor<40x3xf32>\n  %1 = graph.relu %0 : tensor<40x3xf32> -> tensor<40x3xf32>"
    ),
    "computed in its kernel": (
        "%0 = graph.relu %x : tensor<40x6xf32> -> tensor<40x6xf32>\n"
        "  %1 = graph.gather %0, %i {axis = 1} : (tensor<40x6xf32>, tensor<3xi64>) -> "
        "tensor<40x3xf32>"
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refusals_name_the_operator(message: str) -> None:
    region = Region.of_block(kernel(gather_of(REFUSED[message])).body.block)
    answer = schedule(region, load_target("ascend910b3"))
    assert isinstance(answer, Refusal)
    assert answer.reason == "gather"
    assert message in answer.message
    assert "'graph.gather'" in answer.message


@pytest.mark.parametrize("index", [9, -9])
def test_an_index_that_leaves_the_table(index: int) -> None:
    """The message is about the table, not about numpy."""
    inputs = embedding_inputs((3,), 6, 8)
    inputs[1][1] = index
    op = kernel(embedding((3,), 6, 8))
    assert isinstance(scheduled(op, "ascend910b3"), VectorSchedule)
    with pytest.raises(SimulationError) as caught:
        simulate(op, "ascend910b3", inputs)
    assert "reaches outside of its buffer" in str(caught.value)
    assert "index" in caught.value.advice
    assert "strides" not in str(caught.value)


@pytest.mark.parametrize("target", TARGETS)
def test_placed_kernels_are_clean(target: str) -> None:
    check_placed(embedding((2, 9), 7, 40), target)


def test_accepted_and_linked() -> None:
    texts = [
        embedding((1, 128), 300, 768),
        embedding((3, 17), 30, 33, dtype="f16", index="i32"),
        embedding((9,), 4, 5000, norm=False),
    ]
    ops = [kernel(text.replace("@k", f"@k{i}")) for i, text in enumerate(texts)]
    assert all(isinstance(scheduled(op, CHIP), VectorSchedule) for op in ops)
    check_accepted(ops)
