"""Modelled time of a depthwise convolution, pipe by pipe.

In: problem, schedule and the `Work` of what follows on the same core. Out: the `Work` of both.
"""

from __future__ import annotations

from math import prod

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.depthwise_problem import Depthwise
from fusec.schedule.depthwise_schedule import DepthwiseSchedule, input_rows, products, tile_counts
from fusec.schedule.footprint import REPEAT, padded
from fusec.schedule.work import Work


def with_convolution(conv: Depthwise, s: DepthwiseSchedule, target: Target, after: Work) -> Work:
    """The work of what follows, `after`, with the loads, products and sums before it."""
    size = DTYPE_BYTES[conv.dtype]
    tiles = prod(tile_counts(conv, s))
    rounds = -(-tiles // s.blocks)
    parts = 1 if conv.swept is None else -(-conv.near.output // s.rows)
    far = prod(axis.kernel for axis in conv.far)
    lines, inputs = input_rows(conv, s), conv.last.inputs_of(s.columns)
    often = 1 if s.channels == conv.channels else rounds
    share = conv.met if s.rows == 1 else 1.0
    filters = _load(conv, s, target, 1, conv.taps + (conv.bias is not None))
    block = far * share * _load(conv, s, target, lines, inputs)
    casts = filter_casts = 0.0
    if conv.dtype != "f32":
        width = padded(s.channels, "f32")
        casts = far * share * target.vector_cost("vcast", "f32", lines * inputs * width)
        filter_casts = target.vector_cost("vcast", "f32", conv.taps * width)
    pipes = {
        "mte2": after.pipes["mte2"] + rounds * parts * block + often * filters,
        "v": after.pipes["v"]
        + rounds * parts * (s.rows * _row(conv, s, target) + casts)
        + often * filter_casts,
        "mte3": after.pipes["mte3"],
    }
    longest, sequence = max(pipes.values()), sum(pipes.values())
    overlapped = s.copies > 1 and rounds * parts > 1
    cycles = min(sequence, longest + filters + block) if overlapped else sequence
    latency = target.transfer("gm->ub").latency + target.transfer("ub->gm").latency
    loaded = rounds * parts * far * share * lines * inputs + often * conv.taps
    return Work(
        kind="vector",
        cycles=cycles + latency,
        gm_bytes=after.gm_bytes + int(s.blocks * loaded * s.channels * size),
        hbm_bytes=after.hbm_bytes + (prod(conv.source.sizes) + conv.taps * conv.channels) * size,
        pipes=pipes,
    )


def _load(conv: Depthwise, s: DepthwiseSchedule, target: Target, lines: int, each: int) -> float:
    """Cycles to load `lines` runs of `each` positions; a part of the channels is a burst for each
    position, and each line a move of its own."""
    size = DTYPE_BYTES[conv.dtype]
    whole = s.channels == conv.channels
    cycles = target.transfer_cost(
        "gm->ub",
        lines * each * s.channels * size,
        bursts=lines if whole else lines * each,
        aligned=conv.channels * size % target.alignment("gm") == 0,
        cores=s.blocks,
    )
    return cycles if whole else cycles + (lines - 1) * target.transfer("gm->ub").head


def _row(conv: Depthwise, s: DepthwiseSchedule, target: Target) -> float:
    """Cycles of products and sums of one row of a tile, waits for the instruction before included.
    Products are walked position by position, sums lie together."""
    product, total = target.vector_row("vmul", "f32"), target.vector_row("vadd", "f32")
    run = -(-s.channels * 4 // REPEAT)
    repeats = target.repeats("f32", s.columns * padded(s.channels, "f32"))
    tap = product.repeat * s.columns * run
    tap += target.vector.partial_repeat if s.channels * 4 % REPEAT else 0.0
    tap += total.repeat * repeats * target.vector.bank_conflict
    done = products(conv)
    waits = -(-conv.last.kernel // done) * (1 + done.bit_length())
    line = conv.last.kernel * tap + waits * total.head
    lines = conv.met * (conv.taps // conv.last.kernel)
    return lines * line + target.vector_row("vbrc", "f32").repeat * repeats
