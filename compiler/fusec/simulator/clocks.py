"""Who knows that whom has finished: vector clocks over the pipes of a block, with its flags.

Every item that is given to a pipe gets the pipe's next number. `known[a][b]` is the number up to
which all items of pipe b are finished before pipe a starts its next item. Flags, barriers and
cross-core flags move that knowledge; the scalar pipe, which issues everything, passes on what it
knows at once. A pipe that awaits a flag that is not raised yet holds back what it was given later;
the others go on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from fusec.simulator.form import AGENTS, SCALAR_OF, Barrier, BlockFlag, Flag, Instr, ScalarLoad
from fusec.simulator.violations import FLAG, Verdict

Clock: TypeAlias = list[int]
Action: TypeAlias = Callable[[], None]
Event: TypeAlias = tuple[int, int, int]

_ALL = range(len(AGENTS))
_OF_CORE = {s: tuple(a for a in _ALL if SCALAR_OF[a] == s) for s in set(SCALAR_OF)}


def pair_text(source: int, to: int) -> str:
    return f"<{AGENTS[source].pipe.value}> to <{AGENTS[to].pipe.value}>"


class Clocks:
    """The pipes of one core pair. `history[a][n]` is the operator that is item n of pipe a, and
    `order[a][n]` its place among the items of all pipes."""

    def __init__(self, verdict: Verdict):
        self.verdict = verdict
        self.known: list[Clock] = [[0] * len(AGENTS) for _ in _ALL]
        self.history: list[list[Instr | ScalarLoad | None]] = [[None] for _ in _ALL]
        self.order: list[list[int]] = [[0] for _ in _ALL]
        self.base: Clock = [0] * len(AGENTS)
        self._items = 0
        self._raised: dict[Event, Clock] = {}
        self._raised_at: dict[Event, str] = {}
        self._counters: dict[int, deque[Clock]] = {}
        self._waiting: dict[Event | int, tuple[int, str]] = {}
        self._held: dict[int, deque[Action]] = {}
        self._issue_held: dict[int, deque[tuple[int, Action]]] = {}

    def start_block(self) -> None:
        """Everything of earlier blocks on this core is finished."""
        self.base = [len(items) - 1 for items in self.history]
        self.known = [list(self.base) for _ in _ALL]

    def end_block(self, block: int) -> None:
        """Reports what is still raised or awaited, and forgets it."""
        for event, (_, place) in self._waiting.items():
            name = f"flag {event}" if isinstance(event, int) else self._name(event)
            message = f"{name} is awaited but never raised: block {block} does not end"
            self.verdict.report(
                FLAG, f"{message}; raise it before, or drop the wait", place, "wait"
            )
        for event, place in self._raised_at.items():
            message = f"{self._name(event)} is still raised at the end of block {block}"
            self.verdict.report(FLAG, f"{message}; await it, or do not raise it", place, "raised")
        for flag, clocks in self._counters.items():
            if clocks:
                message = f"cross-core flag {flag} is still up at the end of block {block}"
                self.verdict.report(
                    FLAG, f"{message}; await it as often as it is raised", "kernel", str(flag)
                )
        self.forget()

    def forget(self) -> None:
        """Drops all flags and what pipes still hold back."""
        for table in (self._raised, self._raised_at, self._waiting, self._counters):
            table.clear()
        self._held.clear()
        self._issue_held.clear()

    # Items

    def submit(self, agent: int, action: Action) -> None:
        """Gives `agent` an item: done now, or when the pipe is free of a wait before it."""
        if self._issue_held and (core := self._issue_held.get(SCALAR_OF[agent])) is not None:
            core.append((agent, action))
        elif self._held and (held := self._held.get(agent)) is not None:
            held.append(action)
        else:
            action()

    def item(self, agent: int, operator: Instr | ScalarLoad | None) -> int:
        """The number of a new item of `agent`."""
        self._items += 1
        self.history[agent].append(operator)
        self.order[agent].append(self._items)
        return len(self.history[agent]) - 1

    def scalar_done(self, scalar: int) -> None:
        """The scalar pipe has finished all that it was given; whoever it issues later knows."""
        self.known[scalar][scalar] = len(self.history[scalar]) - 1
        self._pass_on(scalar)

    def flag(self, flag: Flag, first: int) -> None:
        for number in range(first, first + flag.count):
            event = (flag.source, flag.to, number)
            if flag.raised:
                self.submit(flag.source, lambda event=event: self._raise(event, flag.place))
            else:
                self.submit(flag.to, lambda event=event: self._wait(event, flag.place))

    def barrier(self, barrier: Barrier) -> None:
        for agent in barrier.agents:
            self.submit(agent, lambda agent=agent: self._finish(agent))

    def block_flag(self, flag: BlockFlag) -> None:
        if flag.raised:
            self.submit(flag.source, lambda: self._count_up(flag.flag, flag.source))
        else:
            self.submit(flag.to, lambda: self._count_down(flag.flag, flag.to, flag.place))

    # What they do

    def _finish(self, agent: int) -> None:
        self.known[agent][agent] = len(self.history[agent]) - 1

    def _finished(self, agent: int) -> Clock:
        """What is finished once `agent` has finished all that it was given."""
        clock = list(self.known[agent])
        clock[agent] = len(self.history[agent]) - 1
        return clock

    def _raise(self, event: Event, place: str) -> None:
        if event in self._raised:
            message = f"{self._name(event)} is raised although it is up; await it in between"
            self.verdict.report(FLAG, message, place, "twice")
        self._raised[event] = self._finished(event[0])
        self._raised_at[event] = place
        self._wake(event)

    def _wait(self, event: Event, place: str) -> None:
        if event in self._raised:
            self._lower(event)
        else:
            self._hold(event, event[1], place)

    def _lower(self, event: Event) -> None:
        del self._raised_at[event]
        self._learn(event[1], self._raised.pop(event))

    def _count_up(self, flag: int, source: int) -> None:
        self._counters.setdefault(flag, deque()).append(self._finished(source))
        self._wake(flag)

    def _count_down(self, flag: int, to: int, place: str) -> None:
        if self._counters.get(flag):
            self._learn(to, self._counters[flag].popleft())
        else:
            self._hold(flag, to, place)

    def _learn(self, agent: int, clock: Clock) -> None:
        known = self.known[agent]
        self.known[agent] = [a if a > b else b for a, b in zip(known, clock, strict=True)]
        if SCALAR_OF[agent] == agent:
            self._pass_on(agent)

    def _pass_on(self, scalar: int) -> None:
        source = self.known[scalar]
        for agent in _OF_CORE[scalar]:
            own = self.known[agent]
            self.known[agent] = [a if a > b else b for a, b in zip(own, source, strict=True)]

    def _hold(self, event: Event | int, agent: int, place: str) -> None:
        self._waiting[event] = (agent, place)
        if SCALAR_OF[agent] == agent:
            self._issue_held[agent] = deque()
        else:
            self._held[agent] = deque()

    def _wake(self, event: Event | int) -> None:
        if event not in self._waiting:
            return
        agent, _ = self._waiting.pop(event)
        if isinstance(event, int):
            self._learn(agent, self._counters[event].popleft())
        else:
            self._lower(event)
        if SCALAR_OF[agent] == agent:
            for later, action in self._issue_held.pop(agent):
                self.submit(later, action)
            return
        for action in self._held.pop(agent):
            self.submit(agent, action)

    def _name(self, event: Event) -> str:
        return f"event {event[2]} of {pair_text(event[0], event[1])}"
