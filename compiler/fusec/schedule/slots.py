"""Which axes share a dimension of the tiles of a region.

In: the sets of axes that occur together in a value or a product. Out: dimensions ("slots") of one
or more axes each: two axes that never occur together may lie along the same dimension, so that in
[pixels, channels] and [hidden, channels] the pixels and the hidden units are both rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

Spaces = frozenset[frozenset[int]]
Slots = tuple[tuple[int, ...], ...]


def inner_axes(count: int, spaces: Spaces) -> frozenset[int]:
    """The axes that lie along rows, the innermost of `count` among them."""
    if count == 0:
        return frozenset()
    sides = _sides(reversed(range(count)), _conflicts(spaces))
    return frozenset(axis for axis, side in sides.items() if side == 0)


@lru_cache(maxsize=4096)
def slots_of(frame: tuple[int, ...], spaces: Spaces) -> Slots:
    """The dimensions of tiles that extend along the axes of `frame`, outermost first."""
    conflicts = _conflicts(spaces)
    sides = _sides(reversed(frame), conflicts)
    if len(sides) < len(frame):
        return _layers(frame, conflicts)
    slots = (tuple(a for a in frame if sides[a] == side) for side in (1, 0))
    return tuple(slot for slot in slots if slot)


def _layers(frame: tuple[int, ...], conflicts: dict[int, set[int]]) -> Slots:
    """Each axis just outside of those further in that it occurs together with: whatever a value
    has, its innermost axis lies along rows."""
    layer: dict[int, int] = {}
    for axis in reversed(frame):
        near = (at for other, at in layer.items() if other in conflicts.get(axis, ()))
        layer[axis] = 1 + max(near, default=-1)
    depth = max(layer.values(), default=-1)
    return tuple(tuple(a for a in frame if layer[a] == at) for at in range(depth, -1, -1))


def frames(count: int, spaces: Spaces) -> Iterator[tuple[int, ...]]:
    """For each axis the frame of it, the innermost one, and all that shares a dimension with
    either."""
    conflicts = _conflicts(spaces)
    found: dict[tuple[int, ...], None] = {}
    for other in range(count - 1):
        rest = (a for a in reversed(range(count - 1)) if a != other)
        found[tuple(sorted(_sides([count - 1, other, *rest], conflicts)))] = None
    yield from found


def _conflicts(spaces: Spaces) -> dict[int, set[int]]:
    """For each axis those that it occurs together with."""
    found: dict[int, set[int]] = {}
    for space in spaces:
        for axis in space:
            found.setdefault(axis, set()).update(space - {axis})
    return found


def _sides(order: Iterable[int], conflicts: dict[int, set[int]]) -> dict[int, int]:
    """Side 0 or 1 for axes that fit on two sides without a conflict on either; later ones that do
    not fit are left out. The first axis of each connected part is on side 0."""
    part: dict[int, list[int]] = {}
    side: dict[int, int] = {}
    for axis in order:
        near = [a for a in side if a in conflicts.get(axis, ())]
        groups = {id(part[a]): part[a] for a in near}
        flips: dict[int, int] = {}
        first = part[near[0]] if near else []
        mine = 1 - side[near[0]] if near else 0
        fits = True
        for a in near:
            flip = int(side[a] == mine)
            fits = fits and flips.setdefault(id(part[a]), flip) == flip
        if not fits:
            continue
        for key, group in groups.items():
            for a in group:
                side[a] ^= flips[key]
            if group is not first:
                first += group
                part.update(dict.fromkeys(group, first))
        side[axis] = mine
        first.append(axis)
        part[axis] = first
    return side
