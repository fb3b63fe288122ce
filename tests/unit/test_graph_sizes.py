"""Sizes and shape rules: their algebra, agreement with the semantics, and names that hold."""

import random
from collections.abc import Callable
from itertools import product as combinations

import pytest
from xdsl.utils.exceptions import VerifyException

from fusec.semantics.movement import slice_range
from fusec_dialects.graph.base import AttrValue
from fusec_dialects.graph.shapes import infer_shapes
from fusec_dialects.graph.sizes import (
    Shape,
    broadcast,
    broadcasts_to,
    may_hold_as_many,
    normal_axes,
    precise,
    product,
    quotient,
    slice_bounds,
)


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([(2, 3), (3,)], (2, 3)),
        ([(2, 1), (1, 3)], (2, 3)),
        ([(), (4,)], (4,)),
        ([(0, 3), (1, 3)], (0, 3)),
        ([("N", 3), (1, 3)], ("N", 3)),
        ([("N",), ("N",)], ("N",)),
        ([("N",), ("M",)], ("?",)),
        ([("N",), ("?",)], ("?",)),
        ([("?",), (1,)], ("?",)),
        ([("N",), (5,)], (5,)),
        ([("?",), (0,)], (0,)),
        ([("N",), (5,), (1,)], (5,)),
    ],
)
def test_broadcast(shapes: list[Shape], expected: Shape) -> None:
    assert broadcast(*shapes) == broadcast(*reversed(shapes)) == expected


def test_broadcast_refuses_two_numbers() -> None:
    for shapes in ([(2,), (3,)], [(0,), (5,)], [(2, "N"), (3, "N")]):
        with pytest.raises(VerifyException, match="do not broadcast"):
            broadcast(*shapes)


def test_broadcasts_to_goes_one_way() -> None:
    assert broadcasts_to((1, 3), (2, 3)) and broadcasts_to((), (2,)) and broadcasts_to((2,), ("N",))
    assert not broadcasts_to((2, 3), (3,))
    assert not broadcasts_to((5,), (1,)) and not broadcasts_to((2,), (3,))


@pytest.mark.parametrize(
    ("dims", "expected"),
    [
        ((), 1),
        ((2, 3), 6),
        ((0, "N"), 0),
        (("N", 1), "N"),
        (("N", 2), "?"),
        (("N", "M"), "?"),
        (("?",), "?"),
    ],
)
def test_product(dims: Shape, expected: int | str) -> None:
    assert product(dims) == expected


@pytest.mark.parametrize(
    ("total", "known", "expected"),
    [
        ((2, 3, 4), (6,), 4),
        ((2, 3, 4), (5,), None),
        ((2, 3), (0,), None),
        ((0, 3), (3,), 0),
        (("N", 128, 12, 64), ("N", 768), 128),
        (("N", 12), (12,), "N"),
        (("N", 12), (4,), "?"),
        (("N", "M"), ("N",), "M"),
        (("N", "M"), ("M",), "N"),
        (("N", 5), (2,), "?"),
        (("N",), ("M",), "?"),
        (("?", 4), ("?",), "?"),
        ((4,), ("N",), "?"),
        ((), (), 1),
    ],
)
def test_quotient(total: Shape, known: Shape, expected: int | str | None) -> None:
    assert quotient(total, known) == expected


def test_numbers_of_elements_that_may_be_equal() -> None:
    assert may_hold_as_many((2, 6), (3, 4)) and may_hold_as_many(("N", 12), (12, "N"))
    assert may_hold_as_many(("N", 2), ("M", 3)) and may_hold_as_many(("?",), (7,))
    assert not may_hold_as_many((2, 6), (3, 5)) and not may_hold_as_many(("N", 2), ("N", 3))


def test_precise_takes_a_number_then_a_name() -> None:
    assert precise("?", "N") == precise("N", "?") == "N"
    assert precise("N", 4) == precise(4, "N") == precise("?", 4) == 4
    assert precise("N", "M") == "N"


def test_axes_are_counted_from_the_front_and_named_once() -> None:
    assert normal_axes([-1, 0], 3) == [2, 0]
    with pytest.raises(VerifyException, match="name an axis twice"):
        normal_axes([2, -1], 3)
    with pytest.raises(VerifyException, match="axis 3 is not one of a tensor of rank 3; use -3 to"):
        normal_axes([3], 3)


def test_slices_are_those_of_the_semantics() -> None:
    for size in range(6):
        ends = range(-size - 2, size + 3)
        for start, end, step in combinations(ends, ends, (-7, -2, -1, 1, 2, 7)):
            assert slice_bounds(size, start, end, step) == slice_range(size, start, end, step)
    with pytest.raises(VerifyException, match="no step of 0"):
        slice_bounds(4, 0, 4, 0)


# What a rule says of named sizes has to be right for every size that the names may have.

Attrs = dict[str, AttrValue]
Case = tuple[list[tuple[int, ...]], Attrs]


def _sizes(rng: random.Random, rank: int, low: int = 1) -> tuple[int, ...]:
    return tuple(rng.randint(low, 7) for _ in range(rank))


def _permuted(rng: random.Random, rank: int) -> tuple[int, ...]:
    return tuple(rng.sample(range(rank), rank))


def _window(rng: random.Random) -> Attrs:
    return {
        "strides": (rng.randint(1, 3), 1),
        "pads": tuple(rng.randint(0, 2) for _ in range(4)),
        "dilations": (1, rng.randint(1, 2)),
    }


def _slice(rng: random.Random) -> Case:
    x = _sizes(rng, 3)
    axes = _permuted(rng, 3)[: rng.randint(0, 3)]
    ends = tuple(rng.choice([2**31 - 1, 3, -1]) for _ in axes)
    starts = tuple(rng.choice([0, 0, 1, -2]) for _ in axes)
    steps = tuple(rng.choice([1, 1, 2, -1]) for _ in axes)
    return [x], {"starts": starts, "ends": ends, "axes": axes, "steps": steps}


def _broadcasting(rng: random.Random) -> Case:
    x = _sizes(rng, 3)
    other = tuple(d if rng.random() < 0.7 else 1 for d in x)[rng.randint(0, 2) :]
    return [x, other], {}


def _matmul(rng: random.Random) -> Case:
    b, m, k, n = _sizes(rng, 4)
    return [(b, m, k), rng.choice([(k, n), (b, k, n), (1, k, n)])], {}


def _conv(rng: random.Random) -> Case:
    n, c, o = _sizes(rng, 3)
    return [(n, c, 7, 8), (o, c, rng.randint(1, 3), rng.randint(1, 3))], {
        **_window(rng),
        "group": 1,
        "x_layout": "NCHW",
        "w_layout": "OIHW",
        "y_layout": rng.choice(["NCHW", "NHWC"]),
    }


def _pool(rng: random.Random) -> Case:
    kernel = (rng.randint(1, 3), rng.randint(1, 3))
    attrs: Attrs = {"kernel_shape": kernel, "ceil_mode": rng.random() < 0.5, "layout": "NCHW"}
    return [(*_sizes(rng, 2), 7, 8)], {**_window(rng), **attrs}


def _concat(rng: random.Random) -> Case:
    x, axis = _sizes(rng, 3), rng.randint(-3, 2)
    others = [
        tuple(rng.randint(0, 4) if i == axis % 3 else d for i, d in enumerate(x))
        for _ in range(rng.randint(0, 2))
    ]
    return [x, *others], {"axis": axis}


def _reduce(rng: random.Random) -> Case:
    axes = _permuted(rng, 3)[: rng.randint(0, 3)]
    return [_sizes(rng, 3)], {"axes": axes, "keepdims": rng.random() < 0.5}


def _pad(rng: random.Random) -> Case:
    return [_sizes(rng, 3, 2)], {"pads": tuple(rng.choice([0, 0, 1, -1]) for _ in range(6))}


def _squeeze(rng: random.Random) -> Case:
    return [(1, rng.randint(1, 5), 1)], {"axes": rng.choice([(0,), (-1,), (2, 0)])}


GENERATORS: dict[str, Callable[[random.Random], Case]] = {
    "add": _broadcasting,
    "slice": _slice,
    "matmul": _matmul,
    "conv": _conv,
    "max_pool": _pool,
    "concat": _concat,
    "reduce_sum": _reduce,
    "pad": _pad,
    "squeeze": _squeeze,
    "transpose": lambda rng: ([_sizes(rng, 4)], {"perm": _permuted(rng, 4)}),
    "unsqueeze": lambda rng: ([_sizes(rng, 2)], {"axes": rng.choice([(0,), (-1, 1), (2, 0)])}),
    "flatten": lambda rng: ([_sizes(rng, 3)], {"axis": rng.randint(-3, 3)}),
    "gather": lambda rng: ([_sizes(rng, 3), _sizes(rng, 2)], {"axis": rng.randint(-3, 2)}),
    "split": lambda rng: ([(rng.randint(1, 5), 6)], {"axis": 1, "sizes": (2, 4)}),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_named_sizes_hold_for_every_size(name: str) -> None:
    rng = random.Random(name)
    precisely = 0
    for _ in range(200):
        shapes, attrs = GENERATORS[name](rng)
        # One name for each number, so that equal names are equal sizes; some stay numbers.
        names = {n: f"d{n}" for n in range(10) if rng.random() < 0.5}
        named = [tuple(names.get(d, d) if rng.random() < 0.8 else d for d in s) for s in shapes]
        try:
            found = infer_shapes(name, shapes, attrs)
        except VerifyException:
            continue
        claimed = infer_shapes(name, named, attrs)
        assert found is not None and claimed is not None
        for known, claim in zip(found, claimed, strict=True):
            assert len(known) == len(claim)
            for size, dim in zip(known, claim, strict=True):
                assert dim in ("?", size, f"d{size}"), (shapes, named, attrs)
                precisely += dim != "?"
    assert precisely > 150
