"""A kernel argument in gm seen along the axes of its kernel, and the parts of it that tiles need.

The axes of one argument are one `memref.reinterpret_cast` at the head of the function (none where
it is the argument's own shape); a tile is a rank-reducing `memref.subview` of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import SSAValue

from fusec.lowering.builder import Index, KernelBuilder


class Dim(NamedTuple):
    """An axis of an argument: what tiles call it, positions, elements from one to the next."""

    key: Hashable
    size: int
    stride: int


class Span(NamedTuple):
    """The positions of a tile on one axis."""

    start: Index
    size: Index
    step: int = 1


@dataclass(frozen=True)
class GmView:
    """`value` has one dimension for each of `keys`."""

    builder: KernelBuilder
    value: SSAValue
    keys: tuple[Hashable, ...]

    @staticmethod
    def make(
        builder: KernelBuilder, argument: SSAValue, offset: int, dims: Sequence[Dim]
    ) -> GmView:
        """The argument along `dims`, from element `offset` on. A size of 1 needs no stride."""
        strides: list[int] = []
        step = 1
        for dim in reversed(dims):
            strides.append(dim.stride if dim.size > 1 else step)
            step = dim.size * strides[-1]
        value = builder.reinterpret(argument, offset, [d.size for d in dims], strides[::-1])
        return GmView(builder, value, tuple(dim.key for dim in dims))

    def tile(self, at: Mapping[Hashable, Index], spans: Mapping[Hashable, Span]) -> SSAValue:
        """The sub-view of the axes in `spans`, at the positions `at` on the others (which go)."""
        offsets: list[Index] = []
        sizes: list[Index] = []
        steps: list[int] = []
        drop: list[int] = []
        for place, key in enumerate(self.keys):
            span = spans.get(key)
            if span is None:
                drop.append(place)
                span = Span(at.get(key, 0), 1)
            offsets.append(span.start)
            sizes.append(span.size)
            steps.append(span.step)
        return self.builder.subview(self.value, offsets, sizes, steps, drop)
