"""The emitter of pooling kernels, channels last.

In: a region and a `WindowSchedule`. Out: the kernel's function. A tile of a row of the output is
accumulated from rows of the input; what lies outside the image is left out by loop bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import frexp

import numpy as np
from xdsl.ir import SSAValue

from fusec.hw import DTYPE_BYTES, Target
from fusec.lowering.arguments import arguments_of, output
from fusec.lowering.arithmetic import Index
from fusec.lowering.builder import KernelBuilder
from fusec.lowering.emitted import EmittedKernel, KernelConstant, data_constant
from fusec.schedule.footprint import BLOCK
from fusec.schedule.region import Region
from fusec.schedule.window import (
    INVERSE_WIDTH,
    Window,
    WindowAxis,
    WindowSchedule,
    tile_counts,
    window_problem,
)
from fusec_dialects.graph import KernelOp
from fusec_dialects.npu import (
    LoadOp,
    StoreOp,
    VAddOp,
    VBrcOp,
    VCastOp,
    VDivOp,
    VMaxOp,
    VMulOp,
)
from fusec_dialects.npu.attrs import Space


def emit(kernel: KernelOp, schedule: WindowSchedule, target: Target) -> EmittedKernel:
    """The function of a pooling kernel; the schedule has been checked (`check_window`)."""
    window = window_problem(Region.of_block(kernel.body.block))
    constants: list[KernelConstant] = []
    if window.average and window.uniform_count is None:
        inverse = np.zeros((window.counts.size, INVERSE_WIDTH), np.float32)
        inverse[:, 0] = 1.0 / np.maximum(window.counts.reshape(-1), 1)
        constants.append(data_constant(inverse, "f32"))
    arguments = arguments_of(kernel, constants)
    builder = KernelBuilder(kernel.sym_name.data, arguments.all)
    x = builder.args[arguments.places[window.source.root]]
    y = builder.args[arguments.places[output(0)]]
    inverses = builder.args[arguments.places[constants[0].name]] if constants else None
    with builder.at(window.op):
        emitter = _Pool(builder, window, schedule, x, y, inverses)
        with builder.block_loop(tile_counts(window, schedule), schedule.blocks) as position:
            emitter.tile(position)
        func = builder.finish("vector", schedule.blocks, schedule.to_attr())
    func.location = kernel.location
    return EmittedKernel(func, constants)


@dataclass(frozen=True)
class _Row:
    """The tile in the output: position of its row, and (offset, size) of columns and channels."""

    batch: Index
    outer: tuple[Index, ...]
    column: Index
    columns: Index
    channel: Index
    channels: Index


@dataclass(frozen=True)
class _Pool:
    builder: KernelBuilder
    window: Window
    schedule: WindowSchedule
    x: SSAValue
    y: SSAValue
    inverses: SSAValue | None

    def tile(self, position: Sequence[Index]) -> None:
        b, window, schedule = self.builder, self.window, self.schedule
        batch, *outer, columns_at, channels_at = position
        column, channel = b.mul(columns_at, schedule.columns), b.mul(channels_at, schedule.channels)
        row = _Row(
            batch,
            tuple(outer),
            column,
            b.rest(window.axes[-1].output, column, schedule.columns),
            channel,
            b.rest(window.channels, channel, schedule.channels),
        )
        accumulator = self._buffer(schedule.columns, window.computed, row.columns, row)
        b.op(VBrcOp, b.scalar(self._neutral(), window.computed), accumulator)
        with ExitStack() as loops:
            inputs: list[Index] = []
            for axis, at in zip(window.axes[:-1], row.outer, strict=True):
                low, high = self._bounds(axis, at)
                tap = loops.enter_context(b.loop(low, high, 1, "k"))
                start = b.sub(b.mul(at, axis.stride), axis.begin)
                inputs.append(b.add(start, b.mul(tap, axis.dilation)))
            self._input_row(row, inputs, accumulator)
        self._store(row, self._scaled(row, accumulator))

    def _neutral(self) -> float:
        if self.window.average:
            return 0.0
        return float(-(1 << 31)) if self.window.computed == "i32" else float("-inf")

    def _bounds(self, axis: WindowAxis, at: Index) -> tuple[Index, Index]:
        """The taps of an outer axis that lie on the input, for the output at a position."""
        b = self.builder
        if all(axis.range_of(tap) == (0, axis.output) for tap in range(axis.kernel)):
            return 0, axis.kernel
        before = b.sub(axis.begin, b.mul(at, axis.stride))
        low = b.ceildiv(b.max(before, 0), axis.dilation)
        after = b.ceildiv(b.add(before, axis.size), axis.dilation)
        return low, b.min(after, axis.kernel)

    def _buffer(self, rows: int, dtype: str, used: Index, row: _Row) -> SSAValue:
        shape = (rows, self.schedule.channels)
        return self.builder.tile(Space.UB, shape, dtype, (used, row.channels))

    # The input

    def _input_row(self, row: _Row, inputs: Sequence[Index], accumulator: SSAValue) -> None:
        """One row of the input: loaded once, then combined for each tap along it."""
        b, window, last = self.builder, self.window, self.window.axes[-1]
        begin = b.sub(b.mul(row.column, last.stride), last.begin)
        span = (self.schedule.columns - 1) * last.stride + (last.kernel - 1) * last.dilation + 1
        low = b.max(begin, 0) if last.begin else begin
        high = b.min(b.add(begin, span), last.size)
        count = b.sub(high, low)
        capacity = last.inputs_of(self.schedule.columns)
        loaded = self._buffer(capacity, window.dtype, count, row)
        b.op(LoadOp, self._source(row, inputs, low, count), loaded)
        if window.dtype != window.computed:
            wide = self._buffer(capacity, window.computed, count, row)
            b.op(VCastOp, loaded, wide)
            loaded = wide
        for tap in range(last.kernel):
            self._combine(row, tap, low, loaded, accumulator)

    def _combine(
        self, row: _Row, tap: int, low: Index, loaded: SSAValue, accumulator: SSAValue
    ) -> None:
        """The outputs of the tile for which the tap lies on the row; a loop of one trip or none."""
        b, last = self.builder, self.window.axes[-1]
        first, end = last.range_of(tap)
        whole = self.schedule.columns == last.output
        start = first if whole else b.max(row.column, first)
        stop = end if whole else b.min(b.add(row.column, row.columns), end)
        if isinstance(start, int) and isinstance(stop, int) and start >= stop:
            return
        with b.loop(start, stop, self.schedule.columns, "w") as at:
            count = b.sub(stop, at)
            place = b.sub(b.add(b.mul(at, last.stride), tap * last.dilation - last.begin), low)
            part = b.subview(loaded, [place, 0], [count, row.channels], [last.stride, 1])
            rows = b.subview(accumulator, [b.sub(at, row.column), 0], [count, row.channels])
            b.op(VAddOp if self.window.average else VMaxOp, rows, part, rows)

    def _source(self, row: _Row, inputs: Sequence[Index], low: Index, count: Index) -> SSAValue:
        offsets = [row.batch, *inputs, low, row.channel]
        sizes = [1, *(1 for _ in inputs), count, row.channels]
        return self._view(self.x, True, offsets, sizes)

    def _view(
        self, argument: SSAValue, source: bool, offsets: Sequence[Index], sizes: Sequence[Index]
    ) -> SSAValue:
        """A part of a row of the input or the output, two-dimensional."""
        window = self.window
        access = window.source if source else window.dest
        strides = window.source_strides if source else window.dest_strides
        fixed = [s or 1 for s in strides]
        whole = self.builder.reinterpret(argument, access.offset, access.sizes, fixed)
        drop = tuple(range(len(fixed) - 2))
        return self.builder.subview(whole, offsets, sizes, drop=drop)

    # The result

    def _scaled(self, row: _Row, accumulator: SSAValue) -> SSAValue:
        """Sums divided by what each window counts, in the type of the output."""
        b, window = self.builder, self.window
        count = window.uniform_count if window.average else 1
        if count is None:
            self._scale_rows(row, accumulator)
        elif count > 1 and frexp(count)[0] == 0.5:
            b.op(VMulOp, accumulator, b.scalar(1.0 / count, "f32"), accumulator)
        elif count > 1:
            b.op(VDivOp, accumulator, b.scalar(count, "f32"), accumulator)
        if window.dtype == window.computed:
            return accumulator
        narrow = self._buffer(self.schedule.columns, window.dtype, row.columns, row)
        b.op(VCastOp, accumulator, narrow)
        return narrow

    def _scale_rows(self, row: _Row, accumulator: SSAValue) -> None:
        """Each output by its own inverse count, the first column of the constant."""
        if self.inverses is None:
            return
        b, columns = self.builder, self.schedule.columns
        number: Index = 0
        for axis, at in zip(self.window.axes[:-1], row.outer, strict=True):
            number = b.add(b.mul(number, axis.output), at)
        first = b.add(b.mul(number, self.window.axes[-1].output), row.column)
        rows = b.subview(self.inverses, [first, 0], [row.columns, INVERSE_WIDTH])
        inverse = b.tile(Space.UB, (columns, INVERSE_WIDTH), "f32", (row.columns, INVERSE_WIDTH))
        b.op(LoadOp, rows, inverse)
        column = b.subview(inverse, [0, 0], [row.columns, 1])
        each = BLOCK // DTYPE_BYTES["f32"]
        static = isinstance(row.columns, int) and isinstance(row.channels, int)
        scratch = -(-columns // 8) * 8 * each
        if not static:
            wide = -(-self.schedule.channels // each) * each
            scratch = max(scratch, columns * wide)
        temp = b.alloc(Space.UB, (scratch,), "f32", "temp")
        b.op(VMulOp, accumulator, column, accumulator, temp)

    def _store(self, row: _Row, tile: SSAValue) -> None:
        offsets = [row.batch, *row.outer, row.column, row.channel]
        sizes = [1, *(1 for _ in row.outer), row.columns, row.channels]
        self.builder.op(StoreOp, tile, self._view(self.y, False, offsets, sizes))
