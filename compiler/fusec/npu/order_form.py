"""What a walk of `order` remembers: accesses, what sets hand on, what is still to be ordered."""

from __future__ import annotations

from typing import NamedTuple

from fusec.npu.sync_form import Flag, Item, Part, Region

Extra = dict[tuple[int, int], int]
"""(entry of a loop that may be empty, agent) -> what is done of that loop's own commands."""


class Snapshot(NamedTuple):
    """What a set hands on, at `time`. `entry`: when the flag's loop was entered; `key`: when the
    innermost loop around the set that may be empty was entered, or 0."""

    clock: list[int]
    extra: Extra
    time: int
    entry: int
    key: int


class Last(NamedTuple):
    """The last access to a part by one pipe: its time, and where it stands in the walked body."""

    time: int
    item: Item


class Record:
    """The last accesses to a part in one iteration, by agent and loops around (see `Extra`)."""

    __slots__ = ("part", "reads", "writes")

    def __init__(self, part: Part) -> None:
        self.part = part
        self.reads: dict[tuple[int, tuple[int, ...]], Last] = {}
        self.writes: dict[tuple[int, tuple[int, ...]], Last] = {}


class Need(NamedTuple):
    """Agent `to` must wait for what `source` was given up to `time`, in `item`, `distance`
    iterations ago, in the loops that may be empty and were entered at `keys`."""

    source: int
    to: int
    time: int
    item: Item
    distance: int
    keys: tuple[int, ...]

    def is_met(self, clock: list[int], extra: Extra) -> bool:
        if clock[self.source] >= self.time:
            return True
        return any(extra.get((key, self.source), 0) >= self.time for key in self.keys)


Needs = dict[tuple[int, int], Need]
"""(source, to) -> the latest."""


class State(NamedTuple):
    """Where a walk is."""

    now: int
    known: list[list[int]]
    extra: list[Extra]
    sets: dict[tuple[Flag, int], Snapshot]


class Kind(NamedTuple):
    """What a walk plays.

    `adjacent`: two rounds that use the same copy of the loop's buffers with so many copies, as the
    last iteration of one run and the first of the next may; only these buffers are looked at.
    `between`: the same of a loop further inside, between two of its runs; only its buffers with so
    many copies are looked at.
    """

    rounds: int
    adjacent: int | None = None
    between: tuple[Region, int] | None = None
    thorough: bool = False
