"""Where the values that a region loads and stores lie in gm, along the axes of the region."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import SSAValue

from fusec.schedule.axis_set import AxisIds


class Lie(NamedTuple):
    """How the values of a port lie in gm: strides by axis, all axes along which they vary."""

    strides: Mapping[int, int]
    axes: Collection[int]


@dataclass(frozen=True, eq=False)
class Port:
    """A tensor in gm that a region loads `value` from or stores it to.

    `root` is the region's input, constant or output; an element of the value lies at `offset` plus
    the sum of strides times positions, `strides` by axis. Axes that it does not vary along are
    absent. `output` is which output of the region a store writes.
    """

    value: SSAValue
    root: SSAValue
    offset: int
    strides: dict[int, int]
    output: int | None = None
    picked: Picked | None = None

    @property
    def axes(self) -> frozenset[int]:
        """The axes that the value varies along."""
        return frozenset(self.strides if self.picked is None else self._steps())

    @property
    def lie(self) -> Lie:
        """What times and sizes of tiles depend on."""
        return Lie(self.strides, self.axes)

    def order(self) -> AxisIds:
        """Its axes as they lie in memory, outermost first."""
        steps = self._steps()
        index = {} if self.picked is None else self.picked.index.strides
        return tuple(sorted(steps, key=lambda a: (-steps[a], -index.get(a, 0), a)))

    def _steps(self) -> dict[int, int]:
        """The strides, that of the slices for the axes along which these are picked."""
        if self.picked is None:
            return self.strides
        return {**dict.fromkeys(self.picked.index.strides, self.picked.stride), **self.strides}


@dataclass(frozen=True, eq=False)
class Picked:
    """What a gather adds to a port: the value is made of slices, and `index` says which of the
    `size` slices, `stride` elements apart, stands at a position. A negative one counts from the
    end."""

    index: Port
    size: int
    stride: int
