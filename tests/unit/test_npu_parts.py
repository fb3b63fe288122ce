"""Parts of one buffer: whether they share an element, against the sets themselves."""

import random
from itertools import product

import pytest

from fusec.npu.parts import Part, apart


def elements(part: Part) -> set[int]:
    ranges = [range(size) for _, size in part.steps]
    strides = [stride for stride, _ in part.steps]
    return {
        part.start + sum(i * s for i, s in zip(at, strides, strict=True)) for at in product(*ranges)
    }


def box(rng: random.Random, shape: tuple[int, ...]) -> Part:
    """A random box of a row-major buffer."""
    start, step, steps = 0, 1, list[tuple[int, int]]()
    for size in reversed(shape):
        low = rng.randrange(size)
        count = rng.randint(1, size - low)
        start += low * step
        if count > 1:
            steps.append((step, count))
        step *= size
    return Part(start, tuple(reversed(steps)))


@pytest.mark.parametrize("seed", range(60))
def test_boxes_of_one_buffer(seed: int) -> None:
    """Of boxes the answer is exact."""
    rng = random.Random(seed)
    shape = tuple(rng.randint(1, 5) for _ in range(rng.randint(1, 4)))
    for _ in range(20):
        a, b = box(rng, shape), box(rng, shape)
        assert apart(a, b) == elements(a).isdisjoint(elements(b)), (shape, a, b)


@pytest.mark.parametrize("seed", range(40))
def test_any_strides(seed: int) -> None:
    """Apart is never said of parts that share an element."""
    rng = random.Random(seed)

    def part() -> Part:
        steps = {rng.randint(1, 30): rng.randint(2, 4) for _ in range(rng.randint(0, 3))}
        return Part(rng.randint(0, 40), tuple(sorted(steps.items(), reverse=True)))

    for _ in range(40):
        a, b = part(), part()
        assert not apart(a, b) or elements(a).isdisjoint(elements(b)), (a, b)


@pytest.mark.parametrize("seed", range(40))
def test_axes_on_one_axis(seed: int) -> None:
    """A box says the same with its neighbouring axes joined where they run into each other."""
    rng = random.Random(seed)
    outer, inner, row = rng.randint(2, 4), rng.randint(2, 4), rng.randint(2, 6)
    cut = rng.randint(1, row - 1)
    apart_axes = ((inner * row, outer), (row, inner))
    left = Part(0, tuple((s, n) for s, n in (*apart_axes, (1, cut)) if n > 1))
    joined = Part(cut, tuple((s, n) for s, n in ((row, outer * inner), (1, row - cut)) if n > 1))
    assert apart(left, joined)
    assert apart(joined, left)
    assert not apart(left, joined._replace(start=cut - 1))
