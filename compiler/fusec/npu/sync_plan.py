"""Which flags and barriers a kernel needs.

In: the tree of `sync_form` without flags. Out: flags and barriers in it, so that every pair of
conflicting accesses is ordered, every event is awaited before it is set again, and no flag is
implied by the others. Why this is so stands in `sync`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fusec.npu.hazards import Conflicts
from fusec.npu.order import Walk
from fusec.npu.order_form import Kind, Need, Needs, Snapshot, State
from fusec.npu.sync_form import Barrier, Flag, Item, Kernel, Region, Set, Wait
from fusec_dialects.npu.attrs import Pipe


def plan_flags(kernel: Kernel, conflicts: Conflicts) -> None:
    """Adds flags and barriers, the innermost loops first."""
    _plan_region(kernel, conflicts, kernel.root)


def _plan_region(kernel: Kernel, conflicts: Conflicts, region: Region) -> None:
    for item in region.body:
        if isinstance(item, Region):
            _plan_region(kernel, conflicts, item)
    _Level(kernel, conflicts, region).plan()


@dataclass(eq=False)
class _Level:
    """The flags between the items of one body. `kept` are found late but are needed from the start:
    when one is found the level is planned again with it."""

    kernel: Kernel
    conflicts: Conflicts
    region: Region
    flags: list[Flag] = field(default_factory=list[Flag])
    kept_flags: list[Flag] = field(default_factory=list[Flag])
    barriers: list[tuple[Item, Barrier]] = field(default_factory=list[tuple[Item, Barrier]])
    kept_barriers: list[tuple[Item, Barrier]] = field(default_factory=list[tuple[Item, Barrier]])

    def plan(self) -> None:
        while not self._walk():
            self._start_again()
        if self.region.repeats:
            for flag in [f for f in self.kernel.flags if f.region.cycle is self.region]:
                self._choose_events(flag)

    def _walk(self) -> bool:
        self.walks = [_Planner(self, kind) for kind in kinds_of(self.region)]
        return all(walk.run() for walk in self.walks)

    def _start_again(self) -> None:
        for flag in self.flags:
            if flag not in self.kept_flags:
                self.kernel.remove(flag)
        for item, barrier in self.barriers:
            if (item, barrier) not in self.kept_barriers:
                item.before.remove(barrier)
        self.flags = list(self.kept_flags)
        self.barriers = list(self.kept_barriers)

    def add_flag(self, flag: Flag) -> None:
        self.kernel.add(flag)
        self.flags.append(flag)

    def drop_flag(self, flag: Flag) -> None:
        self.kernel.remove(flag)
        self.flags.remove(flag)

    def add_barrier(self, item: Item, agent: int) -> tuple[Item, Barrier]:
        placed = (item, Barrier(agent))
        item.before.append(placed[1])
        self.barriers.append(placed)
        return placed

    def _choose_events(self, flag: Flag) -> None:
        """One event, or one for each copy of a rotating buffer: as many as it takes for the wait to
        be over when the event is set again. Where none is enough a token is given back."""
        rotations = self.region.rotations
        stands = self.kernel.alloc_positions
        before = [n for n, alloc in rotations.items() if stands[alloc] < flag.position]
        tries = (flag.distance,) if flag.distance else (1, *sorted(before))
        for events in tries:
            flag.events, flag.slot = events, rotations.get(events)
            if events_suffice(self.kernel, flag, self.walks):
                return
        if not flag.distance:
            flag.events, flag.slot = 1, None
        self._give_back(flag)

    def _give_back(self, flag: Flag) -> None:
        """A flag in the other direction: from behind the wait to before the set. It has as many
        events, since as many waits may be ahead."""
        distance = 0 if flag.distance else 1
        token = Flag(
            flag.to,
            flag.source,
            flag.region,
            flag.waiter,
            flag.setter,
            distance,
            flag.events,
            flag.slot,
        )
        behind = flag.waiter.before.index(Wait(flag)) + 1
        flag.waiter.before.insert(behind, Set(token))
        flag.setter.after.insert(flag.setter.after.index(Set(flag)), Wait(token))
        self.kernel.flags.append(token)
        self.kernel.tokens[flag] = token
        if distance:
            flag.region.outermost.primed.append(token)


def kinds_of(region: Region) -> list[Kind]:
    """The walks that see all that a loop can do to itself.

    Rotating buffers take as many rounds as they have copies. In a loop that is run several times
    the same copy may come again at once: see `may_restart`.
    """
    if not region.repeats:
        return [Kind(1)]
    rounds = 1 + max(region.rotations, default=1)
    if not region.nested:
        return [Kind(min(rounds, region.trips.high))]
    return [Kind(rounds), *(Kind(2, adjacent=copies) for copies in may_restart(region))]


def may_restart(region: Region) -> list[int]:
    """The numbers of copies of which a run of the loop may begin with the copy that the run before
    ended with: if not each run has a multiple of so many iterations."""
    if not (region.repeats and region.nested):
        return []
    trips = region.trips.constant
    return sorted(n for n in region.rotations if trips is None or trips % n)


def events_suffice(kernel: Kernel, flag: Flag, walks: Sequence[Walk]) -> bool:
    """Whether the wait for an event is over whenever the event is set again, by what `walks`, all
    those of the loop that repeats the flag, tell. Cross-core flags count; the scalar pipe waits
    before it issues what may set again."""
    if kernel.cross(flag) or kernel.pipe(flag.to) == Pipe.S:
        return True
    walk = walks[0]
    if flag.distance:
        if flag in kernel.tokens.values():
            return True
        set_knows = walk.done[flag.setter, flag.source, 0].clock[flag.to]
        return set_knows > walk.entered[flag.waiter, 0]
    rounds = flag.events
    for other in walks:
        if other.kind.adjacent == flag.events:
            walk, rounds = other, 1
    if rounds >= walk.kind.rounds:
        return not walk.region.nested
    return walk.set_knew[flag, rounds] >= walk.wait_time[flag, 0]


class _Planner(Walk):
    """A walk that adds what is missing."""

    def __init__(self, level: _Level, kind: Kind) -> None:
        super().__init__(level.kernel, level.conflicts, level.region, kind)
        self._level = level

    def resolve(self, item: Item, needs: Needs) -> bool:
        """Adds a flag for a need that no other one brings, then barriers, until nothing is needed.
        False: the level must be planned again."""
        start = self.save() if isinstance(item, Region) else None
        flags: dict[Flag, Snapshot] = {}
        barriers: list[int] = []
        while needs:
            need = self._first(list(needs.values()))
            if need.source == need.to:
                if not self._add_barrier(item, need):
                    return False
                barriers.append(need.to)
            elif need.distance and need.item.index < item.index:
                self._keep_flag(need, item)
                return False
            else:
                self._add_flag(item, need, flags)
            needs = self.perform(item)
        if start is not None and len(flags) > 1:
            self._drop_implied(item, start, flags, barriers)
        return True

    def _first(self, needs: list[Need]) -> Need:
        """One that no other one brings; flags before barriers."""
        needs = [need for need in needs if need.source != need.to] or needs
        handed = [self._handed(need) for need in needs]
        alone = [
            need
            for need in needs
            if not any(
                other is not need and other.to == need.to and need.is_met(s.clock, s.extra)
                for other, s in zip(needs, handed, strict=True)
            )
        ]
        return max(alone or needs, key=lambda need: self._handed(need).time)

    def _handed(self, need: Need) -> Snapshot:
        back = self._rounds_back(need.distance)
        return self.done[need.item, need.source, self.round - (back or 0)]

    def _add_flag(self, item: Item, need: Need, added: dict[Flag, Snapshot]) -> None:
        flag = Flag(need.source, need.to, self.region, need.item, item, need.distance)
        self._level.add_flag(flag)
        if self.kind.adjacent is not None or need.distance >= self.region.trips.high:
            self.kernel.between_runs.append(flag)
        self.now += 1
        self.wait_time[flag, self.round] = self.now
        for number in range(self.round):
            self.sets[flag, number] = self.done[need.item, need.source, number]
        handed = added[flag] = self._handed(need)
        self.sets.setdefault((flag, self.round), handed)
        self.learn(need.to, handed)

    def _keep_flag(self, need: Need, item: Item) -> None:
        """The iteration before is covered by a flag within each iteration: a set is for all that
        its pipe was given. It could have served from the first round on."""
        flag = Flag(need.source, need.to, self.region, need.item, item, 0)
        self._level.add_flag(flag)
        self._level.kept_flags.append(flag)

    def _add_barrier(self, item: Item, need: Need) -> bool:
        placed = self._level.add_barrier(item, need.to)
        self.now += 1
        self.finish(need.to)
        others = [b for _, b in self._level.barriers if b.agent == need.to]
        if need.distance == 0 or len(others) == 1:
            return True
        self._level.kept_barriers.append(placed)
        return False

    def _drop_implied(
        self, item: Item, start: State, flags: dict[Flag, Snapshot], barriers: list[int]
    ) -> None:
        """Before a loop one flag may bring, through the flags inside, what another one is for."""

        def needs_with(kept: list[Flag]) -> Needs:
            self.restore(start)
            self.now += len(flags) + len(barriers)
            for agent in barriers:
                self.finish(agent)
            for flag in kept:
                self.learn(flag.to, flags[flag])
            return self.perform(item)

        kept = list(flags)
        for flag in flags:
            rest = [other for other in kept if other is not flag]
            if not needs_with(rest):
                kept = rest
                self._level.drop_flag(flag)
        needs_with(kept)
