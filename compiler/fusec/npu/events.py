"""Numbers of events and of cross-core flags.

In: the planned flags of a kernel. Out: a number for each, within what a pair of pipes has. Where
the numbers are not enough they are shared by flags of which one is certainly over when the next
begins; then neighbouring flags are merged; then those of neighbouring loops are coupled; then the
scalar pipe waits instead (`Hold`), which needs one number for all. What merged flags make
superfluous is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from fusec.hw import Target
from fusec.npu.couple import couple_one
from fusec.npu.hazards import Conflicts
from fusec.npu.order import Walk
from fusec.npu.order_form import Kind
from fusec.npu.sync_form import Flag, Hold, Item, Kernel, Region
from fusec.npu.sync_prune import drop_implied
from fusec_dialects.npu.attrs import Core, Pipe
from fusec_dialects.npu.base import Agent
from fusec_dialects.npu.control import BLOCK_FLAGS, EVENT_IDS

Pair = tuple[int, int] | None
"""Agents of one core; None for all flags between the cores."""


def number_flags(kernel: Kernel, conflicts: Conflicts, target: Target) -> None:
    """Gives every flag its first number, changing the plan where there are not enough."""
    limits = Limits(kernel, target)
    changed = bool(kernel.tokens)
    while True:
        group = _number(kernel, conflicts, limits)
        if group:
            pair = None if kernel.cross(group[0]) else (group[0].source, group[0].to)
            events = sum(flag.events for flag in group if kernel.leader(flag) is flag)
            _reduce(kernel, group, events - limits.of(pair))
            changed = True
        elif changed:
            changed = drop_implied(kernel, conflicts)
        else:
            return


class Limits:
    """How many numbers there are. The last ones are kept for the holds of the kernel."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        self._kernel = kernel
        self._events = min(target.sync.event_ids, EVENT_IDS)
        self._block_flags = min(target.sync.cross_core_ids, BLOCK_FLAGS)

    def of(self, pair: Pair) -> int:
        holds = list(holds_of(self._kernel.root))
        if pair is None:
            crossing = {h.source for h in holds if self._kernel.cross(h)}
            return self._block_flags - len(crossing)
        held = any(pair in self.way(hold) for hold in holds if not self._kernel.cross(hold))
        return self._events - held

    def hold_event(self) -> int:
        """The event of every hold within a core."""
        return self._events - 1

    def hold_flag(self, hold: Hold) -> int:
        """The cross-core flag of a hold: one for each source."""
        sources = {h.source for h in holds_of(self._kernel.root) if self._kernel.cross(h)}
        return self._block_flags - 1 - sorted(sources).index(hold.source)

    def way(self, hold: Hold) -> list[tuple[int, int]]:
        """The pairs of pipes through which a hold goes. In a mixed kernel `<mte2> to <s>` does not
        say on which core: it goes through a pipe that only one core has."""
        kernel = self._kernel
        source = kernel.agents[hold.source]
        scalar = kernel.scalars[hold.source]
        mixed = len({agent.core for agent in kernel.agents}) > 1
        if source.pipe != Pipe.MTE2 or not mixed:
            return [(hold.source, scalar)]
        partner = Agent(source.core, Pipe.MTE1 if source.core == Core.CUBE else Pipe.V)
        if partner not in kernel.agents:
            kernel.agents.append(partner)
            kernel.scalars.append(scalar)
        between = kernel.agents.index(partner)
        return [(hold.source, between), (between, scalar)]


def holds_of(region: Region) -> Iterator[Hold]:
    for item in region.body:
        for command in (*item.before, *item.after):
            if isinstance(command, Hold):
                yield command
        if isinstance(item, Region):
            yield from holds_of(item)


def _number(kernel: Kernel, conflicts: Conflicts, limits: Limits) -> list[Flag]:
    """Numbers the flags pair by pair; returns the flags of a pair that has not enough numbers."""
    groups: dict[Pair, list[Flag]] = {}
    for flag in sorted(kernel.flags, key=lambda flag: flag.position):
        pair = None if kernel.cross(flag) else (flag.source, flag.to)
        groups.setdefault(pair, []).append(flag)
    walk: Walk | None = None
    for pair, group in groups.items():
        limit = limits.of(pair)
        heads = [flag for flag in group if kernel.leader(flag) is flag]
        if sum(flag.events for flag in heads) <= limit:
            _count_up(heads)
        elif pair is None or not _may_share(heads):
            return group
        else:
            if walk is None:
                walk = Walk(kernel, conflicts, kernel.root, Kind(1))
                walk.run()
            if not _share(kernel, heads, limit, walk):
                return group
        for flag in group:
            flag.number = kernel.leader(flag).number
    return []


def _count_up(flags: list[Flag]) -> None:
    number = 0
    for flag in flags:
        flag.number = number
        number += flag.events


def _may_share(flags: list[Flag]) -> bool:
    """Not if all are in one loop: none of them is over before the loop is."""
    loops = {flag.region.outermost for flag in flags}
    return len(loops) > 1 or any(flag.region.op is None for flag in flags)


def _share(kernel: Kernel, heads: list[Flag], limit: int, walk: Walk) -> bool:
    """Numbers flags so that those with a common number are never up at once."""
    users: list[Flag | None] = [None] * limit
    firsts = {head: min(kernel.coupled(head), key=walk.first_set) for head in heads}
    for head in sorted(heads, key=lambda head: walk.first_set(firsts[head])):
        for number in range(limit - head.events + 1):
            wanted = users[number : number + head.events]
            if all(
                user is None or _is_over(each, firsts[head], walk)
                for user in wanted
                for each in ([] if user is None else kernel.coupled(user))
            ):
                head.number = number
                users[number : number + head.events] = [head] * head.events
                break
        else:
            return False
    return True


def _is_over(old: Flag, new: Flag, walk: Walk) -> bool:
    """Whether the source of `new` knows, when it first sets it, that `old` was last awaited."""
    if old.region.op is not None and old.region.outermost is new.region.outermost:
        return False
    return walk.known_at_first_set(new) >= walk.wait_time[old, 0]


def _reduce(kernel: Kernel, group: list[Flag], excess: int) -> None:
    """Fewer events: flags merged that are close to each other, or flags of loops beside each other
    coupled, or one flag replaced by a hold. `excess`: how many events there are too many."""
    merged = 0
    for _ in range(max(excess // 4, 1)):
        nearest = _nearest([flag for flag in group if flag in kernel.flags], kernel)
        if nearest is None:
            break
        group.append(_merge(kernel, *nearest))
        merged += 1
    if merged:
        return
    if not couple_one(kernel, [flag for flag in group if not kernel.cross(flag)]):
        _hold(kernel, min(group, key=lambda flag: (flag.region.depth, -flag.position)))


def _nearest(flags: list[Flag], kernel: Kernel) -> tuple[Flag, Flag] | None:
    """The two flags that are merged with the least loss, of neighbours in program order."""
    bodies: dict[tuple[int, int, Region, bool], list[Flag]] = {}
    for flag in sorted(flags, key=lambda flag: flag.setter.index):
        if not kernel.has_token(flag) and len(kernel.coupled(flag)) == 1:
            key = (flag.source, flag.to, flag.region, flag.distance > 0)
            bodies.setdefault(key, []).append(flag)
    pairs = [(a, b) for body in bodies.values() for a, b in pairwise(body) if _mergeable(a, b)]
    return min(pairs, key=lambda pair: _distance(*pair), default=None)


def _mergeable(a: Flag, b: Flag) -> bool:
    """Within an iteration the later set must stand before the earlier wait."""
    last_set, first_wait = max(a.setter.index, b.setter.index), min(a.waiter.index, b.waiter.index)
    return a.distance > 0 or last_set < first_wait


def _distance(a: Flag, b: Flag) -> int:
    return abs(a.setter.index - b.setter.index) + abs(a.waiter.index - b.waiter.index)


def _merge(kernel: Kernel, a: Flag, b: Flag) -> Flag:
    """The later set and the earlier wait do for both; so do the fewer events, since the set comes
    later and the wait earlier than those for which they were enough."""

    def index(item: Item) -> int:
        return item.index

    fewer = min(a, b, key=lambda flag: flag.events)
    merged = Flag(
        a.source,
        a.to,
        a.region,
        max(a.setter, b.setter, key=index),
        min(a.waiter, b.waiter, key=index),
        min(a.distance, b.distance),
        fewer.events,
        fewer.slot,
        merged=True,
    )
    kernel.remove(a)
    kernel.remove(b)
    kernel.add(merged)
    return merged


def _hold(kernel: Kernel, flag: Flag) -> None:
    """The scalar pipe waits in place of a flag, and in place of its draining; in place of a token,
    for the flag that it belongs to."""
    owner = next((owner for owner, token in kernel.tokens.items() if token is flag), flag)
    token = kernel.tokens.pop(owner, None)
    if token is not None:
        kernel.remove(token)
    kernel.remove(owner)
    kernel.leaders.clear()
    kernel.relies.clear()
    hold = Hold(owner.source, owner.to)
    behind = [owner.region.outermost.after] if owner.distance else []
    for commands in (owner.waiter.before, *behind):
        if hold not in commands:
            commands.append(hold)
