"""What the flags of a kernel order: vector clocks over the iterations of one loop.

In: the tree of `sync_form` with its flags. Out: for each operator, in the first rounds of the loop
(or in the one run of the kernel), the earlier operators that it must wait for and does not.

A time is a number that grows with every command in program order. `known[a][b]` is the time up to
which all that pipe b was given is done before pipe a starts its next command. A set hands on what
its pipe knows, and that all its pipe was given is done; a wait takes it over. What the scalar pipe
knows every pipe of its core knows: it issues everything.

A loop further inside is run once each time. That is the worst case: what it finds at its entry is
least known in its first iteration, and what it leaves behind is least ordered in its last. (If it
surely has several iterations more may be known behind it: a `thorough` walk plays them.) If it may
run not at all, what is learned inside holds only of operators inside (`extra`). A wait for an event
of a rotating buffer that was set in an earlier run of its loop tells nothing of that run: it need
not be its last iteration.
"""

from __future__ import annotations

from fusec.npu.hazards import Conflicts
from fusec.npu.order_form import Extra, Kind, Last, Need, Needs, Record, Snapshot, State
from fusec.npu.sync_form import (
    Barrier,
    Command,
    Flag,
    Hold,
    Item,
    Kernel,
    Part,
    Region,
    Set,
    Step,
    Wait,
)
from fusec_dialects.npu.attrs import Pipe, Space


class Walk:
    """One walk over the body of `region`."""

    def __init__(self, kernel: Kernel, conflicts: Conflicts, region: Region, kind: Kind) -> None:
        self.kernel = kernel
        self.region = region
        self.kind = kind
        self._same = conflicts.same(region)
        self._carried = conflicts.carried(region)
        self._rotated = conflicts.rotated
        count = len(kernel.agents)
        self.now = 0
        self.round = 0
        self.known = [[0] * count for _ in range(count)]
        self.extra: list[Extra] = [{} for _ in range(count)]
        self.sets: dict[tuple[Flag, int], Snapshot] = {}
        self.set_knew: dict[tuple[Flag, int], int] = {}
        self.wait_time: dict[tuple[Flag, int], int] = {}
        self.wait_knew: dict[tuple[Flag, int], int] = {}
        self.entered: dict[tuple[Item, int], int] = {}
        self.done: dict[tuple[Item, int, int], Snapshot] = {}
        self._primes: dict[Flag, Snapshot] = {}
        self._entries: dict[Region, int] = {}
        self._iterations: dict[Region, int] = {}
        self._keys: tuple[int, ...] = ()
        self._fresh: list[tuple[Part, bool, int, int, tuple[int, ...]]] = []
        self._touched: dict[Part, Record] = {}
        self._past: list[dict[Part, Record]] = []
        self._cores = [
            [b for b in range(count) if kernel.scalars[b] == kernel.scalars[a]]
            for a in range(count)
        ]

    def run(self) -> bool:
        """Walks; False as soon as `resolve` says so."""
        for number in range(self.kind.rounds):
            self.round = number
            self._touched = {}
            for item in self.region.body:
                if not self._child(item):
                    return False
            self._past.append(self._touched)
        return True

    def resolve(self, item: Item, needs: Needs) -> bool:
        """What to do when `item` does not wait for what it must; a check stops here."""
        return False

    # One item of the walked body

    def _child(self, item: Item) -> bool:
        self.entered[item, self.round] = self.now
        if isinstance(item, Region) and self.region.op is None:
            self._prime(item)
        self._commands(item.before)
        needs = self.perform(item)
        if needs and not self.resolve(item, needs):
            return False
        for agent in item.agents:
            self.done[item, agent, self.round] = self._snapshot(agent, 0)
        for part, writes, agent, time, keys in self._fresh:
            record = self._touched.get(part)
            if record is None:
                record = self._touched[part] = Record(part)
            (record.writes if writes else record.reads)[agent, keys] = Last(time, item)
        self._commands(item.after)
        if isinstance(item, Region) and self.region.op is None:
            self._drain(item)
        return True

    def perform(self, item: Item) -> Needs:
        """Performs an item, if it waits for all that it must; else returns the rest."""
        self._fresh = []
        needs: Needs = {}
        if isinstance(item, Step):
            self._collect(item, needs)
            if not needs:
                self._step(item)
            return needs
        state = self.save()
        self._inside(item, needs)
        if needs:
            self.restore(state)
        return needs

    def _step(self, step: Step) -> None:
        agent = step.agent
        self.now += 1
        if self.kernel.scalars[agent] == agent:
            for other in self._cores[agent]:
                self.known[other][agent] = self.now
        for part, writes in step.touches:
            self._fresh.append((part, writes, agent, self.now, self._keys))

    def _inside(self, region: Region, needs: Needs) -> None:
        """A run of a loop further inside."""
        self.now += 1
        entry = self._entries[region] = self.now
        before = self.save() if region.may_be_empty else None
        outer = self._keys
        if before is not None:
            self._keys = (*outer, entry)
        for iteration in range(self._iterations_of(region)):
            self._iterations[region] = iteration
            for item in region.body:
                self._commands(item.before)
                if isinstance(item, Step):
                    self._collect(item, needs)
                    self._step(item)
                else:
                    self._inside(item, needs)
                self._commands(item.after)
        if before is not None:
            self._keys = outer
            self._leave(entry, before)

    def _iterations_of(self, region: Region) -> int:
        between = self.kind.between
        if not self.kind.thorough or (between is not None and between[0] is region):
            return 1
        furthest = max((f.distance for f in self.kernel.flags if f.region is region), default=0)
        return max(min(region.trips.low, 1 + furthest), 1)

    def _leave(self, entry: int, before: State) -> None:
        """What is known after a loop that may not have run: what it learned of itself only if it
        did, and of what was before it nothing new."""
        for agent, (clock, extra) in enumerate(zip(self.known, self.extra, strict=True)):
            kept = dict(before.extra[agent])
            kept.update({key: time for key, time in extra.items() if key[0] >= entry})
            kept.update({(entry, b): time for b, time in enumerate(clock) if time > entry})
            self.extra[agent] = kept
            self.known[agent] = list(before.known[agent])

    def save(self) -> State:
        known, extra = [list(clock) for clock in self.known], [dict(e) for e in self.extra]
        return State(self.now, known, extra, dict(self.sets))

    def restore(self, state: State) -> None:
        self.now, self.sets = state.now, dict(state.sets)
        self.known = [list(clock) for clock in state.known]
        self.extra = [dict(extra) for extra in state.extra]

    # What must be waited for

    def _collect(self, step: Step, needs: Needs) -> None:
        plain = self.kind.adjacent is None and self.kind.between is None
        touched, past = self._touched, self._past
        for part, writes in step.touches:
            if plain:
                for other in self._same(part):
                    if other in touched:
                        self._scan(touched[other], step, part, writes, 0, needs)
            if not past:
                continue
            if plain:
                for other in self._carried(part):
                    if other in past[-1]:
                        self._scan(past[-1][other], step, part, writes, 1, needs)
            back = self._same_copy(part)
            if back is None or back > len(past):
                continue
            for other in self._rotated(part):
                if other in past[-back]:
                    distance = part.buffer.copies
                    self._scan(past[-back][other], step, part, writes, distance, needs)

    def _same_copy(self, part: Part) -> int | None:
        """How many rounds ago the copy of a rotating buffer was used, if that is looked at."""
        buffer, between = part.buffer, self.kind.between
        if between is not None:
            return 1 if between == (buffer.home, buffer.copies) else None
        return self._rounds_back(buffer.copies) if buffer.home is self.region else None

    def _rounds_back(self, distance: int) -> int | None:
        """How many rounds ago the copy was used that is used again after `distance` iterations."""
        if self.kind.adjacent is None or distance < 2:
            return distance
        return 1 if distance == self.kind.adjacent else None

    def _scan(
        self, record: Record, step: Step, part: Part, writes: bool, distance: int, needs: Needs
    ) -> None:
        agent = step.agent
        clock, extra = self.known[agent], self.extra[agent]
        for table in (record.writes, record.reads) if writes else (record.writes,):
            for (source, keys), (time, item) in table.items():
                if clock[source] >= time:
                    continue
                need = Need(source, agent, time, item, distance, keys)
                if keys and need.is_met(clock, extra):
                    continue
                if source == agent and self._accumulates(agent, record.part, part):
                    continue
                old = needs.get((source, agent))
                if old is None or old.time < time:
                    needs[source, agent] = need

    def _accumulates(self, agent: int, a: Part, b: Part) -> bool:
        """The cube unit keeps consecutive mmads on one accumulator in order."""
        if self.kernel.agents[agent].pipe != Pipe.M or a.buffer is not b.buffer:
            return False
        return a.buffer.space == Space.L0C

    # Commands

    def _commands(self, commands: list[Command]) -> None:
        for command in commands:
            self.now += 1
            match command:
                case Set(flag):
                    self._set(flag)
                case Wait(flag):
                    self._wait(flag)
                case Barrier(agent):
                    self.finish(agent)
                case Hold(source, to):
                    self.learn(self.kernel.scalars[to], self._snapshot(source, 0))

    def finish(self, agent: int) -> None:
        """A barrier."""
        self.known[agent][agent] = self.now

    def _snapshot(self, agent: int, entry: int) -> Snapshot:
        clock = list(self.known[agent])
        clock[agent] = self.now
        key = self._keys[-1] if self._keys else 0
        return Snapshot(clock, dict(self.extra[agent]), self.now, entry, key)

    def _set(self, flag: Flag) -> None:
        entry = 0 if flag.region is self.region else self._entries[flag.region]
        self.sets[flag, self._turn(flag)] = self._snapshot(flag.source, entry)
        self.set_knew[flag, self.round] = self.known[flag.source][flag.to]

    def _turn(self, flag: Flag) -> int:
        """Which set of a flag it is: that of this round, or of this event."""
        if flag.region is self.region:
            return self.round
        return self._iterations[flag.region] % max(flag.distance, 1)

    def _wait(self, flag: Flag) -> None:
        self.wait_time[flag, self.round] = self.now
        self.wait_knew[flag, self.round] = self.known[flag.to][flag.source]
        turn = self._turn(flag)
        if flag.distance == 0:
            self.learn(flag.to, self.sets[flag, turn])
        elif flag.region is self.region:
            back = self._rounds_back(flag.distance)
            found = None if back is None else self.sets.get((flag, turn - back))
            if found is not None:
                self.learn(flag.to, found)
        elif (found := self.sets.get((flag, turn))) is None:
            if flag in self._primes:
                self.learn(flag.to, self._primes[flag])
        elif found.entry == self._entries[flag.region]:
            self.learn(flag.to, found)
        else:
            same_copy = self.kind.between == (flag.region, flag.distance)
            least = None if flag.distance == 1 or same_copy else found.entry
            self._learn_of_earlier_run(flag.to, found, least)

    def learn(self, agent: int, found: Snapshot) -> None:
        """`agent`, or with the scalar pipe its whole core, takes over what a set handed on."""
        agents = self._cores[agent] if self.kernel.scalars[agent] == agent else (agent,)
        for each in agents:
            known, extra = self.known[each], self.extra[each]
            self.known[each] = [a if a > b else b for a, b in zip(known, found.clock, strict=True)]
            for key, time in found.extra.items():
                if time > extra.get(key, 0):
                    extra[key] = time

    def _learn_of_earlier_run(self, agent: int, found: Snapshot, before: int | None) -> None:
        """The set was in an earlier run of a loop. `before`: only what was done by that time."""
        clock, extra = found.clock, found.extra
        if before is not None:
            clock = [min(time, before) for time in clock]
            extra = {key: time for key, time in extra.items() if time < before}
        if found.key:
            own = {(found.key, b): time for b, time in enumerate(clock) if time > found.key}
            clock, extra = [0] * len(clock), own
        self.learn(agent, found._replace(clock=clock, extra=extra))

    def _prime(self, region: Region) -> None:
        for flag in region.primed:
            self.now += 1
            self._primes[flag] = self._snapshot(flag.source, 0)

    def first_set(self, flag: Flag) -> int:
        """When a flag is set for the first time, of a walk over the kernel."""
        return (self._primes.get(flag) or self.sets[flag, 0]).time

    def known_at_first_set(self, flag: Flag) -> int:
        """Up to when the waiting pipe is known to be done when the flag is first set."""
        primed = self._primes.get(flag)
        return self.set_knew[flag, 0] if primed is None else primed.clock[flag.to]

    def _drain(self, region: Region) -> None:
        for flag in region.primed:
            self.now += 1
            self.wait_time[flag, 0] = self.now
            self.learn(flag.to, self._primes[flag])
            for event in range(flag.distance):
                if (found := self.sets.get((flag, event))) is not None:
                    self._learn_of_earlier_run(flag.to, found, None)
