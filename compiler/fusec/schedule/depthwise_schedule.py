"""The schedule of a depthwise convolution, its tiles, and the ub that they take.

A tile is some rows of the output, part of their columns, part of the channels; what follows the
convolution is done row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fusec.hw import DTYPE_BYTES
from fusec.schedule.depthwise_problem import Depthwise, spread
from fusec.schedule.footprint import padded
from fusec.schedule.types import Schedule

PRODUCTS = 7
"""At most so many products, each of a kernel position, are alive at once: with the accumulator they
are added in pairs, so that an addition seldom waits for the one before it."""


@dataclass(frozen=True)
class DepthwiseSchedule(Schedule):
    """A tile is `rows` outputs along the axis before the last, `columns` along the last, with
    `channels` channels. Its rows are computed one by one from input rows that are loaded once.

    Where the rows are reduced after the convolution, a tile has all rows, `rows` at a time."""

    family: ClassVar[str] = "depthwise"

    rows: int
    columns: int
    channels: int
    blocks: int
    copies: int = 2


def tile_counts(conv: Depthwise, s: DepthwiseSchedule) -> tuple[int, ...]:
    """Tiles along batch, spatial axes, channels."""
    return (
        conv.batch,
        *(axis.output for axis in conv.far),
        1 if conv.swept is not None else -(-conv.near.output // s.rows),
        -(-conv.last.output // s.columns),
        -(-conv.channels // s.channels),
    )


def input_rows(conv: Depthwise, s: DepthwiseSchedule) -> int:
    """Input rows of a tile: one for each kernel position, or a run of rows for several outputs."""
    near = conv.near
    return near.inputs_of(s.rows) if s.rows > 1 else min(near.kernel, near.size)


def vector_tiles(conv: Depthwise, s: DepthwiseSchedule) -> tuple[int, ...]:
    """What is in ub at a time of the result, along the program's axes: a row of a tile."""
    tiles = [1] * len(conv.sizes)
    for axis, tile in zip(conv.places[-2:], (s.columns, s.channels), strict=True):
        if axis is not None:
            tiles[axis] = tile
    return tuple(tiles)


def products(conv: Depthwise) -> int:
    """Kernel positions along a row that are done at once."""
    return min(conv.last.kernel, PRODUCTS)


def conv_bytes(conv: Depthwise, s: DepthwiseSchedule, copies: int) -> int:
    """Bytes of ub beside the epilogue: input rows and filters, their f32 forms, products."""
    width = {dtype: padded(s.channels, dtype) * DTYPE_BYTES[dtype] for dtype in ("f32", conv.dtype)}
    rows, inputs = input_rows(conv, s), spread(conv.last, s.columns)
    filters = conv.taps + (conv.bias is not None)
    kept = copies if s.channels < conv.channels else 1
    if conv.dtype == "f32":
        total = (copies * rows * inputs + kept * filters) * width["f32"]
    else:
        loaded = rows * conv.last.inputs_of(s.columns)
        total = (copies * loaded + kept * filters) * width[conv.dtype]
        total += (rows * inputs + filters) * width["f32"]
    return total + products(conv) * s.columns * width["f32"]
