"""Pooling: the geometry of a window kernel, its schedule and its modelled time.

In: a region of one max_pool or average_pool, channels last, with views around it. Out: a
`WindowSchedule`, or a Refusal. A tile is part of a row of the output with part of its channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar, cast

import numpy as np

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.axes import dtype_of
from fusec.schedule.footprint import BLOCK, padded
from fusec.schedule.region import Region, once
from fusec.schedule.types import Refusal, RefusalError, Schedule, ScheduleError
from fusec.schedule.unit_types import type_refusal
from fusec.schedule.vector import VectorSchedule, schedule_vector
from fusec.schedule.views import VIEWS, Access, checked, load_access, store_access
from fusec.schedule.ways import way_of
from fusec.schedule.work import Work
from fusec.semantics import Array
from fusec_dialects.graph import GraphOp
from fusec_dialects.place import place

POOLS = frozenset({"max_pool", "average_pool"})

INVERSE_WIDTH = BLOCK // 4
"""Elements of a row of the constant of inverse counts, one block: the first one counts."""


@dataclass(frozen=True)
class WindowAxis:
    """One spatial axis: sizes of input and output, and how the window moves along it."""

    size: int
    output: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int

    def range_of(self, tap: int) -> tuple[int, int]:
        """Outputs [low, high) for which kernel position `tap` lies on the input."""
        shift = tap * self.dilation - self.begin
        low = max(0, -(shift // self.stride))
        return low, min(self.output, (self.size - 1 - shift) // self.stride + 1)

    def inputs_of(self, outputs: int) -> int:
        """Inputs that a run of outputs spans."""
        return min(self.size, (outputs - 1) * self.stride + (self.kernel - 1) * self.dilation + 1)

    def counts(self, include_pad: bool) -> Array:
        """Kernel positions of each output that lie on data, or on data and padding."""
        low = -self.begin if include_pad else 0
        high = self.size + (self.end if include_pad else 0)
        starts = np.arange(self.output) * self.stride - self.begin
        places = np.add.outer(starts, np.arange(self.kernel) * self.dilation)
        return ((places >= low) & (places < high)).sum(axis=1)


@dataclass(frozen=True, eq=False)
class Window:
    """A pooling operator with strides of its input and output: batch, spatial axes, channels."""

    op: GraphOp
    dtype: str
    batch: int
    channels: int
    axes: tuple[WindowAxis, ...]
    source: Access
    dest: Access
    source_strides: tuple[int, ...]
    dest_strides: tuple[int, ...]

    @property
    def average(self) -> bool:
        return self.op.op_name == "average_pool"

    @property
    def computed(self) -> str:
        """The type that the window is computed in."""
        if self.average or self.dtype == "bf16":
            return "f32"
        return self.dtype

    @cached_property
    def counts(self) -> Array:
        """How many elements each output averages, over the spatial axes."""
        include = bool(self.op.attrs()["count_include_pad"])
        total = np.ones((), np.int64)
        for axis in self.axes:
            total = np.multiply.outer(total, axis.counts(include))
        return total

    @property
    def uniform_count(self) -> int | None:
        """The one count of all outputs; None where they differ."""
        first = int(self.counts.flat[0])
        return first if bool((self.counts == first).all()) else None


@dataclass(frozen=True)
class WindowSchedule(Schedule):
    """A tile is `columns` outputs along the last spatial axis, with `channels` channels."""

    family: ClassVar[str] = "window"

    columns: int
    channels: int
    blocks: int
    copies: int = 2


@once
def window_problem(region: Region) -> Window:
    """The pooling operator of a region; RefusalError where it is not one that has a kernel."""
    ops = [op for op in region.compute_ops if op.op_name not in VIEWS]
    if len(ops) != 1 or ops[0].op_name not in POOLS:
        raise RefusalError("window", "a window kernel is one pooling operator, with views around")
    op = ops[0]
    attrs = op.attrs()
    if attrs["layout"] != "NHWC":
        raise RefusalError(
            "layout", f"{place(op)} has channels first; graph-assign-layout gives it channels last"
        )
    dtype = dtype_of(op.operands[0])
    allowed = ("f32", "f16", "bf16") + (("i32",) if op.op_name == "max_pool" else ())
    if dtype not in allowed:
        raise type_refusal(place(op), dtype, allowed, "has no pooling kernel here")
    if len(region.outputs) != 1:
        raise RefusalError("window", f"{place(op)}: a window kernel has one output")
    source = checked(load_access(region, op.operands[0]))
    value, dest = checked(store_access(region, region.outputs[0]))
    if value is not op.results[0]:
        raise RefusalError("window", f"{place(op)} is followed by more than views")
    strides = source.strides, dest.strides
    if strides[0] is None or strides[1] is None or not _channels_last(source, dest):
        raise RefusalError(
            "window-view", f"{place(op)}: views around it leave the channels not contiguous"
        )
    sizes, outputs = source.sizes, dest.sizes
    keys = ("kernel_shape", "strides", "dilations", "pads")
    kernel, steps, dilations, pads = (cast("tuple[int, ...]", attrs[k]) for k in keys)
    rank = len(kernel)
    if min(pads, default=0) < 0:
        raise RefusalError("window-pads", f"{place(op)}: pads {list(pads)} are negative")
    axes = tuple(
        WindowAxis(
            sizes[1 + i], outputs[1 + i], kernel[i], steps[i], dilations[i], pads[i], pads[rank + i]
        )
        for i in range(rank)
    )
    return Window(op, dtype, sizes[0], sizes[-1], axes, source, dest, strides[0], strides[1])


def _channels_last(*accesses: Access) -> bool:
    return all(not a.dims[-1] or a.dims[-1][-1].stride == 1 for a in accesses)


def tile_bytes(window: Window, columns: int, channels: int, copies: int) -> int:
    """Bytes of ub of one tile: input rows and results in `copies`, accumulator, casts, scratch."""
    inputs = window.axes[-1].inputs_of(columns)
    storage, computed = window.dtype, window.computed

    def rows(count: int, dtype: str) -> int:
        return count * padded(channels, dtype) * DTYPE_BYTES[dtype]

    total = copies * rows(inputs, storage) + copies * rows(columns, computed)
    if storage != computed:
        total += rows(inputs, computed) + copies * rows(columns, storage)
    if window.average and window.uniform_count is None:
        total += copies * columns * BLOCK + rows(columns, computed)
    return total


def tile_counts(window: Window, schedule: WindowSchedule) -> tuple[int, ...]:
    """Tiles along batch, outer spatial axes, last spatial axis, channels."""
    *outer, last = window.axes
    return (
        window.batch,
        *(axis.output for axis in outer),
        -(-last.output // schedule.columns),
        -(-window.channels // schedule.channels),
    )


def check_window(region: Region, schedule: WindowSchedule, target: Target) -> Refusal | None:
    """Why a schedule, perhaps written by hand, is not one of this region; None if it is."""
    try:
        _check(window_problem(region), schedule, target)
    except RefusalError as error:
        return error.refusal
    except ScheduleError as error:
        return Refusal("schedule", str(error))
    return None


def _check(window: Window, schedule: WindowSchedule, target: Target) -> None:
    most = window.axes[-1].output
    if not (1 <= schedule.columns <= most and 1 <= schedule.channels <= window.channels):
        raise ScheduleError(
            f"a tile of {schedule.columns} columns and {schedule.channels} channels; there are "
            f"{most} and {window.channels}"
        )
    tiles = prod(tile_counts(window, schedule))
    if schedule.copies < 1 or not 1 <= schedule.blocks <= tiles:
        raise ScheduleError(
            f"{schedule.blocks} blocks, {schedule.copies} copies for {tiles} tiles: at least 1 of "
            "each, and no more blocks than tiles"
        )
    need = tile_bytes(window, schedule.columns, schedule.channels, 1)
    if need > target.capacity("ub"):
        raise RefusalError(
            "ub-capacity",
            f"a tile of {schedule.columns} x {schedule.channels} takes {need} bytes of ub, "
            f"{target.name} has {target.capacity('ub')}",
            {"need": need, "capacity": target.capacity("ub")},
        )


def schedule_window(region: Region, target: Target) -> WindowSchedule | VectorSchedule | Refusal:
    """The tile of least modelled time. A global pool is a mean: a kernel of the vector family."""
    if not any(op.op_name in POOLS for op in region.compute_ops):
        return schedule_vector(region, target)
    try:
        window = window_problem(region)
    except RefusalError as error:
        return error.refusal
    time = WindowTime(window, target)
    found: tuple[tuple[float, int, int], WindowSchedule] | None = None
    for candidate in window_candidates(window, target):
        score = time.score(candidate)
        if found is None or score < found[0]:
            found = (score, candidate)
    if found is None:
        need = tile_bytes(window, 1, min(window.channels, BLOCK // 4), 1)
        return Refusal(
            "ub-capacity",
            f"{place(window.op)}: one output with its window takes {need} bytes of ub, "
            f"{target.name} has {target.capacity('ub')}",
            {"need": need, "capacity": target.capacity("ub")},
        )
    return found[1]


def window_candidates(window: Window, target: Target) -> Iterator[WindowSchedule]:
    cores, room = target.cores("vector"), target.capacity("ub")
    for copies in (2, 1):
        any_fits = False
        for channels in _halves(window.channels, 128):
            for columns in _halves(window.axes[-1].output, 1):
                if tile_bytes(window, columns, channels, copies) > room:
                    continue
                any_fits = True
                draft = WindowSchedule(columns, channels, 1, copies)
                blocks = min(cores, prod(tile_counts(window, draft)))
                yield WindowSchedule(columns, channels, blocks, copies)
        if any_fits:
            return


def _halves(size: int, least: int) -> Iterator[int]:
    """The size and what halving it leaves, down to `least`, in whole blocks of channels."""
    each = 16 if least > 1 else 1
    yield size
    while size > least:
        size = -(-size // (2 * each)) * each
        yield size


def window_work(window: Window, schedule: WindowSchedule, target: Target) -> Work:
    """What the pipes of the busiest core do."""
    return WindowTime(window, target).work(schedule)


class WindowTime:
    """The time of one window as a function of its tiles."""

    def __init__(self, window: Window, target: Target) -> None:
        *outer, last = window.axes
        self._window = window
        self._target = target
        self._last = last
        self._lines = window.batch * prod(axis.output for axis in outer)
        self._rows = prod(axis.kernel for axis in outer)
        self._size = DTYPE_BYTES[window.dtype]
        self._each = max(1, BLOCK // DTYPE_BYTES[window.computed])
        self._kind = "vadd" if window.average else "vmax"
        self._touched = (prod(window.source.sizes) + prod(window.dest.sizes)) * self._size

    def count(self, s: WindowSchedule) -> int:
        """How many tiles there are."""
        window = self._window
        return self._lines * -(-self._last.output // s.columns) * -(-window.channels // s.channels)

    def _spent(self, s: WindowSchedule) -> tuple[float, int, float, float, float]:
        """Cycles, bytes through gm, cycles by pipe. Rows loaded, windows combined, results stored;
        border windows count as whole ones."""
        window, target, size = self._window, self._target, self._size
        columns, channels = s.columns, s.channels
        rounds = -(-self.count(s) // s.blocks)
        inputs = self._last.inputs_of(columns)
        whole = channels == window.channels
        loaded, stored = inputs * channels * size, columns * channels * size
        computed = window.computed
        width = -(-channels // self._each) * self._each
        taps = self._last.kernel * target.vector_cost(self._kind, computed, columns * width)
        cast_in = cast_out = 0.0
        if window.dtype != computed:
            cast_in = target.vector_cost("vcast", computed, inputs * channels)
            cast_out = target.vector_cost("vcast", computed, columns * channels)
        scale = target.vector_cost("vmul", computed, columns * channels) * (1 + window.average)
        load, store = way_of(target, "gm->ub", s.blocks), way_of(target, "ub->gm", s.blocks)
        runs = 1 if whole else inputs
        each = load.cycles(loaded, runs, loaded // runs % 512 == 0)
        mte2 = rounds * self._rows * each
        v = rounds * (self._rows * (taps + cast_in) + cast_out + scale)
        runs = 1 if whole else columns
        mte3 = rounds * store.cycles(stored, runs, stored // runs % 512 == 0)
        overlapped = max(mte2, v, mte3) if s.copies > 1 else mte2 + v + mte3
        first = load.cycles(loaded, 1, loaded % 512 == 0) + target.transfer("gm->ub").latency
        cycles = overlapped + first + target.transfer("ub->gm").latency
        moved = rounds * s.blocks * (self._rows * loaded + stored)
        return cycles, moved, mte2, v, mte3

    def work(self, s: WindowSchedule) -> Work:
        """What the pipes of the busiest core do."""
        cycles, moved, mte2, v, mte3 = self._spent(s)
        pipes = {"mte2": mte2, "v": v, "mte3": mte3}
        return Work("vector", cycles, moved, self._touched, pipes)

    def score(self, s: WindowSchedule) -> tuple[float, int, int]:
        """What tiles are compared by: µs, hundreds of cycles, tiles."""
        cycles, moved, *_ = self._spent(s)
        target = self._target
        hbm = self._touched / (target.hbm_gbps * 1e3)
        us = max(cycles / target.clock_mhz, hbm, moved / (target.l2_gbps * 1e3))
        us = max(target.launch_us["vector"] + us, target.floor_us["vector"])
        return round(us, 1), round(cycles / 100), self.count(s)
