"""What a depthwise kernel computes: a convolution of each channel with its own filter, then an
epilogue on tiles of the result.

In: a region, channels last. Out: a `Depthwise`: geometry, operands in gm, the vector program of the
epilogue and where the result's dimensions lie among its axes; RefusalError where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import cast

from xdsl.ir import SSAValue

from fusec.schedule.axes import dtype_of
from fusec.schedule.cube_problem import anchor_of
from fusec.schedule.epilogue import epilogue_of
from fusec.schedule.expand import expand
from fusec.schedule.program import Program
from fusec.schedule.region import Region, once
from fusec.schedule.types import RefusalError
from fusec.schedule.unit_types import type_refusal
from fusec.schedule.vector import reduced_axes
from fusec.schedule.views import Access, checked, load_access, split, static_shape
from fusec.schedule.window import WindowAxis
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.place import place

TYPES = ("f32", "f16", "bf16")
"""What is convolved here; products and sums are f32."""

NO_AXIS = WindowAxis(1, 1, 1, 1, 1, 0, 0)
"""The row axis of a convolution with one spatial axis."""


@dataclass(frozen=True)
class Operand:
    """A tensor in gm: its argument, and one offset, size and stride in elements for each of the
    dimensions that the kernel sees."""

    root: SSAValue
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Depthwise:
    """`axes`: the spatial axes, two at least: those before the last two are `far`.

    `source` is [batch, axes, channels], `filters` [kernel positions, channels], `bias` [1,
    channels]. `places`: the program's axes of batch, axes and channels; None for size 1.
    """

    op: GraphOp
    dtype: str
    batch: int
    channels: int
    axes: tuple[WindowAxis, ...]
    source: Operand
    filters: Operand
    bias: Operand | None
    program: Program
    places: tuple[int | None, ...]

    @property
    def far(self) -> tuple[WindowAxis, ...]:
        return self.axes[:-2]

    @property
    def near(self) -> WindowAxis:
        """The axis along which a tile may have several rows."""
        return self.axes[-2]

    @property
    def last(self) -> WindowAxis:
        """The axis of the columns of a tile."""
        return self.axes[-1]

    @property
    def taps(self) -> int:
        """Kernel positions."""
        return prod(axis.kernel for axis in self.axes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the program's axes."""
        return self.program.axes.sizes

    @cached_property
    def met(self) -> float:
        """The part of the rows of kernel positions that lie on the input, on average."""
        counts = [float(a.counts(False).mean()) / a.kernel for a in self.axes[:-1]]
        return prod(counts)

    @cached_property
    def swept(self) -> int | None:
        """The program's axis of rows, where what follows reduces it: a tile has all of them."""
        axis = self.places[-3]
        return axis if axis in reduced_axes(self.program) else None

    @property
    def joins_rows(self) -> bool:
        """Whether the input rows of neighbouring output rows are one run of rows, loaded once."""
        return not self.far and self.near.dilation == 1


def spread(axis: WindowAxis, outputs: int) -> int:
    """Inputs from the first to the last that a run of outputs reads, padding included."""
    return (outputs - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1


def meets(axis: WindowAxis) -> bool:
    """Whether no output lies in the padding with all of its window."""
    last = (axis.output - 1) * axis.stride - axis.begin
    return axis.begin < spread(axis, 1) and last < axis.size


def is_depthwise(op: GraphOp) -> bool:
    """Whether every channel of a convolution is a group of its own, and there are several."""
    if op.op_name != "conv":
        return False
    attrs = op.attrs()
    shape = tensor_type(op.operands[0]).get_shape()
    channels = shape[1 if attrs["x_layout"] == "NCHW" else -1]
    return channels > 1 and attrs["group"] == channels


@once
def depthwise_problem(region: Region) -> Depthwise:
    """The problem of a region; raises RefusalError where it has none."""
    op = anchor_of(region)
    _check(op)
    result = op.results[0]
    program = expand(epilogue_of(region, result), resident=result)
    access = checked(load_access(region, op.operands[0]))
    strides = access.strides
    if strides is None or (access.dims[-1] and strides[-1] != 1):
        raise RefusalError(
            "window-view", f"{place(op)}: views before it leave its channels not contiguous"
        )
    bias = _bias(region, op) if len(op.operands) > 2 else None
    filters = _filters(region, op)
    for operand in (access, filters, bias):
        if operand is not None and operand.root not in region.inputs:
            raise RefusalError(
                "operand-computed",
                f"{place(op)}: an operand is computed inside the group; a depthwise kernel loads "
                "its operands from gm, so it has to be a kernel of its own",
            )
    axes = _axes(op, access.sizes)
    sizes, steps, shape = [*access.sizes], [*strides], [*_shape(result)]
    if len(axes) > len(sizes) - 2:
        for one in (sizes, steps, shape):
            one.insert(1, 1)
    numbers = iter(range(len(shape)))
    return Depthwise(
        op=op,
        dtype=dtype_of(op.operands[0]),
        batch=sizes[0],
        channels=sizes[-1],
        axes=axes,
        source=Operand(access.root, access.offset, tuple(sizes), tuple(s or 1 for s in steps)),
        filters=filters,
        bias=bias,
        program=program,
        places=tuple(next(numbers) if size > 1 else None for size in shape),
    )


def _check(op: GraphOp) -> None:
    if not is_depthwise(op):
        raise RefusalError("operator", f"{place(op)} is no depthwise convolution")
    attrs = op.attrs()
    layouts = [attrs[key] for key in ("x_layout", "w_layout", "y_layout")]
    if layouts != ["NHWC", "HWIO", "NHWC"]:
        raise RefusalError(
            "layout", f"{place(op)} has channels first; graph-assign-layout gives it channels last"
        )
    if (dtype := dtype_of(op.operands[0])) not in TYPES:
        raise type_refusal(place(op), dtype, TYPES, "has no vector kernel here")
    channels, outputs = (_shape(value)[-1] for value in (op.operands[0], op.results[0]))
    if channels != outputs:
        raise RefusalError(
            "channel-multiplier",
            f"{place(op)} gives {outputs // channels} outputs for each channel; on the vector "
            "core each channel gives one",
            {"multiplier": outputs // channels},
        )


def _shape(value: SSAValue) -> tuple[int, ...]:
    return checked(static_shape(value))


def _axes(op: GraphOp, sizes: Sequence[int]) -> tuple[WindowAxis, ...]:
    attrs, outputs = op.attrs(), _shape(op.results[0])
    kernel = _shape(op.operands[1])
    rank = len(kernel) - 2
    steps, dilations, pads = (
        cast("tuple[int, ...]", attrs[key]) for key in ("strides", "dilations", "pads")
    )
    if min(pads) < 0:
        raise RefusalError("window-pads", f"{place(op)}: pads {list(pads)} are negative")
    axes = tuple(
        WindowAxis(
            sizes[1 + i], outputs[1 + i], kernel[i], steps[i], dilations[i], pads[i], pads[rank + i]
        )
        for i in range(rank)
    )
    return axes if rank > 1 else (NO_AXIS, *axes)


def _filters(region: Region, op: GraphOp) -> Operand:
    access = checked(load_access(region, op.operands[1]))
    *kernel, _, channels = access.sizes
    return _rows(op, access, (prod(kernel), channels))


def _bias(region: Region, op: GraphOp) -> Operand:
    access = checked(load_access(region, op.operands[2]))
    return _rows(op, access, (1, access.sizes[0]))


def _rows(op: GraphOp, access: Access, sizes: tuple[int, int]) -> Operand:
    """An operand as rows of channels."""
    groups = split([part for parts in access.dims for part in parts], sizes)
    if groups is None or any(len(parts) > 1 for parts in groups):
        raise RefusalError(
            "filter-view", f"{place(op)}: views of its filter or bias leave it without rows"
        )
    row, channel = (parts[0].stride if parts else 1 for parts in groups)
    if channel != 1:
        raise RefusalError(
            "filter-view", f"{place(op)}: views of its filter or bias part its channels"
        )
    return Operand(access.root, access.offset, sizes, (row, 1))
