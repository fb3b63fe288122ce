"""The clocks that a program drives: `Machine` tells the time of a block, `Counter` counts its work.

Each pipe has the time at which it can start its next item (`free`) and the time at which the result
of all its items is there (`done`). The scalar pipe of a core issues the items one after another; a
flag, a barrier or a cross-core flag makes a pipe wait for a `done`.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from fusec.hw.target import Target
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import AGENTS, ITEMSIZE, SCALAR_OF, Kernel, ScalarLoad
from fusec.simulator.timing_costs import Cost, Costs, agent_name, moved
from fusec.simulator.timing_program import Label, LoopInfo
from fusec.simulator.timing_steady import State, steady_turns

LOOP_SCALARS = 2
"""Scalar operators of a turn of a loop: count and branch."""
DOWN = -1.0
"""The time of an event that is not raised."""

BARRIER = len(AGENTS)
ISSUE = BARRIER + 1
CAUSES = ISSUE + 1
BUSY = len(AGENTS)
"""`sums` are the busy cycles of each agent, then for each agent the cycles that it stood still for
each cause: another agent (by its index), BARRIER, ISSUE."""

Known: TypeAlias = dict[tuple[int, tuple[int, ...]], Cost]


class Machine:
    """One core, or one cube core with its vector cores, at the start of a block."""

    def __init__(self, kernel: Kernel, target: Target, costs: Costs, known: Known, events: int):
        self.kernel = kernel
        self.target = target
        self.costs = costs
        self.known = known
        self.play_all = False
        self.free = [0.0] * len(AGENTS)
        self.done = [0.0] * len(AGENTS)
        self.raised = [DOWN] * events
        self.counters: dict[int, deque[float]] = {}
        self.sums = [0.0] * (BUSY + len(AGENTS) * CAUSES)
        self._held: dict[int, deque[Callable[[], None]]] = {}
        self._waiting: dict[tuple[bool, int], tuple[int, int]] = {}

    def finish(self) -> float:
        """The cycles that the block took. Raises SimulationError if it does not end."""
        for scalar in self.kernel.cores:
            stood = self.sums[BUSY + scalar * CAUSES : BUSY + (scalar + 1) * CAUSES]
            self.sums[scalar] = self.free[scalar] - sum(stood)
        for (is_event, number), (source, to) in self._waiting.items():
            what = "an event" if is_event else f"cross-core flag {number}"
            raise SimulationError(
                self.kernel.place,
                f"{agent_name(to)} waits for {what} of {agent_name(source)} that is never raised",
                "run the witness: it says which flag is missing",
            )
        return max(*self.free, *self.done)

    # What a program calls

    def issue(self, index: int, level: int, values: tuple[int, ...] = ()) -> None:
        cost = self.known.get((index, values))
        if cost is None:
            cost = self.known[index, values] = self.costs.cost(index, values, level)
        free = self.free
        now = free[cost.scalar] = free[cost.scalar] + cost.issue
        if self._held and cost.agent in self._held:
            self._held[cost.agent].append(partial(self._start, cost, now))
        else:
            self._start(cost, now)

    def scalar_load(self, load: ScalarLoad) -> int:
        for agent in load.agents:
            self.free[agent] += self.target.scalar_memory_cycles
        return 0

    def scalars(self, count: int) -> None:
        for agent in self.kernel.cores:
            self.free[agent] += count * self.target.scalar_op_cycles

    def set_event(self, source: int, event: int) -> None:
        self._submit(source, partial(self._set, source, event))

    def wait_event(self, source: int, to: int, event: int) -> None:
        self._submit(to, partial(self._wait, source, to, event))

    def barrier(self, agents: tuple[int, ...]) -> None:
        for agent in agents:
            self._submit(agent, partial(self._barrier, agent))

    def count_up(self, source: int, flag: int) -> None:
        self._submit(source, partial(self._count_up, source, flag))

    def count_down(self, source: int, to: int, flag: int) -> None:
        self._submit(to, partial(self._count_down, source, to, flag))

    def loop(self, info: LoopInfo, span: range, label: Label | None) -> Iterator[int]:
        turn = info.scalars + LOOP_SCALARS
        turns = span if self.play_all else steady_turns(self, info, span, label)
        for value in turns:
            self.scalars(turn)
            yield value

    # What steady_turns needs

    @property
    def is_held(self) -> bool:
        return bool(self._held)

    def state(self) -> State:
        counters = [time for queue in self.counters.values() for time in queue]
        return State(
            [*self.free, *self.done, *self.raised, *counters],
            tuple(len(queue) for queue in self.counters.values()),
            self.sums[:],
        )

    def forward(self, times: list[float], sums: list[float], turns: int) -> None:
        """Moves all times and sums on by `turns` times these."""
        moved_on = [b + d * turns for b, d in zip(self.state().times, times, strict=True)]
        agents, events = len(AGENTS), len(self.raised)
        self.free[:] = moved_on[:agents]
        self.done[:] = moved_on[agents : 2 * agents]
        self.raised[:] = moved_on[2 * agents : 2 * agents + events]
        rest = iter(moved_on[2 * agents + events :])
        for flag, queue in self.counters.items():
            self.counters[flag] = deque(next(rest) for _ in queue)
        self.sums[:] = [b + d * turns for b, d in zip(self.sums, sums, strict=True)]

    # What happens on a pipe

    def _submit(self, agent: int, action: Callable[[], None]) -> None:
        """Issues a flag or barrier: done now, or when the pipe is past the event it waits for."""
        self.free[SCALAR_OF[agent]] += self.target.scalar_op_cycles
        if self._held and agent in self._held:
            self._held[agent].append(action)
        else:
            action()

    def _start(self, cost: Cost, now: float) -> None:
        agent, free = cost.agent, self.free
        start = free[agent]
        if now > start:
            self.sums[BUSY + agent * CAUSES + ISSUE] += now - start
            start = now
        self.sums[agent] += cost.occupancy
        start += cost.occupancy
        free[agent] = start
        if start + cost.tail > self.done[agent]:
            self.done[agent] = start + cost.tail

    def _all_done(self, agent: int) -> float:
        return max(self.free[agent], self.done[agent], self.free[SCALAR_OF[agent]])

    def _delay(self, agent: int, time: float, cause: int) -> None:
        late = time - self.free[agent]
        if late > 0:
            self.sums[BUSY + agent * CAUSES + cause] += late
            self.free[agent] = time

    def _barrier(self, agent: int) -> None:
        time = max(self.free[agent], self.done[agent]) + self.target.sync.barrier_cycles
        self._delay(agent, time, BARRIER)

    def _set(self, source: int, event: int) -> None:
        self.raised[event] = self._all_done(source) + self.target.sync.flag_cycles
        self._wake(True, event)

    def _wait(self, source: int, to: int, event: int) -> None:
        time = self.raised[event]
        if time == DOWN:
            self._hold(True, event, source, to)
            return
        self.raised[event] = DOWN
        self._delay(to, time, source)

    def _count_up(self, source: int, flag: int) -> None:
        time = self._all_done(source) + self.target.sync.cross_core_cycles
        self.counters.setdefault(flag, deque()).append(time)
        self._wake(False, flag)

    def _count_down(self, source: int, to: int, flag: int) -> None:
        queue = self.counters.get(flag)
        if queue:
            self._delay(to, queue.popleft(), source)
        else:
            self._hold(False, flag, source, to)

    def _hold(self, is_event: bool, number: int, source: int, to: int) -> None:
        if SCALAR_OF[to] == to:
            raise SimulationError(
                self.kernel.place,
                f"{agent_name(to)}, which issues everything, waits for what comes later",
                f"let {agent_name(source)} raise the flag before the wait",
            )
        self._waiting[is_event, number] = (source, to)
        self._held[to] = deque()

    def _wake(self, is_event: bool, number: int) -> None:
        ends = self._waiting.pop((is_event, number), None)
        if ends is None:
            return
        source, to = ends
        later = self._held.pop(to)
        if is_event:
            self._wait(source, to, number)
        else:
            self._count_down(source, to, number)
        while later and to not in self._held:
            later.popleft()()
        if later:
            self._held[to].extend(later)


class Counter:
    """Counts instructions and the bytes of each gm argument, one turn for all with equal labels."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.reads = [0] * len(kernel.arguments)
        self.writes = [0] * len(kernel.arguments)
        self.instructions = 0
        self._times = 1

    def issue(self, index: int, level: int, values: tuple[int, ...] = ()) -> None:
        self.instructions += self._times
        move = moved(self.kernel.instructions[index], values)
        if move is not None:
            argument, nbytes, is_write = move
            (self.writes if is_write else self.reads)[argument] += nbytes * self._times

    def scalar_load(self, load: ScalarLoad) -> int:
        buffer = load.view.buffer
        if buffer.argument is not None:
            count = ITEMSIZE[buffer.dtype] * len(load.agents)
            self.reads[buffer.argument] += count * self._times
        return 0

    def loop(self, info: LoopInfo, span: range, label: Label | None) -> Iterator[int]:
        if not span:
            return
        before = self._times
        if label is None:
            turns = {span[0]: len(span)}
        else:
            labels = [label(value) for value in span]
            counts = Multiset(labels)
            turns = {
                value: counts.pop(k) for k, value in zip(labels, span, strict=True) if k in counts
            }
        for value, times in turns.items():
            self._times = before * times
            yield value
        self._times = before

    def scalars(self, count: int) -> None: ...
    def set_event(self, source: int, event: int) -> None: ...
    def wait_event(self, source: int, to: int, event: int) -> None: ...
    def barrier(self, agents: tuple[int, ...]) -> None: ...
    def count_up(self, source: int, flag: int) -> None: ...
    def count_down(self, source: int, to: int, flag: int) -> None: ...
