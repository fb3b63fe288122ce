"""A kernel that is timed: its blocks by the work they do, its traffic with gm, its cycles.

`TimedKernel` is made once for a kernel; `on_blocks` once for a number of blocks; `run` once for
what of the arguments lies in L2. Blocks that do equal work are played once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import TypeVar

from fusec.hw.target import Target
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import (
    AGENTS,
    Barrier,
    BlockFlag,
    Flag,
    Kernel,
    Loop,
    Statement,
    scalar_loads,
)
from fusec.simulator.timing_costs import Costs, agent_name
from fusec.simulator.timing_facts import Facts
from fusec.simulator.timing_machine import BARRIER, BUSY, CAUSES, Counter, Known, Machine
from fusec.simulator.timing_program import Clock, Program, program_of

T = TypeVar("T")

MOST_KINDS = 16
"""So many kinds of blocks are played; the work of others is taken for that of the next more busy
one."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What the blocks of a launch move of one argument in total, and the range that they reach."""

    reads: int
    writes: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Played:
    """`cycles` from the start of the first block to the end of the last; `busy` and `stalls` are
    the means of the cores that take part."""

    cycles: float
    busy: dict[str, float]
    stalls: dict[str, float]


class TimedKernel:
    def __init__(self, kernel: Kernel, target: Target):
        """Raises SimulationError for a kernel without addresses or without synchronisation."""
        _check(kernel)
        self.kernel = kernel
        self.target = target
        self.program: Program = program_of(kernel)
        self._on_blocks: dict[int, Blocks] = {}

    def on_blocks(self, blocks: int) -> Blocks:
        known = self._on_blocks.get(blocks)
        if known is None:
            known = self._on_blocks[blocks] = Blocks(self, blocks)
        return known

    def play(self, clock: Clock, block: int, blocks: int) -> None:
        """Drives a clock through one block."""
        self._computed(lambda: self.program.run(clock, block, blocks))

    def work(self, block: int, blocks: int) -> Hashable:
        """A label of the work that a block does."""
        return self._computed(lambda: self.program.work(block, blocks))

    def _computed(self, program: Callable[[], T]) -> T:
        try:
            return program()
        except SimulationError:
            raise
        except (ValueError, ArithmeticError) as error:
            raise SimulationError(
                self.kernel.place,
                f"its scalars cannot be computed: {error}",
                "what memref.load reads is 0 here; the functional simulator has the data",
            ) from error


class Blocks:
    """A kernel on a number of blocks. `traffic` by argument; `instructions` of all blocks."""

    def __init__(self, timed: TimedKernel, blocks: int):
        self.timed = timed
        self.blocks = blocks
        kernel, target = timed.kernel, timed.target
        self.cores = min(blocks, target.cores(kernel.core))
        self.facts = Facts(kernel, blocks)
        self.kinds = self._kinds()
        self.instructions = 0
        reads, writes = [0] * len(kernel.arguments), [0] * len(kernel.arguments)
        weights: dict[int, int] = {}
        for first, numbers in self.kinds.items():
            counter = Counter(kernel)
            timed.play(counter, first, blocks)
            self.instructions += counter.instructions * len(numbers)
            for argument in range(len(kernel.arguments)):
                reads[argument] += counter.reads[argument] * len(numbers)
                writes[argument] += counter.writes[argument] * len(numbers)
            weights[first] = counter.instructions + sum(counter.reads) + sum(counter.writes)
        self.traffic = self._traffic(reads, writes)
        self.played_as = _representatives(weights)

    def run(self, missing: Sequence[float], *, play_all: bool = False) -> Played:
        """Plays the blocks when these parts of what is read of each argument come from HBM."""
        timed, target = self.timed, self.timed.target
        costs = Costs(timed.kernel, target, self.facts, self.cores, missing)
        known: Known = {}
        cycles: dict[int, float] = {}
        sums: dict[int, list[float]] = {}
        for first in dict.fromkeys(self.played_as.values()):
            machine = Machine(timed.kernel, target, costs, known, timed.program.events)
            machine.play_all = play_all
            timed.play(machine, first, self.blocks)
            cycles[first], sums[first] = machine.finish(), machine.sums
        total = [0.0] * len(next(iter(sums.values())))
        for first, numbers in self.kinds.items():
            share = len(numbers) / self.cores
            kind = sums[self.played_as[first]]
            total = [t + share * s for t, s in zip(total, kind, strict=True)]
        return Played(self._makespan(cycles), _busy(total), _stalls(total))

    def _kinds(self) -> dict[int, list[int]]:
        """The blocks that do equal work, by the first of them."""
        kinds: dict[Hashable, list[int]] = {}
        for block in range(self.blocks):
            work = self.timed.work(block, self.blocks)
            kinds.setdefault(work, []).append(block)
        return {numbers[0]: numbers for numbers in kinds.values()}

    def _traffic(self, reads: list[int], writes: list[int]) -> tuple[Traffic, ...]:
        kernel = self.timed.kernel
        spans: dict[int, tuple[int, int]] = {}
        views = [i.view(p) for i in kernel.instructions for p in (*i.reads, *i.writes)]
        for view in (*views, *scalar_loads(kernel.body)):
            argument = view.buffer.argument
            if argument is None:
                continue
            low, high = self.facts.span(view)
            known = spans.get(argument, (low, high))
            spans[argument] = min(low, known[0]), max(high, known[1])
        return tuple(
            Traffic(reads[i], writes[i], *spans.get(i, (0, 0)))
            for i in range(len(kernel.arguments))
        )

    def _makespan(self, cycles: dict[int, float]) -> float:
        """Blocks are given to cores in order, each to the first that is free."""
        times = {first: cycles[self.played_as[first]] for first in self.kinds}
        if self.blocks <= self.cores:
            return max(times.values())
        dispatch = self.timed.target.sync.block_dispatch_cycles
        by_block = {b: times[first] for first, numbers in self.kinds.items() for b in numbers}
        ends = [by_block[block] for block in range(self.cores)]
        heapify(ends)
        for block in range(self.cores, self.blocks):
            heapreplace(ends, ends[0] + dispatch + by_block[block])
        return max(ends)


def _representatives(weights: dict[int, int]) -> dict[int, int]:
    """Each kind of block (by its first) to the one that is played for it."""
    kinds = sorted(weights, key=lambda first: (weights[first], first))
    steps = min(len(kinds), MOST_KINDS)
    # The last of each of `steps` groups of about equal size.
    ends = [(step + 1) * len(kinds) // steps - 1 for step in range(steps)]
    played: dict[int, int] = {}
    for at, first in enumerate(kinds):
        end = next(e for e in ends if e >= at)
        played[first] = kinds[end]
    return played


def _busy(sums: list[float]) -> dict[str, float]:
    return {agent_name(agent): sums[agent] for agent in range(len(AGENTS)) if sums[agent]}


def _stalls(sums: list[float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for agent in range(len(AGENTS)):
        for cause in range(CAUSES):
            cycles = sums[BUSY + agent * CAUSES + cause]
            if not cycles:
                continue
            if cause < BARRIER:
                why = f"waits for {agent_name(cause)}"
            else:
                why = "waits at a barrier" if cause == BARRIER else "waits to be issued"
            found[f"{agent_name(agent)} {why}"] = cycles
    return found


def _check(kernel: Kernel) -> None:
    if not kernel.placed:
        raise SimulationError(
            kernel.place, "the kernel has no addresses", "run npu-place and npu-sync before"
        )
    for instr in kernel.instructions:
        if instr.kind == "mmad" and instr.view(0).space == "l1":
            raise SimulationError(
                instr.place, "it still moves from l1 to l0 itself", "run npu-expand-l0 before"
            )
    if len({instr.agent for instr in kernel.instructions}) > 1 and not _synced(kernel.body):
        raise SimulationError(
            kernel.place, "nothing orders the kernel's pipes", "run npu-sync before"
        )


def _synced(body: tuple[Statement, ...]) -> bool:
    return any(
        isinstance(statement, Flag | Barrier | BlockFlag)
        or (isinstance(statement, Loop) and _synced(statement.body))
        for statement in body
    )
