"""Merges that lost clearly: equal operators with sizes near these are not asked about again.

In a large graph hardly two layers are equal but many are alike, and planning would take its time
for searches for the schedule of each. Only refusals are remembered: a merge is never taken because
another one paid.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fusec.fusion.group import Group

CLEARLY = 1.25
"""A kernel that takes this many times as long as its parts lost clearly."""

NEAR = 1.25
"""Sizes differ by less than this factor."""

KEPT = 4
"""Merges of a kind that are remembered, the last ones."""


class Loss(NamedTuple):
    """Sizes of a merge that lost, and both times in µs."""

    sizes: tuple[int, ...]
    fused: float
    apart: float


@dataclass
class Losses:
    """By kind: operators, types and edges of the merged group without sizes, and how its parts cut
    it."""

    _known: dict[object, deque[Loss]] = field(default_factory=dict[object, "deque[Loss]"])

    def near(self, kind: tuple[object, tuple[int, ...]], cut: object) -> Loss | None:
        """A remembered merge of this kind with sizes near these."""
        key, sizes = kind
        for loss in self._known.get((key, cut), ()):
            if all(a < NEAR * b and b < NEAR * a for a, b in zip(sizes, loss.sizes, strict=True)):
                return loss
        return None

    def add(
        self, kind: tuple[object, tuple[int, ...]], cut: object, fused: float, apart: float
    ) -> None:
        """Remembers a merge, if it lost clearly."""
        if fused >= CLEARLY * apart:
            known = self._known.setdefault((kind[0], cut), deque(maxlen=KEPT))
            known.append(Loss(kind[1], fused, apart))


def cut_of(merged: Group, parts: Iterable[Group]) -> tuple[Sequence[int], ...]:
    """How parts cut a merged group, by the places of their operators in it."""
    place = {op: n for n, op in enumerate(merged.ops())}
    return tuple(sorted(tuple(sorted(place[i] for i in part.owned)) for part in parts))
