"""The allocator: properties on random requests, and what its search finds."""

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusec.npu.allocator import Plan, Request, allocate, max_live

ALIGNMENT = 32
CAPACITY = 1 << 20


@st.composite
def requests(draw: st.DrawFn, most: int = 24) -> list[Request]:
    """Requests of 0 to 64 aligned units that live somewhere in 40 positions."""
    found: list[Request] = []
    for _ in range(draw(st.integers(0, most))):
        first = draw(st.integers(0, 40))
        last = draw(st.integers(first, 40))
        found.append(Request(draw(st.integers(0, 64)) * ALIGNMENT, first, last))
    return found


def overlaps(a: Request, b: Request) -> bool:
    return a.first <= b.last and b.first <= a.last


def assert_sound(found: list[Request], plan: Plan) -> None:
    assert len(plan.offsets) == len(found)
    for (a, start), (b, other) in combinations(zip(found, plan.offsets, strict=True), 2):
        apart = start + a.size <= other or other + b.size <= start
        assert apart or not overlaps(a, b) or 0 in (a.size, b.size)
    assert all(offset >= 0 for offset in plan.offsets)
    ends = (offset + r.size for r, offset in zip(found, plan.offsets, strict=True))
    assert plan.peak == max(ends, default=0)


@given(requests())
def test_nothing_alive_at_once_overlaps(found: list[Request]) -> None:
    plan = allocate(found, ALIGNMENT, CAPACITY)
    assert_sound(found, plan)
    assert all(offset % ALIGNMENT == 0 for offset in plan.offsets)


@given(requests())
def test_peak_between_the_bounds(found: list[Request]) -> None:
    plan = allocate(found, ALIGNMENT, CAPACITY)
    at_once = max(
        (sum(r.size for r in found if r.first <= p <= r.last) for p in range(41)), default=0
    )
    assert plan.lower_bound == at_once == max_live(found)[0]
    assert at_once <= plan.peak <= sum(r.size for r in found)


@given(requests())
def test_max_live_names_a_position_of_the_peak(found: list[Request]) -> None:
    most, position = max_live(found)
    assert sum(r.size for r in found if r.first <= position <= r.last) == most


@given(requests())
def test_the_same_requests_give_the_same_plan(found: list[Request]) -> None:
    assert allocate(found, ALIGNMENT, 0) == allocate(list(found), ALIGNMENT, 0)


@given(requests(most=8), st.lists(st.integers(0, 64), max_size=3))
def test_given_offsets_stay(found: list[Request], given_offsets: list[int]) -> None:
    """Requests with an address keep it, even where they overlap; those without avoid them."""
    pinned = [Request(96, 5, 30, at * ALIGNMENT) for at in given_offsets]
    plan = allocate([*pinned, *found], ALIGNMENT, CAPACITY)
    assert list(plan.offsets[: len(pinned)]) == [p.at for p in pinned]
    for free, offset in zip(found, plan.offsets[len(pinned) :], strict=True):
        for fixed in pinned:
            start = fixed.at or 0
            apart = offset + free.size <= start or start + fixed.size <= offset
            assert apart or not overlaps(free, fixed) or free.size == 0


@given(requests(most=5))
def test_no_order_of_best_fit_does_better(found: list[Request]) -> None:
    """For a handful of requests the search is as good as trying every order, first fit."""
    plan = allocate(found, ALIGNMENT, 0)
    best = min((first_fit(list(order)) for order in permutations(found)), default=0)
    assert plan.peak <= best


def first_fit(order: list[Request]) -> int:
    placed: list[tuple[int, Request]] = []
    for r in order:
        offset = 0
        for start, other in sorted(placed):
            if overlaps(r, other) and offset < start + other.size and start < offset + r.size:
                offset = start + other.size
        placed.append((offset, r))
    return max((start + r.size for start, r in placed), default=0)


def test_search_reaches_the_bound_where_decreasing_size_does_not() -> None:
    """By decreasing size the third lands on the second, the first on top: 9 units, not 8."""
    units = [(1, 4, 6), (4, 0, 3), (4, 3, 4), (4, 0, 0), (4, 6, 6)]
    found = [Request(size * ALIGNMENT, first, last) for size, first, last in units]
    plan = allocate(found, ALIGNMENT, CAPACITY)
    assert_sound(found, plan)
    assert plan.peak == plan.lower_bound == 8 * ALIGNMENT


def test_best_fit_takes_the_smallest_gap_that_holds() -> None:
    """Gaps of 96, 64 and 128 bytes between given buffers; 64 bytes fit the second exactly."""
    walls = [Request(32, 0, 9, at) for at in (96, 192, 352)]
    plan = allocate([*walls, Request(64, 3, 4)], ALIGNMENT, CAPACITY)
    assert plan.offsets[-1] == 128


def test_rotating_buffer_keeps_the_others_out() -> None:
    rotating = Request(2 * 1024, 0, 9)
    found = [rotating, Request(1024, 1, 2), Request(1024, 3, 4), Request(1024, 4, 5)]
    plan = allocate(found, ALIGNMENT, CAPACITY)
    assert plan.peak == 2048 + 2048


@pytest.mark.parametrize("count", [0, 1, 2000])
def test_size_of_the_problem(count: int) -> None:
    """A long chain of short lives, like the buffers between the kernels of a deep network."""
    found = [Request(512 * (1 + i % 3), i, i + 2) for i in range(count)]
    plan = allocate(found, 512, 0)
    assert plan.peak == plan.lower_bound
