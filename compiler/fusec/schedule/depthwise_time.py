"""Modelled time of a depthwise convolution, pipe by pipe.

In: problem, schedule and the `Work` of what follows on the same core. Out: the `Work` of both.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.depthwise_problem import Depthwise
from fusec.schedule.depthwise_schedule import DepthwiseSchedule, products
from fusec.schedule.footprint import BLOCK, REPEAT, padded
from fusec.schedule.ways import way_of
from fusec.schedule.work import Work


class After(NamedTuple):
    """What follows a convolution on the same core: cycles by pipe, bytes through gm."""

    v: float = 0.0
    mte2: float = 0.0
    mte3: float = 0.0
    gm_bytes: int = 0


class Spent(NamedTuple):
    """Cycles in all and by pipe, bytes through gm."""

    cycles: float
    gm_bytes: int
    mte2: float
    v: float
    mte3: float


class ConvTime:
    """The time of one convolution as a function of its tiles."""

    def __init__(self, conv: Depthwise, target: Target) -> None:
        self.conv = conv
        self.target = target
        self._size = DTYPE_BYTES[conv.dtype]
        self._near, self._last = conv.near, conv.last
        self._outer = conv.batch * prod(axis.output for axis in conv.far)
        self._far = prod(axis.kernel for axis in conv.far)
        self._taps, self._met = conv.taps, conv.met
        self._filter_rows = conv.taps + (conv.bias is not None)
        self._swept = conv.swept is not None
        self._kernel_rows = min(self._near.kernel, self._near.size)
        self._aligned = conv.channels * self._size % target.alignment("gm") == 0
        self._head = target.transfer("gm->ub").head
        self._latency = target.transfer("gm->ub").latency + target.transfer("ub->gm").latency
        self._product = target.vector_row("vmul", "f32")
        self._total = target.vector_row("vadd", "f32")
        self._fill = target.vector_row("vbrc", "f32").repeat
        done = products(conv)
        self._waits = -(-self._last.kernel // done) * (1 + done.bit_length())
        self._lines = self._met * (self._taps // self._last.kernel)
        self.touched = (prod(conv.source.sizes) + conv.taps * conv.channels) * self._size

    def count(self, s: DepthwiseSchedule) -> int:
        """How many tiles there are."""
        rows = 1 if self._swept else -(-self._near.output // s.rows)
        columns = -(-self._last.output // s.columns)
        return self._outer * rows * columns * -(-self.conv.channels // s.channels)

    def spent(self, s: DepthwiseSchedule, after: After) -> Spent:
        """Loads, products and sums, and what follows them, on the busiest core."""
        target, whole = self.target, s.channels == self.conv.channels
        rounds = -(-self.count(s) // s.blocks)
        parts = -(-self._near.output // s.rows) if self._swept else 1
        lines = self._near.inputs_of(s.rows) if s.rows > 1 else self._kernel_rows
        inputs = self._last.inputs_of(s.columns)
        often = 1 if whole else rounds
        share = self._met if s.rows == 1 else 1.0
        filters = self._load(s, 1, self._filter_rows)
        block = self._far * share * self._load(s, lines, inputs)
        casts = filter_casts = 0.0
        if self.conv.dtype != "f32":
            width = padded(s.channels, "f32")
            cast = target.vector_cost("vcast", "f32", lines * inputs * width)
            casts = self._far * share * cast
            filter_casts = target.vector_cost("vcast", "f32", self._taps * width)
        mte2 = after.mte2 + rounds * parts * block + often * filters
        rows = s.rows * self._row(s) + casts
        v = after.v + rounds * parts * rows + often * filter_casts
        longest, sequence = max(mte2, v, after.mte3), mte2 + v + after.mte3
        overlapped = s.copies > 1 and rounds * parts > 1
        cycles = min(sequence, longest + filters + block) if overlapped else sequence
        loaded = rounds * parts * self._far * share * lines * inputs + often * self._taps
        moved = after.gm_bytes + int(s.blocks * loaded * s.channels * self._size)
        return Spent(cycles + self._latency, moved, mte2, v, after.mte3)

    def score(self, s: DepthwiseSchedule, after: After, touched: int) -> tuple[float, float]:
        """µs as `estimate_of` has them, and cycles; `touched`: bytes of what follows."""
        spent, target = self.spent(s, after), self.target
        hbm = (touched + self.touched) / (target.hbm_gbps * 1e3)
        l2 = spent.gm_bytes / (target.l2_gbps * 1e3)
        us = target.launch_us["vector"] + max(spent.cycles / target.clock_mhz, hbm, l2)
        return max(us, target.floor_us["vector"]), spent.cycles

    def work(self, s: DepthwiseSchedule, after: Work) -> Work:
        """The work of what follows with the convolution before it."""
        pipes = after.pipes
        follow = After(pipes["v"], pipes["mte2"], pipes["mte3"], after.gm_bytes)
        spent = self.spent(s, follow)
        return Work(
            kind="vector",
            cycles=spent.cycles,
            gm_bytes=spent.gm_bytes,
            hbm_bytes=after.hbm_bytes + self.touched,
            pipes={"mte2": spent.mte2, "v": spent.v, "mte3": spent.mte3},
        )

    def _load(self, s: DepthwiseSchedule, lines: int, each: int) -> float:
        """Cycles to load `lines` runs of `each` positions; a part of the channels is a burst for
        each position, and each line a move of its own."""
        whole = s.channels == self.conv.channels
        bursts = lines if whole else lines * each
        size = lines * each * s.channels * self._size
        cycles = way_of(self.target, "gm->ub", s.blocks).cycles(size, bursts, self._aligned)
        return cycles if whole else cycles + (lines - 1) * self._head

    def _row(self, s: DepthwiseSchedule) -> float:
        """Cycles of products and sums of one row of a tile, waits for the instruction before
        included. Products are walked position by position, sums lie together."""
        target = self.target
        run = -(-s.channels * 4 // REPEAT)
        row = -(-s.channels * 4 // BLOCK) * BLOCK
        repeats = -(-s.columns * row // target.vector.repeat_bytes)
        tap = self._product.repeat * s.columns * run
        tap += target.vector.partial_repeat if s.channels * 4 % REPEAT else 0.0
        tap += self._total.repeat * repeats * target.vector.bank_conflict
        line = self._last.kernel * tap + self._waits * self._total.head
        return self._lines * line + self._fill * repeats
