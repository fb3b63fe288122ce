"""Which positions of a padded axis exist, as arithmetic of the program.

In: a `Window`, the positions of a tile and of the kernel. Out: bounds within the tile and positions
in the input, so that loops and sub-views leave out what lies outside.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from fusec.lowering.builder import Index, KernelBuilder
from fusec.schedule.contraction import Contraction, Window


@dataclass(frozen=True)
class WindowUse:
    """A window with the keys of its output axis ("row", "col" or a grid axis) and kernel axis."""

    window: Window
    output: Hashable
    kernel: Hashable
    kernel_size: int


def window_uses(axes: Contraction) -> dict[Hashable, WindowUse]:
    """The windows of a contraction by the key of their output axis."""
    outputs = {"row": axes.row, "col": axes.col} | {
        ("grid", i): axis for i, axis in enumerate(axes.grid)
    }
    by_window = {axis.window.id: key for key, axis in outputs.items() if axis.window is not None}
    uses: dict[Hashable, WindowUse] = {}
    for i, axis in enumerate(axes.outer_k):
        if axis.window is not None:
            output = by_window[axis.window.id]
            uses[output] = WindowUse(axis.window, output, ("k", i), axis.size)
    return uses


def bounds(
    b: KernelBuilder, window: Window, first: Index, kernel: Index, count: Index
) -> tuple[Index, Index]:
    """Of `count` outputs from `first` on, the range [low, high) that reads existing positions.

    high < low where there are none. As `Window.bounds`, on values.
    """
    shift = b.sub(window.pad, b.mul(kernel, window.dilation))
    before = b.ceildiv(b.max(shift, 0), window.stride)
    behind = b.ceildiv(b.max(b.add(shift, window.size), 0), window.stride)
    return b.max(b.sub(before, first), 0), b.min(b.sub(behind, first), count)


def position(
    b: KernelBuilder, use: WindowUse, output: Index, where: Mapping[Hashable, Index]
) -> Index:
    """The input position that an output reads for the kernel position in `where`."""
    window = use.window
    shift = b.mul(where[use.kernel], window.dilation)
    return b.sub(b.add(b.mul(output, window.stride), shift), window.pad)


def may_be_empty(use: WindowUse, outputs: int, tile: int) -> bool:
    """Whether some tile of the axis reads nothing at all for some kernel position."""
    for kernel in range(use.kernel_size):
        for first in range(0, outputs, tile):
            low, high = use.window.bounds(first, kernel, min(tile, outputs - first))
            if low >= high:
                return True
    return False
