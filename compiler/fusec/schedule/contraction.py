"""A contraction as axes with one stride for each operand: matmul, gemm and convolution alike.

In: for each logical dimension the parts that each operand's view gives it. Out: axes that are
common to all operands, merged where strides allow, each of class batch, M, N or K by which operands
vary along it. A padded convolution axis keeps a `Window` that says which positions exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import gcd, prod

from fusec.schedule.types import RefusalError
from fusec.schedule.views import Part

A, B, Y, ADDENDS = 0, 1, 2, 3
"""Operands by their place in `Axis.strides`: left, right, result, then what is added, in order."""


class Kind(Enum):
    """Which operands vary along an axis."""

    BATCH = "batch"
    M = "m"
    N = "n"
    K = "k"


@dataclass(frozen=True)
class Window:
    """Output position o and kernel position k read input position o stride + k dilation - pad.

    The input has `size` positions, `step` elements apart; what lies outside is zero.
    """

    id: int
    stride: int
    dilation: int
    pad: int
    size: int
    step: int

    def bounds(self, first: int, kernel: int, count: int) -> tuple[int, int]:
        """Of `count` outputs from `first` on, those [low, high) that a kernel position has."""
        shift = self.pad - kernel * self.dilation
        low = max(0, -(-max(shift, 0) // self.stride) - first)
        high = min(count, -(-max(self.size + shift, 0) // self.stride) - first)
        return low, max(low, high)


@dataclass(frozen=True)
class Axis:
    """`size` positions; `strides` in elements for each operand, 0 where it does not vary."""

    size: int
    strides: tuple[int, ...]
    window: Window | None = None

    def unit(self, operand: int) -> bool:
        """Whether neighbours along the axis are neighbours in the operand (or it has one)."""
        return self.size == 1 or self.strides[operand] == 1


@dataclass(frozen=True)
class Label:
    """A logical dimension before refinement: the parts of each operand; none: it does not vary."""

    size: int
    parts: tuple[Sequence[Part], ...]
    contracted: bool = False
    window: Window | None = None


@dataclass(frozen=True)
class Contraction:
    """y[grid, row, col, n] = sum over outer_k and k of a * b, and what is added.

    A tile covers whole rows of `col` (or a part of one), a part of n; `grid` are the axes that stay
    outside of tiles, with the letters of `Kind`. `swapped`: a is the operator's second operand.
    """

    grid: tuple[Axis, ...]
    row: Axis
    col: Axis
    n: Axis
    outer_k: tuple[Axis, ...]
    k: Axis
    a_transposed: bool
    b_transposed: bool
    swapped: bool

    @property
    def depth(self) -> int:
        """How many products are summed for each element."""
        return prod(axis.size for axis in self.outer_k) * self.k.size

    @property
    def windows(self) -> tuple[Window, ...]:
        """The padded axes."""
        found = (axis.window for axis in self.outer_k)
        return tuple(window for window in found if window is not None)

    @property
    def whole_rows(self) -> bool:
        """Whether a tile may hold several rows: `row` and `col` are one run of every result."""
        if self.a_transposed or self.row.size == 1:
            return False
        pairs = zip(self.row.strides, self.col.strides, strict=True)
        return all(r == c * self.col.size for r, c in list(pairs)[Y:])


def contraction(labels: Sequence[Label], *, separate: bool = False) -> Contraction:
    """The axes of a contraction; raises RefusalError where views or strides do not allow a tile.

    `separate`: axes of different dimensions of the result are not merged.
    """
    classes: dict[Kind, list[Axis]] = {kind: [] for kind in Kind}
    for label in labels:
        for axis in _refine(label):
            classes[_kind(axis, label)].append(axis)
    for kind in (Kind.BATCH, Kind.M, Kind.N):
        classes[kind].sort(key=lambda axis: -axis.strides[Y])
    merged = {
        kind: axes if separate and kind != Kind.K else _merge(axes)
        for kind, axes in classes.items()
    }
    operands = len(labels[0].parts)
    one = Axis(1, (0,) * operands)
    if [label.size for label in labels if label.contracted][-1:] == [1]:
        merged[Kind.K].append(one)
    return _orient(merged, one)


def _refine(label: Label) -> list[Axis]:
    """Splits a dimension until every operand has one stride on each piece."""
    if label.window is not None:
        strides = tuple(parts[0].stride if parts else 0 for parts in label.parts)
        return [Axis(label.size, strides, label.window)]
    if label.size == 1:
        return []
    stacks = [list(parts) or [Part(label.size, 0)] for parts in label.parts]
    axes: list[Axis] = []
    rest = label.size
    while rest > 1:
        size = gcd(*(stack[-1].size for stack in stacks))
        if size == 1:
            shapes = ", ".join(str([p.size for p in parts]) for parts in label.parts if parts)
            raise RefusalError(
                "views-disagree",
                f"an axis of {label.size} is cut into {shapes} by the views of its operands, "
                "which have no common pieces; make one of the views a copy",
                {"size": label.size},
            )
        axes.append(Axis(size, tuple(stack[-1].stride for stack in stacks)))
        for stack in stacks:
            part = stack.pop()
            if part.size > size:
                stack.append(Part(part.size // size, part.stride * size))
        rest //= size
    return axes[::-1]


def _kind(axis: Axis, label: Label) -> Kind:
    if label.contracted:
        return Kind.K
    if label.window is not None:
        return Kind.M
    a, b = axis.strides[A] != 0, axis.strides[B] != 0
    if a == b:
        return Kind.BATCH
    return Kind.M if a else Kind.N


def _merge(axes: Sequence[Axis]) -> list[Axis]:
    """Neighbours that are one run in every operand become one axis."""
    result: list[Axis] = []
    for axis in axes:
        outer = result[-1] if result else None
        if (
            outer is not None
            and outer.window is None
            and axis.window is None
            and all(o == i * axis.size for o, i in zip(outer.strides, axis.strides, strict=True))
        ):
            result[-1] = Axis(outer.size * axis.size, axis.strides)
        else:
            result.append(axis)
    return result


def _orient(classes: dict[Kind, list[Axis]], one: Axis) -> Contraction:
    """Chooses which operand is on the left and which axes a tile covers."""
    m, n = classes[Kind.M], classes[Kind.N]
    swapped = False
    if not _has_unit(n, Y) and _has_unit(m, Y):
        windowed = any(axis.window is not None for axis in m)
        if windowed and n:
            raise RefusalError(
                "channels-first-window",
                "a padded convolution that stores its channels first has no tile of unit stride; "
                "run graph-assign-layout, or pad the input before",
            )
        if not windowed:
            m, n = [_swap(axis) for axis in n], [_swap(axis) for axis in m]
            classes = classes | {
                Kind.K: [_swap(axis) for axis in classes[Kind.K]],
                Kind.BATCH: [_swap(axis) for axis in classes[Kind.BATCH]],
            }
            swapped = True
    if n and not _has_unit(n, Y):
        raise RefusalError(
            "output-stride",
            "neither rows nor columns of the product are neighbours in the result, so no tile "
            "can be stored; drop the last transposition from the group",
        )
    inner_n = next((axis for axis in n if axis.strides[Y] == 1), one)
    col, k, a_transposed, b_transposed = _tile_axes(m, classes[Kind.K], inner_n, one)
    others = [axis for axis in m if axis is not col]
    row = next(
        (x for x in others if x.strides[Y] == col.size * col.strides[Y]),
        others[-1] if others else one,
    )
    return Contraction(
        grid=(
            *classes[Kind.BATCH],
            *(axis for axis in others if axis is not row),
            *(axis for axis in n if axis is not inner_n),
        ),
        row=row,
        col=col,
        n=inner_n,
        outer_k=tuple(axis for axis in classes[Kind.K] if axis is not k and axis is not one),
        k=k,
        a_transposed=a_transposed,
        b_transposed=b_transposed,
        swapped=swapped,
    )


def _has_unit(axes: Sequence[Axis], operand: int) -> bool:
    return any(axis.strides[operand] == 1 for axis in axes)


def _swap(axis: Axis) -> Axis:
    a, b, *rest = axis.strides
    return replace(axis, strides=(b, a, *rest))


def _tile_axes(
    m: Sequence[Axis], k: Sequence[Axis], n: Axis, one: Axis
) -> tuple[Axis, Axis, bool, bool]:
    """The M and K axes of a tile, and which operands are stored transposed.

    Each operand needs unit stride on one of its two axes. Not transposed is better than
    transposed, a long K better than a short one, the innermost M axis better than an outer one.
    """
    windowed = any(axis.window is not None for axis in m)
    best: tuple[tuple[int, int, int], Axis, Axis, bool, bool] | None = None
    for depth in [axis for axis in k if axis.window is None] or [one]:
        for place, col in enumerate(m or [one]):
            if depth.unit(A):
                a_transposed = False
            elif col.unit(A) and not windowed:
                a_transposed = True
            else:
                continue
            if not n.unit(B) and not depth.unit(B):
                continue
            b_transposed = not n.unit(B)
            score = (-int(a_transposed) - int(b_transposed), depth.size, place)
            if best is None or score > best[0]:
                best = (score, col, depth, a_transposed, b_transposed)
    if best is None:
        raise RefusalError(
            "operand-stride",
            "an operand has unit stride on none of the axes of a tile; "
            "make its view a copy, or store the weights with their outputs last",
        )
    return best[1:]
