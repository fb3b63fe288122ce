"""Axes as a union-find: equal ones are one, and an axis that a reshape cuts becomes two.

In: sequences of axes that run over the same elements in row-major order. Out: the axes that none of
them cuts any further.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusec.schedule.types import RefusalError

AxisIds = tuple[int, ...]


class AxisSet:
    """Axes by number, each with a size above 1."""

    def __init__(self) -> None:
        self._size: list[int] = []
        self._parent: list[int] = []
        self._cut: dict[int, tuple[int, int]] = {}

    def new(self, size: int) -> int:
        """A fresh axis."""
        self._size.append(size)
        self._parent.append(len(self._parent))
        return len(self._parent) - 1

    def size(self, axis: int) -> int:
        return self._size[self.find(axis)]

    def find(self, axis: int) -> int:
        """The representative of the axes equal to this one."""
        parent = self._parent
        while parent[axis] != axis:
            parent[axis] = parent[parent[axis]]
            axis = parent[axis]
        return axis

    def atoms(self, axis: int) -> AxisIds:
        """The uncut axes that an axis consists of, outermost first."""
        axis = self.find(axis)
        cut = self._cut.get(axis)
        return (axis,) if cut is None else (*self.atoms(cut[0]), *self.atoms(cut[1]))

    def unify(self, a: Sequence[int], b: Sequence[int]) -> None:
        """Makes two sequences with one number of elements the same axes, cutting where needed.

        RefusalError("reshape") where a boundary of one falls inside an axis of the other unevenly.
        """
        left, right = list(a), list(b)
        while left and right:
            x, y = self._last(left), self._last(right)
            if x == y:
                continue
            if self._size[x] == self._size[y]:
                self._parent[y] = x
                continue
            big, small, rest = (x, y, left) if self._size[x] > self._size[y] else (y, x, right)
            if self._size[big] % self._size[small]:
                raise RefusalError(
                    "reshape",
                    f"a reshape joins parts of axes of sizes {self._size[big]} and "
                    f"{self._size[small]} unevenly; compute before and after it in two kernels",
                )
            outer = self.new(self._size[big] // self._size[small])
            self._cut[big] = (outer, small)
            rest.append(outer)

    def _last(self, axes: list[int]) -> int:
        """Takes the innermost uncut axis off a sequence."""
        axis = self.find(axes.pop())
        while (cut := self._cut.get(axis)) is not None:
            axes.append(cut[0])
            axis = self.find(cut[1])
        return axis
