"""Movement kernels against the oracle: every element type, any permutation, pieces, gathers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fusec.schedule.movement import MovementSchedule
from fusec.schedule.types import Refusal
from kernel_check import kernel
from vector_check import Outcome, check_kernel, inputs_of
from vector_regions import Shape, tensor

TARGETS = ("ascend910b3", "tiny")
TYPES = ("f16", "bf16", "f32", "i64", "i32", "i8", "i1")


def moved(name: str, inputs: list[Shape], result: Shape, attrs: str, dtype: str = "f32") -> str:
    """A kernel of one operator on inputs of one type."""
    arguments = ", ".join(f"%a{i}: {tensor(s, dtype)}" for i, s in enumerate(inputs))
    names = ", ".join(f"%a{i}" for i in range(len(inputs)))
    types = ", ".join(tensor(s, dtype) for s in inputs)
    types = f"({types})" if len(inputs) > 1 else types
    y = tensor(result, dtype)
    return (
        f'graph.kernel @k "k"({arguments}) -> {y} {{\n'
        f"  %0 = graph.{name} {names} {attrs} : {types} -> {y}\n  graph.yield %0 : {y}\n}}\n"
    )


def right(text: str, *, family: str | None = "movement") -> None:
    """Bit for bit on both targets."""
    for target in TARGETS:
        answer = check_kernel(kernel(text), target)
        assert isinstance(answer, Outcome), answer
        assert family is None or answer.schedule.family == family


@pytest.mark.parametrize("dtype", TYPES)
def test_transposes_of_every_type(dtype: str) -> None:
    right(moved("transpose", [(100, 72)], (72, 100), "{perm = [1, 0]}", dtype))


@pytest.mark.parametrize("seed", range(25))
def test_random_permutations(seed: int) -> None:
    rng = random.Random(seed)
    rank = rng.randint(2, 5)
    shape = tuple(rng.choice([1, 2, 3, 7, 16, 33]) for _ in range(rank))
    perm = list(range(rank))
    rng.shuffle(perm)
    result = tuple(shape[p] for p in perm)
    right(moved("transpose", [shape], result, f"{{perm = {perm}}}", rng.choice(TYPES)))


@pytest.mark.parametrize("seed", range(25))
def test_random_slices(seed: int) -> None:
    rng = random.Random(seed)
    shape = tuple(rng.choice([3, 8, 40]) for _ in range(rng.randint(1, 3)))
    starts = [rng.randrange(n) for n in shape]
    ends = [rng.randint(s + 1, n) for s, n in zip(starts, shape, strict=True)]
    steps = [rng.choice([1, 1, 2, 3, 7]) for _ in shape]
    result = tuple(len(range(*t)) for t in zip(starts, ends, steps, strict=True))
    axes = list(range(len(shape)))
    attrs = f"{{starts = {starts}, ends = {ends}, axes = {axes}, steps = {steps}}}"
    right(moved("slice", [shape], result, attrs, rng.choice(TYPES)))


@pytest.mark.parametrize("seed", range(20))
def test_random_pads(seed: int) -> None:
    rng = random.Random(seed)
    shape = tuple(rng.choice([4, 5, 18]) for _ in range(rng.randint(1, 4)))
    begins = [rng.choice([0, 0, 1, 3, -1]) for _ in shape]
    ends = [rng.choice([0, 0, 2, -2]) for _ in shape]
    result = tuple(n + b + e for n, b, e in zip(shape, begins, ends, strict=True))
    dtype = rng.choice(["f32", "f16", "bf16", "i32", "i64"])
    right(moved("pad", [shape], result, f"{{pads = {begins + ends}, value = 2.0}}", dtype))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", TYPES)
def test_concat(axis: int, dtype: str) -> None:
    sizes = (5, 1, 7)
    shapes = [tuple(n if a == axis else (4, 6, 9)[a] for a in range(3)) for n in sizes]
    result = tuple(13 if a == axis else (4, 6, 9)[a] for a in range(3))
    right(moved("concat", shapes, result, f"{{axis = {axis}}}", dtype))


def test_split() -> None:
    x, y, z = "tensor<50x96xf16>", "tensor<50x64xf16>", "tensor<50x32xf16>"
    right(
        f'graph.kernel @k "k"(%x: {x}) -> {y}, {z} {{\n'
        f"  %0, %1 = graph.split %x {{axis = 1, sizes = [64, 32]}} : {x} -> {y}, {z}\n"
        f"  graph.yield %0, %1 : {y}, {z}\n}}\n"
    )


def test_expand() -> None:
    right(moved("expand", [(1, 5, 1, 7)], (3, 5, 4, 7), "", "i64"))
    right(moved("expand", [(5, 1)], (5, 70), ""), family="vector")


def test_a_padded_channels_last_copy_of_an_image() -> None:
    x, y, z = "tensor<1x3x24x30xf32>", "tensor<1x24x30x3xf32>", "tensor<1x30x36x3xf32>"
    right(
        f'graph.kernel @k "k"(%x: {x}) -> {z} {{\n'
        f"  %0 = graph.transpose %x {{perm = [0, 2, 3, 1]}} : {x} -> {y}\n"
        f"  %1 = graph.pad %0 {{pads = [0, 3, 3, 0, 0, 3, 3, 0]}} : {y} -> {z}\n"
        f"  graph.yield %1 : {z}\n}}\n"
    )


def test_heads_put_together_and_taken_apart() -> None:
    flat, split, heads = "tensor<40x96xf16>", "tensor<40x6x16xf16>", "tensor<6x16x40xf16>"
    right(
        f'graph.kernel @k "k"(%x: {flat}) -> {heads} {{\n'
        f"  %0 = graph.reshape %x : {flat} -> {split}\n"
        f"  %1 = graph.transpose %0 {{perm = [1, 2, 0]}} : {split} -> {heads}\n"
        f"  graph.yield %1 : {heads}\n}}\n"
    )
    right(
        f'graph.kernel @k "k"(%x: {heads}) -> {flat} {{\n'
        f"  %0 = graph.transpose %x {{perm = [2, 0, 1]}} : {heads} -> {split}\n"
        f"  %1 = graph.reshape %0 : {split} -> {flat}\n  graph.yield %1 : {flat}\n}}\n"
    )


GATHERS = [
    (0, (30, 48), (7,)),
    (0, (30, 48), (2, 5)),
    (1, (4, 30, 9), (6,)),
    (-1, (4, 5, 30), (3, 2)),
    (0, (30,), ()),
    (1, (3, 30), ()),
    (0, (11, 5, 1000), (9,)),
]


@pytest.mark.parametrize("case", GATHERS)
@pytest.mark.parametrize("indices", ["i32", "i64"])
def test_gathers(case: tuple[int, Shape, Shape], indices: str) -> None:
    """Negative indices count from the end."""
    axis, shape, index = case
    at = axis % len(shape)
    x, i = tensor(shape, "f16"), tensor(index, indices)
    y = tensor((*shape[:at], *index, *shape[at + 1 :]), "f16")
    text = (
        f'graph.kernel @k "k"(%x: {x}, %i: {i}) -> {y} {{\n'
        f"  %0 = graph.gather %x, %i {{axis = {axis}}} : ({x}, {i}) -> {y}\n"
        f"  graph.yield %0 : {y}\n}}\n"
    )
    op = kernel(text)
    picked = np.random.default_rng(0).integers(-shape[at], shape[at], index)
    inputs = [inputs_of(op, 0)[0], np.asarray(picked, np.int32 if indices == "i32" else np.int64)]
    for target in TARGETS:
        assert isinstance(check_kernel(kernel(text), target, inputs=inputs), Outcome)


@pytest.mark.parametrize("tiles", [(72, 100), (7, 9), (1, 1), (72, 1), (1, 100)])
def test_hand_written_tiles(tiles: tuple[int, int]) -> None:
    op = kernel(moved("transpose", [(100, 72)], (72, 100), "{perm = [1, 0]}"))
    assert isinstance(check_kernel(op, "ascend910b3", given=MovementSchedule(tiles, 1)), Outcome)


def test_gather_elements_is_refused() -> None:
    x, i = "tensor<5x6xf32>", "tensor<2x6xi64>"
    text = (
        f'graph.kernel @k "k"(%x: {x}, %i: {i}) -> tensor<2x6xf32> {{\n'
        f"  %0 = graph.gather_elements %x, %i : ({x}, {i}) -> tensor<2x6xf32>\n"
        "  graph.yield %0 : tensor<2x6xf32>\n}\n"
    )
    assert isinstance(check_kernel(kernel(text), "ascend910b3"), Refusal)


@pytest.mark.parametrize(
    ("shape", "axes", "steps"),
    [
        ((20, 1, 48), [0], [-1]),
        ((6, 40), [1], [-1]),
        ((7, 33), [0, 1], [-1, -1]),
        ((5, 6, 9), [1], [-2]),
        ((17,), [0], [-3]),
        ((4, 12, 24), [0, 2], [-1, 2]),
    ],
)
@pytest.mark.parametrize("dtype", ["f32", "f16", "i64"])
def test_slices_backwards(shape: Shape, axes: list[int], steps: list[int], dtype: str) -> None:
    starts = [shape[a] - 1 if s < 0 else 0 for a, s in zip(axes, steps, strict=True)]
    ends = [-shape[a] - 1 if s < 0 else shape[a] for a, s in zip(axes, steps, strict=True)]
    result = tuple(
        -(-n // abs(steps[axes.index(a)])) if a in axes else n for a, n in enumerate(shape)
    )
    attrs = f"{{starts = {starts}, ends = {ends}, axes = {axes}, steps = {steps}}}"
    right(moved("slice", [shape], result, attrs, dtype))
