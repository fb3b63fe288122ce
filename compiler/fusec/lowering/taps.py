"""Where a window meets its input along one axis, as index arithmetic of a kernel.

In: an axis and positions of outputs. Out: kernel positions or inputs that exist; what lies in the
padding is left out.
"""

from __future__ import annotations

from fusec.lowering.arithmetic import Index, IndexBuilder
from fusec.schedule.window import WindowAxis


def taps_of(b: IndexBuilder, axis: WindowAxis, at: Index) -> tuple[Index, Index]:
    """The kernel positions [low, high) of the output at a position that lie on the input."""
    if all(axis.range_of(tap) == (0, axis.output) for tap in range(axis.kernel)):
        return 0, axis.kernel
    before = b.sub(axis.begin, b.mul(at, axis.stride))
    low = b.ceildiv(b.max(before, 0), axis.dilation)
    after = b.ceildiv(b.max(b.add(before, axis.size), 0), axis.dilation)
    return low, b.min(after, axis.kernel)


def span_of(b: IndexBuilder, axis: WindowAxis, first: Index, count: Index) -> tuple[Index, Index]:
    """The first input that `count` outputs from `first` on read, and how many from there on.

    The number is not positive where they lie in the padding only.
    """
    reach = (axis.kernel - 1) * axis.dilation
    start = b.sub(b.mul(first, axis.stride), axis.begin)
    end = b.add(start, b.add(b.mul(b.sub(count, 1), axis.stride), reach + 1))
    low = b.max(start, 0) if axis.begin else start
    return low, b.sub(b.min(end, axis.size), low)
