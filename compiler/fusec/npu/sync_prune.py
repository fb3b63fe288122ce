"""Flags that a kernel is sound without are taken out again.

In: a planned kernel. Out: the same without flags that a loop further inside makes superfluous, when
it surely has several iterations, or that a loop further out does, between the runs of an inner one;
and, once flags were merged, without all that are implied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fusec.npu.hazards import Conflicts
from fusec.npu.order import Walk
from fusec.npu.order_form import Kind
from fusec.npu.sync_form import Flag, Kernel, Region
from fusec.npu.sync_plan import events_suffice, kinds_of, may_restart


def drop_suspects(kernel: Kernel, conflicts: Conflicts) -> bool:
    """Takes out what planning one body at a time cannot see to be superfluous."""
    return _drop(kernel, conflicts, [flag for flag in kernel.flags if _is_suspect(kernel, flag)])


def drop_implied(kernel: Kernel, conflicts: Conflicts) -> bool:
    """Takes out, one by one, the flags without which the kernel is sound; says whether any was."""
    return _drop(kernel, conflicts, [flag for flag in kernel.flags if flag.merged]) | _drop(
        kernel, conflicts, _known_before(kernel, conflicts, kernel.root)
    )


def _known_before(kernel: Kernel, conflicts: Conflicts, region: Region) -> list[Flag]:
    """The flags whose wait is for something of which a part at least is known without it."""
    found: list[Flag] = []
    for item in region.body:
        if isinstance(item, Region):
            found += _known_before(kernel, conflicts, item)
    own = [flag for flag in kernel.flags if flag.region is region and not flag.merged]
    if own:
        walk = Walk(kernel, conflicts, region, kinds_of(region)[0]._replace(thorough=True))
        walk.run()
        for flag in own:
            knew = walk.wait_knew.get((flag, flag.distance))
            if knew is None or knew > walk.entered[flag.setter, 0]:
                found.append(flag)
    return found


def _drop(kernel: Kernel, conflicts: Conflicts, flags: Iterable[Flag]) -> bool:
    dropped = False
    for flag in flags:
        if kernel.has_token(flag) or kernel.leaders:
            continue
        undo = kernel.remove(flag)
        if all(_is_sound(kernel, conflicts, region) for region in _concerned(flag)):
            dropped = True
        else:
            undo()
    return dropped


def _is_suspect(kernel: Kernel, flag: Flag) -> bool:
    if flag.distance > 1 and any(
        (other.region, other.source, other.to) == (flag.region, flag.source, flag.to)
        for other in kernel.between_runs
    ):
        return True
    return any(_carries(kernel, item) for item in _loops_passed(flag))


def _loops_passed(flag: Flag) -> Iterator[Region]:
    """The loops between the operators that the set is for and those that the wait is for."""
    first, last = flag.setter.index, flag.waiter.index
    for item in flag.region.body:
        if not isinstance(item, Region):
            continue
        if item is flag.setter or item is flag.waiter:
            yield from (inner for inner in item.body if isinstance(inner, Region))
        elif first < item.index < last or (
            flag.distance and (flag.distance > 1 or item.index > first or item.index < last)
        ):
            yield item


def _carries(kernel: Kernel, loop: Region) -> bool:
    """Whether a flag goes, here or in a loop inside, to an iteration that surely follows."""
    if loop.trips.low > 1 and any(f.region is loop and f.distance for f in kernel.flags):
        return True
    return any(isinstance(item, Region) and _carries(kernel, item) for item in loop.body)


def _concerned(flag: Flag) -> Iterator[Region]:
    """The bodies whose order a flag is part of."""
    region: Region | None = flag.region
    while region is not None:
        yield region
        region = region.parent


def _is_sound(kernel: Kernel, conflicts: Conflicts, region: Region) -> bool:
    """Whether all that happens in one iteration, or from one to the next, in this loop or between
    two runs of a loop inside, is ordered, and the events suffice."""
    rounds = min(kinds_of(region)[0].rounds, region.trips.high)
    main = Walk(kernel, conflicts, region, Kind(rounds, thorough=True))
    if not main.run():
        return False
    if not region.repeats:
        return True
    for flag in kernel.flags:
        if flag.region.cycle is not region or flag in kernel.tokens:
            continue
        in_one_run = flag.distance or flag.events < rounds
        if in_one_run and not events_suffice(kernel, flag, [main]):
            return False
    return all(
        _runs_follow(kernel, conflicts, region, inner, copies)
        for inner in _runs_in(region)
        for copies in inner.rotations
        if copies in may_restart(inner) or copies >= inner.trips.high
    )


def _runs_follow(
    kernel: Kernel, conflicts: Conflicts, region: Region, inner: Region, copies: int
) -> bool:
    """The same of two runs of an inner loop, for the events and buffers with so many copies."""
    walk = Walk(kernel, conflicts, region, Kind(2, between=(inner, copies), thorough=True))
    if not walk.run():
        return False
    return all(
        flag in kernel.tokens or walk.set_knew[flag, 1] >= walk.wait_time[flag, 0]
        for flag in kernel.flags
        if flag.region.cycle is inner and flag.distance == 0 and flag.events == copies
    )


def _runs_in(region: Region) -> Iterator[Region]:
    """The loops that have a run in each iteration of a loop, and no repeating loop in between."""
    for item in region.body:
        if isinstance(item, Region):
            if item.repeats:
                yield item
            else:
                yield from _runs_in(item)
