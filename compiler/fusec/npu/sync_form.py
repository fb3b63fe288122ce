"""What npu-sync works on: a kernel as a tree of steps and loops, with the flags put between them.

A step is one operator on one pipe. `before` and `after` hold the commands that the pass will print
there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue

from fusec.npu.disjoint import Box
from fusec.npu.intervals import Interval
from fusec_dialects.npu.attrs import Pipe, Space
from fusec_dialects.npu.base import Agent
from fusec_dialects.npu.move import AllocOp


@dataclass(eq=False, slots=True)
class Buffer:
    """A gm argument, or an alloc in the bytes low ... high - 1 of its space, all copies included.

    `home` is the loop that it rotates in, if it has several copies. `sharers` are other buffers in
    the same bytes.
    """

    base: SSAValue
    space: Space
    low: int = 0
    high: int = 0
    copies: int = 1
    home: Region | None = None
    is_written: bool = False
    parts: list[Part] = field(default_factory=list["Part"])
    sharers: list[Buffer] = field(default_factory=list["Buffer"])


@dataclass(eq=False, slots=True)
class Part:
    """What some operator touches of a buffer; `box` is None where it may be all of it."""

    buffer: Buffer
    box: Box | None


class Touch(NamedTuple):
    part: Part
    writes: bool


@dataclass(eq=False, slots=True)
class Step:
    """An operator on a pipe: `agent`, in `Kernel.agents`. `index` is its place in the body,
    `position` that in the function (see `buffers`)."""

    op: Operation
    agent: int
    touches: list[Touch]
    index: int
    position: int
    before: list[Command] = field(default_factory=list["Command"])
    after: list[Command] = field(default_factory=list["Command"])

    @property
    def agents(self) -> tuple[int, ...]:
        return (self.agent,)


@dataclass(eq=False, slots=True)
class Region:
    """A loop, or (`op` is None) the whole kernel.

    `rotations`: a buffer that rotates in the loop, for each number of copies.
    """

    op: ForOp | None
    parent: Region | None
    depth: int
    trips: Interval
    index: int
    position: int = 0
    body: list[Item] = field(default_factory=list["Item"])
    agents: tuple[int, ...] = ()
    rotations: dict[int, AllocOp] = field(default_factory=dict[int, AllocOp])
    before: list[Command] = field(default_factory=list["Command"])
    after: list[Command] = field(default_factory=list["Command"])
    primed: list[Flag] = field(default_factory=list["Flag"])

    @property
    def may_be_empty(self) -> bool:
        return self.trips.low < 1

    @property
    def repeats(self) -> bool:
        """Whether one run may have several iterations."""
        return self.trips.high > 1

    @property
    def nested(self) -> bool:
        """Whether there may be several runs."""
        return self.parent is not None and self.parent.cycle is not None

    @property
    def cycle(self) -> Region | None:
        """The innermost loop, this or around it, that repeats."""
        region: Region | None = self
        while region is not None and not region.repeats:
            region = region.parent
        return region

    @property
    def outermost(self) -> Region:
        """The loop around this one that stands in the kernel's body, or this."""
        region = self
        while region.parent is not None and region.parent.parent is not None:
            region = region.parent
        return region


Item: TypeAlias = Step | Region


@dataclass(eq=False, slots=True)
class Flag:
    """An event from agent `source` to agent `to`, set after `setter` and awaited before `waiter`.

    Both stand in the body of `region`. Distance 0: the wait follows the set in the same iteration.
    Distance d: the wait stands first and is for the set d iterations earlier; the flag is primed
    before the outermost loop and drained after it. `events` is 1, or the copies of `slot`.
    """

    source: int
    to: int
    region: Region
    setter: Item
    waiter: Item
    distance: int
    events: int = 1
    slot: AllocOp | None = None
    merged: bool = False
    number: int = -1

    @property
    def position(self) -> int:
        """Of what comes first in program order, set or wait."""
        return min(self.setter.position, self.waiter.position)


class Set(NamedTuple):
    flag: Flag


class Wait(NamedTuple):
    flag: Flag


class Barrier(NamedTuple):
    agent: int


class Hold(NamedTuple):
    """The scalar pipe of agent `to` waits for all that `source` has been given, and issues nothing
    meanwhile. Needs no event of its own, no priming, and is never too early."""

    source: int
    to: int


Command: TypeAlias = Set | Wait | Barrier | Hold


@dataclass(eq=False, slots=True)
class Kernel:
    """`scalars[a]` is the index of the scalar pipe on the core of agent a."""

    root: Region
    agents: list[Agent]
    scalars: list[int]
    alloc_positions: dict[AllocOp, int]
    flags: list[Flag] = field(default_factory=list[Flag])
    between_runs: list[Flag] = field(default_factory=list[Flag])
    """Flags that only the last iteration of a loop and the first of its next run may need."""
    tokens: dict[Flag, Flag] = field(default_factory=dict["Flag", "Flag"])
    """Flag -> the flag that tells its source that it was awaited."""
    leaders: dict[Flag, Flag] = field(default_factory=dict["Flag", "Flag"])
    """Flag -> the flag of which it has the events (see `couple`)."""
    relies: dict[Flag, Flag] = field(default_factory=dict["Flag", "Flag"])
    """Leader of coupled flags -> one of the coupled flags that stand around them."""

    def pipe(self, agent: int) -> Pipe:
        return self.agents[agent].pipe

    def cross(self, flag: Flag | Hold) -> bool:
        """Whether a flag is between the two cores."""
        return self.agents[flag.source].core != self.agents[flag.to].core

    def has_token(self, flag: Flag) -> bool:
        """Whether the flag needs a token, or is one."""
        return flag in self.tokens or flag in self.tokens.values()

    def leader(self, flag: Flag) -> Flag:
        return self.leaders.get(flag, flag)

    def coupled(self, flag: Flag) -> list[Flag]:
        """All flags with the events of this one."""
        leader = self.leader(flag)
        return [leader, *(other for other, first in self.leaders.items() if first is leader)]

    def couple(self, a: Flag, b: Flag) -> None:
        leader = self.leader(a)
        for flag in self.coupled(b):
            if flag is not leader:
                self.leaders[flag] = leader

    def add(self, flag: Flag) -> None:
        """Puts a flag in: set and wait, priming and draining."""
        flag.setter.after.append(Set(flag))
        flag.waiter.before.append(Wait(flag))
        self.flags.append(flag)
        if flag.distance:
            flag.region.outermost.primed.append(flag)

    def remove(self, flag: Flag) -> Callable[[], None]:
        """Takes a flag out; the result puts it back where it was."""
        lists: list[list[Command]] = []
        for item in (flag.setter, flag.waiter):
            lists += [item.before, item.after]
        primed = flag.region.outermost.primed
        saved, saved_primed = [list(commands) for commands in lists], list(primed)
        saved_flags = list(self.flags)
        for commands in lists:
            commands[:] = [
                c for c in commands if not (isinstance(c, Set | Wait) and c.flag is flag)
            ]
        self.flags.remove(flag)
        if flag.distance:
            primed.remove(flag)

        def undo() -> None:
            for commands, old in zip(lists, saved, strict=True):
                commands[:] = old
            self.flags[:], primed[:] = saved_flags, saved_primed

        return undo
