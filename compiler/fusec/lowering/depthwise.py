"""The emitter of depthwise convolutions, channels last, with an epilogue on each row of a tile.

In: a graph.kernel with a `depthwise` schedule. Out: its function. Input rows are loaded once for a
tile; a kernel position is a shifted view of them times its row of the filters. What lies outside
of the image is left out by loop bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from fusec.hw import Target
from fusec.lowering.arguments import arguments_of, output
from fusec.lowering.arithmetic import Index
from fusec.lowering.builder import KernelBuilder
from fusec.lowering.emitted import EmittedKernel
from fusec.lowering.taps import span_of, taps_of
from fusec.lowering.vector import TileEmitter, constants_of
from fusec.schedule.axes import Port
from fusec.schedule.depthwise import Planner
from fusec.schedule.depthwise_problem import Depthwise, Operand, depthwise_problem, meets, spread
from fusec.schedule.depthwise_schedule import (
    DepthwiseSchedule,
    input_rows,
    products,
    tile_counts,
    vector_tiles,
)
from fusec.schedule.footprint import Tiles
from fusec.schedule.plan import Action, Plan
from fusec.schedule.region import Region
from fusec.schedule.types import Refusal, RefusalError
from fusec_dialects.graph import KernelOp
from fusec_dialects.npu import CopyOp, LoadOp, VAddOp, VBrcOp, VCastOp, VMulOp
from fusec_dialects.npu.attrs import Space


def emit(kernel: KernelOp, schedule: DepthwiseSchedule, target: Target) -> EmittedKernel:
    """The function of a kernel whose schedule was checked (`check_depthwise`)."""
    conv = depthwise_problem(Region.of_block(kernel.body.block))
    plan = Planner(conv, target).plan(schedule)
    if isinstance(plan, Refusal):
        raise RefusalError(plan.reason, plan.message, plan.numbers)
    constants = constants_of(conv.program)
    arguments = arguments_of(kernel, list(constants.values()))
    builder = KernelBuilder(kernel.sym_name.data, arguments.all)

    def argument(port: Port) -> SSAValue:
        constant = constants.get(port.root)
        key = port.root if constant is None else constant.name
        where = arguments.places[key if port.output is None else output(port.output)]
        return builder.args[where]

    def view(operand: Operand) -> SSAValue:
        value = builder.args[arguments.places[operand.root]]
        return builder.reinterpret(value, operand.offset, operand.sizes, operand.strides)

    with builder.at(kernel):
        tiles = Tiles.of(conv.sizes, vector_tiles(conv, schedule))
        epilogue = TileEmitter(builder, plan, conv.sizes, tiles, argument)
        epilogue.entry()
        with builder.at(conv.op):
            emitter = _Depthwise(
                builder,
                conv,
                schedule,
                view(conv.source),
                view(conv.filters),
                None if conv.bias is None else view(conv.bias),
                plan,
                epilogue,
            )
            emitter.emit()
        func = builder.finish("vector", schedule.blocks, schedule.to_attr())
    return EmittedKernel(func, list(constants.values()))


@dataclass(frozen=True)
class _Tile:
    """Positions of batch and far axes; (offset, size) of rows, columns and channels."""

    outer: tuple[Index, ...]
    row: Index
    rows: Index
    column: Index
    columns: Index
    channel: Index
    channels: Index


@dataclass(frozen=True)
class _Filters:
    """In ub, f32: a row for each kernel position, the row that is added."""

    rows: SSAValue
    bias: SSAValue | None


@dataclass(frozen=True)
class _Input:
    """Input rows in ub, f32: `value` is [rows, columns, channels], from `row` on, its columns those
    of the tile's outputs, zero in the padding."""

    value: SSAValue
    row: Index


@dataclass(frozen=True)
class _Depthwise:
    builder: KernelBuilder
    conv: Depthwise
    schedule: DepthwiseSchedule
    source: SSAValue
    filters: SSAValue
    bias: SSAValue | None
    plan: Plan
    epilogue: TileEmitter

    def emit(self) -> None:
        """Filters before the loop over tiles where all tiles have all channels, else in it."""
        b, conv, s = self.builder, self.conv, self.schedule
        whole = self._filters(0, conv.channels) if s.channels == conv.channels else None
        with b.block_loop(tile_counts(conv, s), s.blocks) as position:
            *outer, rows_at, columns_at, channels_at = position
            row, column, channel = (
                b.mul(at, tile)
                for at, tile in (
                    (rows_at, s.rows),
                    (columns_at, s.columns),
                    (channels_at, s.channels),
                )
            )
            tile = _Tile(
                tuple(outer),
                row,
                b.rest(conv.near.output, row, s.rows),
                column,
                b.rest(conv.last.output, column, s.columns),
                channel,
                b.rest(conv.channels, channel, s.channels),
            )
            filters = whole or self._filters(channel, tile.channels)
            self._bind(tile)
            self._tiles(tile, filters)

    # What is loaded

    def _filters(self, channel: Index, channels: Index) -> _Filters:
        rows = self._rows(self.filters, self.conv.taps, channel, channels)
        bias = None if self.bias is None else self._rows(self.bias, 1, channel, channels)
        return _Filters(rows, bias)

    def _rows(self, view: SSAValue, count: int, channel: Index, channels: Index) -> SSAValue:
        b = self.builder
        capacity = (count, self.schedule.channels)
        rows = b.tile(Space.UB, capacity, "f32", (count, channels))
        self._load(b.subview(view, [0, channel], [count, channels]), rows, capacity)
        return rows

    def _input(self, tile: _Tile, far: Sequence[Index], taps: tuple[Index, Index]) -> _Input:
        """The input rows of a tile. Of one output row those of the kernel positions [low, high),
        else the run of rows that the tile needs."""
        b, conv, s = self.builder, self.conv, self.schedule
        near, last = conv.near, conv.last
        if s.rows > 1:
            first, rows = span_of(b, near, tile.row, tile.rows)
            step, certain = 1, meets(near)
        else:
            low, high = taps
            step, certain = near.dilation, int(near.counts(False).min()) > 0
            start = b.sub(b.mul(tile.row, near.stride), near.begin)
            first, rows = b.add(start, b.mul(low, step)), b.sub(high, low)
        row = first
        column, columns = span_of(b, last, tile.column, tile.columns)
        left = b.sub(column, b.sub(b.mul(tile.column, last.stride), last.begin))
        with ExitStack() as guard:
            width = spread(last, s.columns)
            value = b.alloc(Space.UB, (input_rows(conv, s), width, s.channels), "f32", "rows")
            at = left
            if not (certain and meets(last)):
                columns, left = b.max(columns, 0), b.min(left, width)
                zero = guard.enter_context(b.loop(0, b.min(b.min(rows, columns), 1), 1))
                row, at = b.add(row, zero), b.add(left, zero)
            offsets = [tile.outer[0], *far, row, column, tile.channel]
            sizes = [1, *(1 for _ in far), rows, columns, tile.channels]
            steps = [*(1 for _ in far), 1, step, 1, 1]
            drop = tuple(range(1 + len(far)))
            source = b.subview(self.source, offsets, sizes, steps, drop)
            part = b.subview(value, [0, at, 0], [rows, columns, tile.channels])
            self._load(source, part, (input_rows(conv, s), last.inputs_of(s.columns), s.channels))
        self._clear(value, 0, left if last.begin else 0)
        if (last.output - 1) * last.stride + spread(last, 1) > last.size + last.begin:
            end = b.add(b.mul(b.sub(tile.columns, 1), last.stride), spread(last, 1))
            self._clear(value, b.add(left, columns), end)
        return _Input(value, first)

    def _load(self, source: SSAValue, dest: SSAValue, capacity: Sequence[int]) -> None:
        """A part of gm to where it belongs in ub, as f32."""
        b, dtype = self.builder, self.conv.dtype
        if dtype == "f32":
            b.op(LoadOp, source, dest)
            return
        raw = b.tile(Space.UB, capacity, dtype, b.sizes(source))
        b.op(LoadOp, source, raw)
        b.op(VCastOp, raw, dest)

    def _clear(self, rows: SSAValue, start: Index, stop: Index) -> None:
        """Zeros in columns [start, stop) of all rows, that lie in the padding."""
        b = self.builder
        zero = b.scalar(0.0, "f32")
        height, _, width = (size or 1 for size in b.layout(rows).shape)
        if isinstance(start, int) and isinstance(stop, int):
            if start < stop:
                b.op(VBrcOp, zero, b.subview(rows, [0, start, 0], [height, stop - start, width]))
            return
        with b.loop(start, stop, 1, "z") as column:
            b.op(VBrcOp, zero, b.subview(rows, [0, column, 0], [height, 1, width], drop=(1,)))

    # What is computed

    def _bind(self, tile: _Tile) -> None:
        """Tells the epilogue where the tile lies; the row comes later."""
        spans: list[tuple[Index, Index]] = [(at, 1) for at in tile.outer]
        spans += [(tile.row, 1), (tile.column, tile.columns), (tile.channel, tile.channels)]
        for axis, span in zip(self.conv.places, spans, strict=True):
            if axis is not None and axis != self.conv.swept:
                self.epilogue.bound[axis] = span

    def _tiles(self, tile: _Tile, filters: _Filters) -> None:
        """The rows of a tile; all rows, some at a time, in the middle of an epilogue that reduces
        them."""
        b, near, s = self.builder, self.conv.near, self.schedule
        if self.conv.swept is None:
            actions = [item for item in self.plan.grid if isinstance(item, Action)]
            self._tile(tile, filters, actions)
            return
        for item in self.plan.grid:
            if isinstance(item, Action):
                self.epilogue.run([item])
                continue
            with b.loop(0, near.output, s.rows, "s") as row:
                part = replace(tile, row=row, rows=b.rest(near.output, row, s.rows))
                self._tile(part, filters, [action for body in item.bodies for action in body])
            self.epilogue.bound.pop(item.axes[0])

    def _tile(self, tile: _Tile, filters: _Filters, after: Sequence[Action]) -> None:
        b, conv, s = self.builder, self.conv, self.schedule
        loaded = self._input(tile, (), (0, 0)) if s.rows > 1 else None
        with b.loop(0, tile.rows, 1, "r") as line:
            row = b.add(tile.row, line)
            accumulator = self._started(tile, filters)
            with ExitStack() as loops:
                far: list[Index] = []
                number: Index = 0
                for axis, at in zip(conv.far, tile.outer[1:], strict=True):
                    tap = loops.enter_context(b.loop(*taps_of(b, axis, at), 1, "k"))
                    first = b.sub(b.mul(at, axis.stride), axis.begin)
                    far.append(b.add(first, b.mul(tap, axis.dilation)))
                    number = b.add(b.mul(number, axis.kernel), tap)
                low, high = taps_of(b, conv.near, row)
                rows = loaded or self._input(tile, far, (low, high))
                tap = loops.enter_context(b.loop(low, high, 1, "k"))
                number = b.add(b.mul(number, conv.near.kernel), tap)
                at = self._line(rows, row, tap, low)
                self._accumulate(tile, rows, at, filters, number, accumulator)
            self._finish(row, accumulator, after)

    def _started(self, tile: _Tile, filters: _Filters) -> SSAValue:
        """The accumulator of a row: its bias, or zero."""
        b, s = self.builder, self.schedule
        shape = (s.columns, s.channels)
        accumulator = b.tile(Space.UB, shape, "f32", (tile.columns, tile.channels), "acc")
        if filters.bias is None:
            b.op(VBrcOp, b.scalar(0.0, "f32"), accumulator)
        elif tile.columns == 1:
            b.op(CopyOp, filters.bias, accumulator)
        else:
            b.op(VBrcOp, filters.bias, accumulator)
        return accumulator

    def _line(self, rows: _Input, row: Index, tap: Index, low: Index) -> Index:
        """Which of the loaded rows a kernel position of an output row reads."""
        b, near = self.builder, self.conv.near
        if self.schedule.rows == 1:
            return b.sub(tap, low)
        first = b.sub(b.mul(row, near.stride), near.begin)
        return b.sub(b.add(first, tap), rows.row)

    def _accumulate(
        self,
        tile: _Tile,
        rows: _Input,
        line: Index,
        filters: _Filters,
        number: Index,
        accumulator: SSAValue,
    ) -> None:
        """One row of the input: a product for each kernel position along it, then their sum."""
        b, last = self.builder, self.conv.last
        each = products(self.conv)
        for first in range(0, last.kernel, each):
            parts = [accumulator]
            for tap in range(first, min(first + each, last.kernel)):
                at = b.add(b.mul(number, last.kernel), tap)
                weight = b.subview(filters.rows, [at, 0], [1, tile.channels])
                parts.append(self._product(tile, rows, line, tap, weight))
            while len(parts) > 1:
                for left, right in zip(parts[::2], parts[1::2], strict=False):
                    b.op(VAddOp, left, right, left)
                parts = parts[::2]

    def _product(
        self, tile: _Tile, rows: _Input, line: Index, tap: int, weight: SSAValue
    ) -> SSAValue:
        b, last, s = self.builder, self.conv.last, self.schedule
        sizes = (tile.columns, tile.channels)
        step = 1 if tile.columns == 1 else last.stride
        part = b.subview(
            rows.value, [line, tap * last.dilation, 0], [1, *sizes], [1, step, 1], drop=(0,)
        )
        product = b.tile(Space.UB, (s.columns, s.channels), "f32", sizes, "product")
        b.op(VMulOp, part, weight, product)
        return product

    def _finish(self, row: Index, accumulator: SSAValue, after: Sequence[Action]) -> None:
        """What follows the convolution, on one row of the tile."""
        b, conv = self.builder, self.conv
        if conv.places[-3] is not None:
            self.epilogue.bound[conv.places[-3]] = (row, 1)
        buffer = self.plan.resident
        if buffer is None:
            raise RefusalError("epilogue-tile", "the epilogue does not read the convolution")
        drop = tuple(
            i for i, axis in enumerate(conv.places[-2:]) if axis is None or axis not in buffer.dims
        )
        if len(drop) == 2:
            drop = (0,)
        if drop:
            accumulator = b.subview(accumulator, [0, 0], b.sizes(accumulator), drop=drop)
        self.epilogue.views[buffer] = accumulator
        self.epilogue.run(after)
