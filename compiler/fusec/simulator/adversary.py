"""The judge of the witness: runs a placed kernel in random orders that its flags allow.

All blocks run at once, each core with memories of its own. The scalar pipe of a core issues in
program order into the queues of the other pipes; a queue starts its items in order, an instruction
may finish whenever no flag or barrier waits for it, and reads its operands at some moment in
between. Only products into the same memory of l0c finish in order. A kernel that the witness
accepts must give the result of `functional.run_kernel` for every seed. For small kernels: an event
costs some microseconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import func

from fusec.hw.target import load_target
from fusec.simulator.blas import one_thread
from fusec.simulator.decode import decode_kernel
from fusec.simulator.emit_ops import GLOBALS, instruction_text
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import (
    AGENTS,
    SCALAR_OF,
    Barrier,
    BlockFlag,
    Flag,
    Instr,
    Kernel,
    ScalarLoad,
    View,
)
from fusec.simulator.functional import POISON, raw_bytes
from fusec.simulator.numerics import DTYPES, Array
from fusec.simulator.stream import Event, Region, RegionOrValue, Stream, stream_of

Key: TypeAlias = tuple[int, int, int] | int
Move: TypeAlias = Callable[[], None]

WINDOW = 4
"""Instructions of one pipe that may be under way at once."""


def run_adversary(
    kernel: func.FuncOp,
    arrays: Sequence[Array],
    seed: int,
    *,
    target: str | None = None,
    blocks: int | None = None,
) -> None:
    """Runs a placed kernel on its gm arguments, in place, in an order that `seed` determines.

    Raises SimulationError if the kernel is not placed, or if all pipes wait for a flag (a
    deadlock).
    """
    decoded = decode_kernel(kernel, target)
    if not decoded.placed:
        raise SimulationError(decoded.place, "the kernel is not placed", "run npu-place before")
    count = decoded.blocks or 1 if blocks is None else blocks
    random = Random(seed)
    gm = [raw_bytes(a) for a in arrays]
    program = _Program(decoded)
    machines = [_Machine(program, gm, block, count, random) for block in range(count)]
    with one_thread(), np.errstate(all="ignore"):
        _play(machines, random, decoded)


def _play(machines: list[_Machine], random: Random, kernel: Kernel) -> None:
    """Takes the possible move of the highest priority; priorities change now and then."""
    priorities: dict[object, float] = {}
    while True:
        moves = [move for machine in machines for move in machine.moves()]
        if not moves:
            break
        if random.random() < 0.02:
            priorities.clear()
        for key, _ in moves:
            if key not in priorities:
                priorities[key] = random.random()
        _, move = max(moves, key=lambda m: priorities[m[0]])
        move()
    stuck = [machine for machine in machines if not machine.done]
    if stuck:
        raise SimulationError(
            kernel.place,
            f"block {stuck[0].block} waits for ever",
            "the witness says which flag is never raised",
        )


class _Program:
    """A kernel with a compiled function for each instruction."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.stream: Stream = stream_of(kernel)
        self.functions = [_function(instr) for instr in kernel.instructions]
        target = load_target(kernel.target)
        self.capacities = {b.space: target.capacity(b.space) for b in kernel.allocs}


def _function(instr: Instr) -> Callable[..., None]:
    names = [f"o{p}" for p in range(len(instr.operands))]
    lines = instruction_text(instr, names, None)
    text = "\n    ".join([f"def do({', '.join(names)}):", *lines])
    space: dict[str, Any] = dict(GLOBALS)
    exec(text, space)
    return space["do"]


class _Pending:
    """An instruction under way."""

    def __init__(self, instr: Instr, operands: list[Any], function: Callable[..., None]):
        self.instr = instr
        self.operands = operands
        self.function = function

    def read(self) -> None:
        """Takes copies of what is read, unless it is written too."""
        for position in self.instr.reads:
            if position not in self.instr.writes:
                self.operands[position] = self.operands[position].copy()

    def finish(self) -> None:
        self.read()
        self.function(*self.operands)


class _Machine:
    """One block: its cores, queues, flags and memories."""

    def __init__(self, program: _Program, gm: list[Array], block: int, blocks: int, random: Random):
        self.program = program
        self.gm = gm
        self.block = block
        self.random = random
        self.memory = {
            space: np.full(size, POISON, np.uint8) for space, size in program.capacities.items()
        }
        self.queues: list[deque[Event]] = [deque() for _ in AGENTS]
        self.under_way: list[list[_Pending]] = [[] for _ in AGENTS]
        self.raised: dict[Key, int] = {}
        self.issuers = {
            core: program.stream(block, blocks, self._load) for core in program.kernel.cores
        }
        self.held: dict[int, list[Key]] = {}

    @property
    def done(self) -> bool:
        return not (self.issuers or any(self.queues) or any(self.under_way))

    def moves(self) -> list[tuple[object, Move]]:
        """What can happen next; each with a key for its priority."""
        found: list[tuple[object, Move]] = []
        for core in self.issuers:
            if all(self.raised.get(key) for key in self.held.get(core, ())):
                found.append(((self.block, core, "issue"), lambda core=core: self._issue(core)))
        for agent, queue in enumerate(self.queues):
            if queue and self._ready(agent, queue[0]):
                found.append(((self.block, agent, "start"), lambda agent=agent: self._start(agent)))
            for index, pending in enumerate(self.under_way[agent]):
                if index and pending.instr.kind == "mmad":
                    break
                found.append(
                    (
                        (self.block, agent, "finish", index),
                        lambda agent=agent, index=index: self._finish(agent, index),
                    )
                )
        return found

    # Issue: the scalar pipe

    def _load(self, load: ScalarLoad, region: Region) -> int | float | bool:
        return self._array(load.view, region).item()

    def _issue(self, core: int) -> None:
        for key in self.held.pop(core, ()):
            self._lower(key)
        event = next(self.issuers[core], None)
        if event is None:
            del self.issuers[core]
            return
        statement = event[0]
        match statement:
            case Instr():
                self._enqueue(core, statement.agent, event)
            case Flag() | BlockFlag() if statement.raised:
                self._enqueue(core, statement.source, event)
            case Flag() | BlockFlag():
                self._enqueue(core, statement.to, event)
            case Barrier():
                for agent in statement.agents:
                    self._enqueue(core, agent, event)
            case _:
                pass

    def _enqueue(self, core: int, agent: int, event: Event) -> None:
        if SCALAR_OF[agent] != core:
            return
        if agent != core:
            self.queues[agent].append(event)
            return
        statement, first = event
        if isinstance(statement, Flag | BlockFlag):
            if statement.raised:
                self._raise(statement, first)
            else:
                self.held[core] = _keys(statement, first)

    # Queues

    def _ready(self, agent: int, event: Event) -> bool:
        statement, first = event
        if isinstance(statement, Instr):
            return len(self.under_way[agent]) < WINDOW
        if isinstance(statement, Flag | BlockFlag) and not statement.raised:
            return all(self.raised.get(key) for key in _keys(statement, first))
        return not self.under_way[agent]

    def _start(self, agent: int) -> None:
        statement, payload = self.queues[agent].popleft()
        if isinstance(statement, Instr):
            self._begin(agent, statement, payload)
        elif isinstance(statement, Flag | BlockFlag):
            if statement.raised:
                self._raise(statement, payload)
            else:
                for key in _keys(statement, payload):
                    self._lower(key)

    def _begin(self, agent: int, instr: Instr, regions: tuple[RegionOrValue, ...]) -> None:
        operands = [
            self._array(operand, region)
            if isinstance(operand, View) and isinstance(region, tuple)
            else region
            for operand, region in zip(instr.operands, regions, strict=True)
        ]
        pending = _Pending(instr, operands, self.program.functions[instr.index])
        if self.random.random() < 0.5:
            pending.read()
        self.under_way[agent].append(pending)

    def _finish(self, agent: int, index: int) -> None:
        self.under_way[agent].pop(index).finish()

    def _raise(self, flag: Flag | BlockFlag, first: int) -> None:
        for key in _keys(flag, first):
            self.raised[key] = self.raised.get(key, 0) + 1

    def _lower(self, key: Key) -> None:
        self.raised[key] -= 1

    def _array(self, view: View, region: Region) -> Array:
        start, sizes, strides = region
        buffer = view.buffer
        raw = self.memory[buffer.space] if buffer.argument is None else self.gm[buffer.argument]
        steps = tuple(s * buffer.itemsize for s in strides)
        try:
            return np.ndarray(sizes, DTYPES[buffer.dtype], raw, start, steps)
        except (ValueError, TypeError) as error:
            raise SimulationError(
                view.place, f"it is out of bounds: {error}", "ask the witness where"
            ) from error


def _keys(flag: Flag | BlockFlag, first: int) -> list[Key]:
    if isinstance(flag, BlockFlag):
        return [flag.flag]
    return [(flag.source, flag.to, number) for number in range(first, first + flag.count)]
