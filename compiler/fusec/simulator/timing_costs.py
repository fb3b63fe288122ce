"""What one instruction costs: how long it keeps its pipe, when its result is there, what it moves.

In: a decoded instruction with its sizes, and the target. A move is limited by its engine and by its
core's share of HBM or L2; in a mixed kernel the vector cores of a cube core share its vector work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from fusec.hw.target import DTYPE_BYTES, Target
from fusec.simulator.form import (
    AGENTS,
    BLOCK,
    SCALAR_OF,
    Instr,
    Kernel,
    View,
)
from fusec.simulator.timing_facts import Facts
from fusec.simulator.timing_shapes import Axis, Box, Operands, joined

BLOCK_BYTES = 32
"""The vector unit reads ub in blocks, up to eight of them a repeat, each at its own address."""
FRACTAL_ROWS = 16
BANK_BYTES = 512
"""Bank groups of ub repeat after this many bytes: two sources that do not lie half of it apart meet
in one group (asc-devkit, examples 05_best_practices, UB bank conflicts)."""

MOVES = ("load", "store", "fixpipe")


@dataclass(frozen=True, slots=True)
class Cost:
    """`issue` cycles of the scalar pipe `scalar`, then `occupancy` cycles of `agent`; the result is
    there `tail` cycles after that."""

    agent: int
    scalar: int
    issue: float
    occupancy: float
    tail: float


def moved(instr: Instr, values: tuple[int, ...]) -> tuple[int, int, bool] | None:
    """(argument, bytes, whether they are written) that cross the gm port; None if nothing does."""
    if instr.kind not in MOVES:
        return None
    is_load = instr.kind == "load"
    box = Operands(instr, values).box(0 if is_load else 1)
    argument = box.view.buffer.argument
    return None if argument is None else (argument, box.nbytes, not is_load)


class Costs:
    """The costs of a kernel's instructions when `cores` blocks run at once.

    `missing`: for each gm argument, the part of what is read that comes from HBM.
    """

    def __init__(
        self, kernel: Kernel, target: Target, facts: Facts, cores: int, missing: Sequence[float]
    ):
        self.kernel = kernel
        self.target = target
        self.facts = facts
        self.cores = cores
        self.missing = missing
        self.split = target.vector_per_cube if kernel.core == "mixed" else 1

    def cost(self, index: int, values: tuple[int, ...], level: int) -> Cost:
        """Of one instruction in a loop body (or block) of that level."""
        instr = self.kernel.instructions[index]
        occupancy, tail = self._work(Operands(instr, values))
        scalar = SCALAR_OF[instr.agent]
        addresses = sum(
            isinstance(o, View) and o.level == level and level > BLOCK for o in instr.operands
        )
        issue = self.target.scalar_op_cycles * (1 + addresses)
        return Cost(instr.agent, scalar, issue, occupancy, tail)

    def _work(self, operands: Operands) -> tuple[float, float]:
        instr = operands.instr
        if not all(box.elements for box in operands.boxes()):
            return 0.0, 0.0
        match instr.kind:
            case "load":
                return self._load(operands.box(0), operands.box(1))
            case "store":
                return self._move("ub->gm", operands.box(1), operands.box(0), 0.0)
            case "fixpipe":
                return self._move("l0c->gm", operands.box(1), None, 0.0)
            case "mmad":
                return self._mmad(operands), 0.0
            case "copy" if operands.dest.view.space != "ub":
                return self._to_l0(operands.box(0), operands.dest.view.space), 0.0
            case "vbrc" if operands.dest.view.space == "l1":
                return self.target.transfer_cost("gm->l1", operands.dest.nbytes), 0.0
            case "vreduce":
                return self._reduce(operands)
            case "vtranspose":
                dest = operands.dest
                return self._shared(self._vector_cost("vtranspose", dest.view.dtype, dest.elements))
            case _:
                return self._vector(operands)

    # Moves

    def _load(self, source: Box, dest: Box) -> tuple[float, float]:
        argument = source.view.buffer.argument
        missing = 0.0 if argument is None else self.missing[argument]
        if dest.view.space == "ub":
            return self._move("gm->ub", source, dest, missing)
        fractal = dest.view.buffer.layout != "nd" and len(dest.sizes) > 1
        return self._move("gm->l1:nd2nz" if fractal else "gm->l1", source, None, missing)

    def _move(self, engine: str, far: Box, near: Box | None, missing: float) -> tuple[float, float]:
        """Between gm (`far`) and a core. `near` is None where the core's memory is not row-major,
        so that a burst ends with its row. A move has bursts in one dimension; more of them repeat
        it."""
        way = self.target.transfer(engine)
        item, gm_line = far.view.buffer.itemsize, self.target.alignment("gm")
        if near is None:
            axes = [Axis(n, (s,)) for n, s in zip(far.sizes, far.strides, strict=True) if n != 1]
        else:
            axes = joined(far.sizes, (far.strides, near.spread(far.sizes)))
        is_run = bool(axes) and all(step == 1 for step in axes[-1].strides)
        outer = axes[:-1] if is_run else axes
        bursts = prod(axis.size for axis in outer)
        aligned = self.facts.aligned(far.view, gm_line) and all(
            axis.strides[0] * item % gm_line == 0 for axis in outer
        )
        split = self.split if near is not None else 1
        rates = {"hbm": missing, "l2": 1.0 - missing}
        cycles = sum(
            part
            * self.target.transfer_cost(
                engine,
                -(-far.nbytes // split),
                bursts=-(-bursts // split),
                aligned=aligned,
                level=level,
                cores=self.cores * split,
            )
            for level, part in rates.items()
            if part
        )
        repeated = -(-prod(axis.size for axis in outer[:-1]) // split) - 1
        return cycles + max(repeated, 0) * way.head, way.latency

    def _to_l0(self, source: Box, space: str) -> float:
        item = source.view.buffer.itemsize
        rows, columns = (1, *source.sizes)[-2:]
        row_bytes = _up(columns * item, BLOCK_BYTES)
        nbytes = prod(source.sizes[:-2]) * _up(rows, FRACTAL_ROWS) * row_bytes
        return self.target.transfer_cost(f"l1->{space}", nbytes)

    def _mmad(self, operands: Operands) -> float:
        a, acc = operands.box(0), operands.box(3)
        (m, k), n = a.sizes[-2:], acc.sizes[-1]
        cycles = self.target.mmad_cost(m, k, n, a.view.dtype)
        has_bias = len(operands.instr.operands) > 4 and operands.number(2)
        if has_bias and self.target.has_path("l1", "bt"):
            cycles += self.target.transfer_cost("l1->bt", operands.box(4).nbytes)
        return cycles

    # Vector work

    def _vector(self, operands: Operands) -> tuple[float, float]:
        """Elementwise, with inline broadcast: one repeat covers 256 bytes of a contiguous run, or
        eight blocks of 32 bytes that are evenly apart."""
        instr, dest, boxes = operands.instr, operands.dest, operands.boxes()
        dtype = max((b.view.dtype for b in boxes), key=lambda name: DTYPE_BYTES[name])
        row = self.target.vector_row(_row_name(instr), dtype)
        walked = [box.spread(dest.sizes) for box in boxes]
        repeats, partial = self._repeats(joined(dest.sizes, walked), DTYPE_BYTES[dtype])
        cycles = row.repeat * repeats * self._conflict(boxes, walked)
        cycles += self.target.vector.partial_repeat if partial else 0.0
        tail = row.head
        if any(steps and steps[-1] == 0 and dest.sizes[-1] != 1 for steps in walked):
            spread = self.target.vector_row("vbrc", dtype)
            cycles += spread.repeat * -(-(dest.elements // dest.sizes[-1]) // 8)
            tail += spread.head
        return self._shared((cycles, tail))

    def _repeats(self, axes: list[Axis], item: int) -> tuple[int, bool]:
        """Repeats of an instruction over these axes, and whether the last one is not full."""
        full = self.target.vector.repeat_bytes
        if not axes:
            return 1, True
        last = axes[-1]
        is_run = all(step in (0, 1) for step in last.strides)
        run = last.size * item if is_run else item
        count = prod(axis.size for axis in (axes[:-1] if is_run else axes))
        steps = (axes[-2] if is_run and len(axes) > 1 else last).strides
        if run <= BLOCK_BYTES and all(step * item % BLOCK_BYTES == 0 for step in steps):
            return -(-count * BLOCK_BYTES // full), run < BLOCK_BYTES
        return count * -(-run // full), run % full != 0

    def _conflict(self, boxes: list[Box], walked: list[tuple[int, ...]]) -> float:
        """The factor of two sources in one bank group, judged at the first iteration's
        addresses."""
        if len(boxes) != 3 or any(0 in steps for steps in walked[:2]):
            return 1.0
        starts = [_start(box.view) for box in boxes[:2]]
        apart = abs(starts[0] - starts[1]) % BANK_BYTES == BANK_BYTES // 2
        return 1.0 if apart else self.target.vector.bank_conflict

    def _reduce(self, operands: Operands) -> tuple[float, float]:
        """Over the last axis, over others, or over both one after the other."""
        source, dims = operands.box(0), operands.instr.dims
        last = len(source.sizes) - 1
        total, tail, elements = 0.0, 0.0, source.elements
        others = prod(source.sizes[d] for d in dims if d != last)
        dtype = source.view.dtype
        if others > 1:
            total += self.target.reduce_cost(dtype, others, elements // others, last_axis=False)
            tail = self.target.vector_row("vadd", dtype).head
            elements //= others
        if last in dims:
            columns = source.sizes[last]
            total += self.target.reduce_cost(dtype, elements // columns, columns)
            tail = self.target.vector_row("vreduce", dtype).head
        return self._shared((max(total - tail, 0.0), tail))

    def _vector_cost(self, op: str, dtype: str, elements: int) -> tuple[float, float]:
        head = self.target.vector_row(op, dtype).head
        return self.target.vector_cost(op, dtype, elements) - head, head

    def _shared(self, cost: tuple[float, float]) -> tuple[float, float]:
        return cost[0] / self.split, cost[1]


def _row_name(instr: Instr) -> str:
    """The row of the target's table of vector costs."""
    has_scalar = not all(isinstance(o, View) for o in instr.operands)
    return f"{instr.kind}:scalar" if has_scalar else instr.kind


def _start(view: View) -> int:
    return (view.buffer.address or 0) + view.offset.constant * view.buffer.itemsize


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def agent_name(agent: int) -> str:
    """As reports write it, such as `vector.mte2`."""
    return f"{AGENTS[agent].core.value}.{AGENTS[agent].pipe.value}"
