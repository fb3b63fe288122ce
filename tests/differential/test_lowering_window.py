"""Pooling kernels against the oracle: one to three spatial axes, pads, dilations, ceil mode."""

from __future__ import annotations

import random

import pytest

from fusec.schedule.types import Refusal
from fusec.schedule.window import WindowSchedule
from fusec_dialects.graph.shape_rules import window_size
from kernel_check import kernel
from vector_check import Outcome, check_kernel
from vector_regions import Shape, tensor

TARGETS = ("ascend910b3", "tiny")


def pool(
    name: str,
    shape: Shape,
    window: list[int],
    strides: list[int],
    pads: list[int],
    *,
    dilations: list[int] | None = None,
    ceil: bool = False,
    include: bool = False,
    dtype: str = "f32",
) -> str:
    """A kernel of one pooling operator, channels last."""
    rank = len(window)
    steps = dilations or [1] * rank
    sizes = [
        window_size(shape[1 + i], window[i], strides[i], steps[i], pads[i], pads[rank + i], ceil)
        for i in range(rank)
    ]
    x, y = tensor(shape, dtype), tensor((shape[0], *map(int, sizes), shape[-1]), dtype)
    attrs = (
        f"kernel_shape = {window}, strides = {strides}, pads = {pads}, dilations = {steps}, "
        f'ceil_mode = {str(ceil).lower()}, layout = "NHWC"'
    )
    if name == "average_pool":
        attrs += f", count_include_pad = {str(include).lower()}"
    return (
        f'graph.kernel @k "k"(%x: {x}) -> {y} {{\n'
        f"  %0 = graph.{name} %x {{{attrs}}} : {x} -> {y}\n  graph.yield %0 : {y}\n}}\n"
    )


@pytest.mark.parametrize("seed", range(40))
def test_random_pools(seed: int) -> None:
    rng = random.Random(seed)
    rank = rng.choice([1, 2, 2, 2, 3])
    window = [rng.choice([1, 2, 3]) for _ in range(rank)]
    dilations = [rng.choice([1, 1, 2]) for _ in range(rank)]
    reach = [(k - 1) * d for k, d in zip(window, dilations, strict=True)]
    pads = [rng.randint(0, min(2, r)) for r in (*reach, *reach)]
    shape = (
        rng.choice([1, 2]),
        *(rng.randint(r + 1, 14) for r in reach),
        rng.choice([1, 5, 32, 100]),
    )
    name = rng.choice(["max_pool", "average_pool"])
    text = pool(
        name,
        shape,
        window,
        [rng.choice([1, 2, 3]) for _ in range(rank)],
        pads,
        dilations=dilations,
        ceil=rng.random() < 0.4,
        include=rng.random() < 0.4,
        dtype=rng.choice(["f32", "f16", "bf16"]),
    )
    for target in TARGETS:
        assert isinstance(check_kernel(kernel(text), target, seed=seed), Outcome)


def test_integers() -> None:
    text = pool("max_pool", (1, 8, 9, 7), [3, 3], [1, 1], [1, 1, 1, 1], dtype="i32")
    assert isinstance(check_kernel(kernel(text), "ascend910b3"), Outcome)


@pytest.mark.parametrize("tile", [(28, 64), (5, 64), (1, 64), (28, 16), (9, 30)])
def test_hand_written_tiles(tile: tuple[int, int]) -> None:
    text = pool("average_pool", (1, 28, 28, 64), [3, 3], [1, 1], [1, 1, 1, 1], dtype="f16")
    given = WindowSchedule(*tile, 1)
    assert isinstance(check_kernel(kernel(text), "ascend910b3", given=given), Outcome)


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_global_average_pool_is_a_mean(layout: str) -> None:
    x = "tensor<2x7x9x64xf16>" if layout == "NHWC" else "tensor<2x64x7x9xf16>"
    y = "tensor<2x1x1x64xf16>" if layout == "NHWC" else "tensor<2x64x1x1xf16>"
    text = (
        f'graph.kernel @k "k"(%x: {x}) -> {y} {{\n'
        f'  %0 = graph.global_average_pool %x {{layout = "{layout}"}} : {x} -> {y}\n'
        f"  graph.yield %0 : {y}\n}}\n"
    )
    for target in TARGETS:
        answer = check_kernel(kernel(text), target)
        assert isinstance(answer, Outcome) and answer.schedule.family == "vector"


def test_channels_first_are_refused() -> None:
    text = pool("max_pool", (1, 8, 9, 7), [2, 2], [2, 2], [0, 0, 0, 0])
    text = text.replace('"NHWC"', '"NCHW"').replace("tensor<1x4x4x7xf32>", "tensor<1x8x4x3xf32>")
    answer = check_kernel(kernel(text), "ascend910b3")
    assert isinstance(answer, Refusal) and answer.reason == "layout"
