"""Reductions, softmax and norms of any size, over any axes: they have a schedule and are right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdsl.dialects.func import FuncOp

from accepted import CHIP, check_accepted
from fusec.hw import load_target
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
from fusec.schedule.vector import VectorSchedule
from kernel_check import emitted_module, kernel, scheduled
from placed_vector import check_placed
from standardised import along, group_norm, reduction, standardised
from vector_check import Outcome, check_kernel
from vector_regions import Shape

TARGETS = ("ascend910b3", "tiny")
SIZES = (1, 7, 33, 1000, 65536, 3_000_000)


def forms(n: int) -> Iterator[tuple[Shape, tuple[int, ...]]]:
    """Shapes and axes to reduce: first, middle, last, pairs, axes that are no neighbours."""
    yield (n,), (0,)
    yield (n, 20), (0,)
    yield (20, n), (1,)
    yield (3, n, 9), (1,)
    yield (5, n, 3), (0, 1)
    yield (n, 3, 17), (0, 2)
    yield (3, n, 17), (1, 2)
    yield (3, n, 2, 5), (1, 3)
    yield (3, n, 2, 5), (0, 2)
    yield (2, 3, n, 5), (0, 1, 2, 3)


def texts(n: int, dtype: str) -> Iterator[str]:
    for shape, axes in forms(n):
        for kind in ("reduce_sum", "reduce_max"):
            yield reduction(kind, shape, axes, dtype)
        if dtype != "i32":
            yield standardised(shape, axes, dtype)
            if len(axes) == 1:
                yield along("softmax", shape, axes[0], dtype)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
@pytest.mark.parametrize("size", SIZES)
def test_any_size_has_a_schedule(size: int, dtype: str, target: str) -> None:
    chip = load_target(target)
    for text in texts(size, dtype):
        answer = schedule(Region.of_block(kernel(text).body.block), chip)
        assert isinstance(answer, VectorSchedule), (text, answer)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
@pytest.mark.parametrize("size", [1, 7, 33, 1000])
def test_numbers(size: int, dtype: str, target: str) -> None:
    for text in texts(size, dtype):
        assert isinstance(check_kernel(kernel(text), target), Outcome)


@pytest.mark.parametrize(("shape", "axes"), [((3, 65536), (1,)), ((65536, 3), (0,))])
def test_rows_that_do_not_fit(shape: Shape, axes: tuple[int, ...]) -> None:
    assert isinstance(check_kernel(kernel(standardised(shape, axes)), TARGETS[0]), Outcome)
    assert isinstance(check_kernel(kernel(along("softmax", shape, axes[0])), TARGETS[0]), Outcome)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize(
    ("batch", "channels", "groups", "pixels"),
    [(2, 32, 4, 49), (3, 6, 6, 35), (3, 6, 1, 35), (1, 64, 8, 900), (2, 5, 5, 1), (1, 33, 3, 2)],
)
def test_group_norm(
    batch: int, channels: int, groups: int, pixels: int, dtype: str, last: bool
) -> None:
    """Instance norm is the one with a group for each channel."""
    for target in TARGETS:
        text = group_norm(batch, channels, groups, pixels, last=last, dtype=dtype)
        answer = check_kernel(kernel(text), target)
        assert isinstance(answer, Outcome)
        assert isinstance(answer.schedule, VectorSchedule)


def test_groups_that_do_not_fit_are_read_three_times() -> None:
    """Mean, variance and result each sweep over the group; every other one is a core of its own."""
    op = kernel(group_norm(1, 320, 32, 4096, last=False))
    answer = scheduled(op, "ascend910b3")
    assert isinstance(answer, VectorSchedule)
    assert answer.blocks == 32
    module = emitted_module(op, "ascend910b3")
    func = next(f for f in module.ops if isinstance(f, FuncOp))
    names = [o.name for o in func.walk()]
    assert names.count("npu.store") == 1
    assert names.count("npu.load") == 5, "the group three times, scale and bias"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("last", [False, True])
def test_placed_group_norms_are_clean(last: bool, target: str) -> None:
    check_placed(group_norm(2, 24, 3, 35, last=last), target)
    check_placed(group_norm(1, 8, 2, 1500, last=last), target)


def test_accepted_and_linked() -> None:
    texts = [
        group_norm(2, 32, 4, 49, last=True),
        group_norm(1, 320, 32, 4096, last=False),
        group_norm(1, 12, 3, 7, last=True, dtype="f16"),
        standardised((3, 700, 2, 5), (1, 3)),
        standardised((65536, 3), (0,), "f16"),
    ]
    ops = [kernel(text.replace("@k", f"@k{i}")) for i, text in enumerate(texts)]
    assert all(isinstance(scheduled(op, CHIP), VectorSchedule) for op in ops)
    check_accepted(ops)
