"""Axes that never occur together share a dimension of the tiles."""

from __future__ import annotations

from fusec.schedule.slots import Spaces, frames, inner_axes, slots_of


def spaces(*sets: set[int]) -> Spaces:
    return frozenset(map(frozenset, sets))


SQUEEZE = spaces({0, 2}, {1, 2}, {2}, {1})
"""Pixels 0 and hidden units 1, each with channels 2."""

CHAIN = spaces({0, 1, 2}, {0, 2, 3}, {0, 1}, {0, 3})
"""A batch 0 of rows: 1 to 2 to 3."""


def test_plain_axes_are_a_dimension_each() -> None:
    whole = spaces({0, 1, 2}, {2})
    assert inner_axes(3, whole) == {2}
    assert list(frames(3, whole)) == [(0, 2), (1, 2)]
    assert slots_of((0, 1, 2), whole) == ((0,), (1,), (2,))


def test_pixels_and_hidden_units_are_both_rows() -> None:
    assert inner_axes(3, SQUEEZE) == {2}
    assert list(frames(3, SQUEEZE)) == [(0, 1, 2)]
    assert slots_of((0, 1, 2), SQUEEZE) == ((0, 1), (2,))


def test_the_sizes_of_a_chain_take_turns() -> None:
    """What occurs with both sides is no dimension of these tiles."""
    assert inner_axes(4, CHAIN) == {1, 3}
    assert slots_of((1, 2, 3), CHAIN) == ((2,), (1, 3))
    assert (1, 2, 3) in frames(4, CHAIN)


def test_parts_that_meet_later_are_turned_round() -> None:
    """2 and 1 are on one side each, until 0, that occurs with both, tells that they differ."""
    meeting = spaces({2, 3}, {0, 1}, {0, 2})
    assert inner_axes(4, meeting) == {0, 3}
    rows, along = slots_of((0, 1, 2, 3), meeting)
    for space in meeting:
        assert not space <= set(rows)
        assert not space <= set(along)


def test_no_axes_and_one() -> None:
    assert inner_axes(0, spaces()) == frozenset()
    assert slots_of((), spaces(set())) == ()
    assert slots_of((0,), spaces({0})) == ((0,),)
    assert list(frames(1, spaces({0}))) == []
