"""Whether every event is awaited before it is set again, however the pipes run.

In: a placed kernel. Out: the faults. `fusec.simulator.witness` plays flags in program order, in
which a set always follows the wait for the one before; a pipe that runs ahead may set twice.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.func import FuncOp

from fusec.simulator.decode import decode_kernel
from fusec.simulator.form import AGENTS, SCALAR_OF, Barrier, BlockFlag, Flag, Instr, ScalarLoad
from fusec.simulator.stream import Event, Region, stream_of

_ALL = range(len(AGENTS))


def early_sets(kernel: FuncOp, blocks: int) -> list[str]:
    """One text for each set that may come before the wait for the set before it."""
    decoded = decode_kernel(kernel)
    stream = stream_of(decoded)
    return [
        fault for block in range(blocks) for fault in _Block().run(stream(block, blocks, _zero))
    ]


def _zero(load: ScalarLoad, region: Region) -> int:
    return 0


class _Block:
    """`given[a]`: how many commands pipe a has; `passed[a][b]`: how many of b's are over before a
    goes on."""

    def __init__(self) -> None:
        self.passed = [[0 for _ in _ALL] for _ in _ALL]
        self.given = [0 for _ in _ALL]
        self.raised: dict[tuple[int, int, int], list[list[int]]] = {}
        self.awaited: dict[tuple[int, int, int], int] = {}
        self.faults: list[str] = []

    def run(self, events: Iterable[Event]) -> list[str]:
        for statement, first in events:
            if isinstance(statement, Instr):
                self.given[statement.agent] += 1
            elif isinstance(statement, Barrier):
                for agent in statement.agents:
                    self.passed[agent][agent] = self.given[agent]
            elif isinstance(statement, Flag):
                for number in range(first, first + statement.count):
                    self.flag(statement, number, counts=False)
            elif isinstance(statement, BlockFlag):
                self.flag(statement, -1 - statement.flag, counts=True)
        return self.faults

    def flag(self, flag: Flag | BlockFlag, number: int, *, counts: bool) -> None:
        key = (flag.source, flag.to, number)
        queue = self.raised.setdefault(key, [])
        if not flag.raised:
            self.learn(flag.to, queue.pop(0))
            self.given[flag.to] += 1
            self.awaited[key] = self.given[flag.to]
            if SCALAR_OF[flag.to] == flag.to:
                self.passed[flag.to][flag.to] = self.given[flag.to]
                self.learn(flag.to, self.passed[flag.to])
            return
        if not counts and self.passed[flag.source][flag.to] < self.awaited.get(key, 0):
            self.faults.append(f"event {key} is set before it is awaited ({flag.place})")
        self.given[flag.source] += 1
        clock = list(self.passed[flag.source])
        clock[flag.source] = self.given[flag.source]
        queue.append(clock)

    def learn(self, agent: int, clock: list[int]) -> None:
        scalar = SCALAR_OF[agent] == agent
        for each in [a for a in _ALL if SCALAR_OF[a] == agent] if scalar else [agent]:
            pairs = zip(self.passed[each], clock, strict=True)
            self.passed[each] = [max(a, b) for a, b in pairs]
