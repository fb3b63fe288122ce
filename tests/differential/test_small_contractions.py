"""Contractions with few rows on the vector cores, against the oracle and Huawei's compiler."""

from __future__ import annotations

import numpy as np
import pytest

from accepted import CHIP, check_accepted
from fusec.hw import load_target
from fusec.schedule.cost import estimate
from fusec.schedule.expand import expand
from fusec.schedule.region import Region
from fusec.schedule.types import Refusal
from fusec.schedule.vector import VectorSchedule, schedule_vector
from kernel_check import kernel
from placed_vector import check_placed
from small_contractions import perceptron, product, squeeze_excite
from vector_check import Outcome, check_kernel
from vector_regions import Shape

TARGETS = ("ascend910b3", "tiny")


def right(text: str, target: str, seed: int = 0) -> VectorSchedule:
    """The vector schedule of a kernel whose numbers are right."""
    op = kernel(text)
    given = schedule_vector(Region.of_block(op.body.block), load_target(target))
    assert isinstance(given, VectorSchedule), given
    answer = check_kernel(op, target, seed=seed, given=given)
    assert isinstance(answer, Outcome)
    return given


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("filters", ["OIHW", "HWIO"])
@pytest.mark.parametrize(
    ("channels", "hidden", "side", "batch", "dtype"),
    [(33, 7, 5, 3, "f32"), (40, 4, 9, 1, "f16"), (16, 1, 3, 2, "bf16"), (1, 8, 4, 1, "f32")],
)
def test_squeeze_excite(
    channels: int,
    hidden: int,
    side: int,
    batch: int,
    dtype: str,
    filters: str,
    pooled: bool,
    target: str,
) -> None:
    text = squeeze_excite(
        channels, hidden, side, batch=batch, dtype=dtype, filters=filters, pooled=pooled
    )
    right(text, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("left", "other", "result"),
    [
        ((1, 40), (40, 70), (1, 70)),
        ((5, 3), (3, 1001), (5, 1001)),
        ((8, 1), (1, 9), (8, 9)),
        ((3, 1, 24), (24, 10), (3, 1, 10)),
        ((2, 3, 1, 24), (2, 3, 24, 65), (2, 3, 1, 65)),
        ((1, 3, 1, 24), (2, 1, 24, 65), (2, 3, 1, 65)),
        ((2, 2, 33), (1, 33, 7), (2, 2, 7)),
        ((24,), (24, 10), (10,)),
        ((4, 24), (24,), (4,)),
        ((3, 24), (3, 24, 10), (3, 3, 10)),
    ],
)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_products(left: Shape, other: Shape, result: Shape, dtype: str, target: str) -> None:
    right(product(left, other, result, dtype), target)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("sizes", "rows"),
    [((20, 8, 20), 1), ((30, 65, 7), 4), ((9, 40, 33, 5), 2), ((17, 3), 7), ((64, 64, 2), 1)],
)
def test_chains(sizes: tuple[int, ...], rows: int, turned: bool) -> None:
    for target in TARGETS:
        right(perceptron(sizes, rows, turned=turned), target)


def test_weights_that_do_not_fit_are_swept() -> None:
    """The hidden units are cut: each tile's part is added to all channels, in every core."""
    schedule = right(squeeze_excite(1152, 48, 7), "ascend910b3")
    hidden = schedule.axes.index(48)
    assert schedule.tiles[hidden] < 48
    assert schedule.blocks > 1, "the multiplication with the map is shared among cores"


def test_filters_that_alternate_are_not_transposed() -> None:
    """A filter with the order that its sum wants costs no transposition."""
    chip, found = load_target("ascend910b3"), dict[str, float]()
    for filters in ("OIHW", "HWIO"):
        region = Region.of_block(kernel(squeeze_excite(960, 40, 7, filters=filters)).body.block)
        answer = schedule_vector(region, chip)
        assert isinstance(answer, VectorSchedule)
        found[filters] = estimate(region, answer, chip).us
    assert found["OIHW"] < found["HWIO"]


def test_a_chain_of_large_weights_is_refused() -> None:
    region = Region.of_block(kernel(perceptron((600, 600, 600), 1)).body.block)
    answer = schedule_vector(region, load_target("ascend910b3"))
    assert isinstance(answer, Refusal)
    assert answer.reason == "contraction-size"
    assert answer.numbers["elements"] == 360000
    assert "'graph.gemm'" in answer.message


def test_many_rows_are_left_to_the_cube() -> None:
    region = Region.of_block(kernel(product((9, 16), (16, 16), (9, 16))).body.block)
    answer = schedule_vector(region, load_target("ascend910b3"))
    assert isinstance(answer, Refusal)
    assert "9 rows" in answer.message


def test_pixels_and_hidden_units_share_a_dimension() -> None:
    """They never occur together, channels occur with both: these lie along rows."""
    program = expand(Region.of_block(kernel(squeeze_excite(33, 7, 5, pooled=True)).body.block))
    sizes = program.axes.sizes
    assert {sizes[axis] for axis in program.axes.inner} == {33}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "text",
    [
        squeeze_excite(33, 7, 5, batch=3),
        squeeze_excite(40, 9, 4, filters="HWIO"),
        squeeze_excite(16, 4, 6, batch=2, pooled=True),
        squeeze_excite(960, 8, 2),
        perceptron((30, 20, 9), 3),
        perceptron((64, 64, 2), 1, turned=True),
    ],
    ids=["alternating", "transposed", "pooled", "swept", "chain", "few-results"],
)
def test_placed_kernels_are_clean(text: str, target: str) -> None:
    check_placed(text, target)


def test_accepted_and_linked() -> None:
    texts = [
        squeeze_excite(1152, 48, 7),
        squeeze_excite(33, 7, 5, batch=3, filters="HWIO"),
        squeeze_excite(480, 20, 14, batch=2, dtype="f16", pooled=True),
        product((1, 768), (768, 1000), (1, 1000)),
    ]
    ops = [kernel(text.replace("@k", f"@k{i}")) for i, text in enumerate(texts)]
    for op in ops:
        given = schedule_vector(Region.of_block(op.body.block), load_target(CHIP))
        assert isinstance(given, VectorSchedule)
        op.attributes["npu.schedule"] = given.to_attr()
    check_accepted(ops)


def test_zero_times_infinity_is_nan() -> None:
    """A product on the vector cores does what a matmul does with special values."""
    op = kernel(product((1, 2), (2, 3), (1, 3)))
    given = schedule_vector(Region.of_block(op.body.block), load_target("tiny"))
    assert isinstance(given, VectorSchedule)
    left, other = np.array([[0.0, 1.0]], np.float32), np.ones((2, 3), np.float32)
    other[0, 1] = np.inf
    answer = check_kernel(op, "tiny", given=given, inputs=[left, other])
    assert isinstance(answer, Outcome)
    assert np.isnan(answer.outputs[0]).tolist() == [[False, True, False]]
