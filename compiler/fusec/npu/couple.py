"""Loops beside each other take over each other's events.

In: the flags of a kernel. Out: two flags of one pair of pipes, in two loops of which neither is
around the other, coupled: they have the same events. Each loop then waits, in its first iterations,
for the last ones of the loop before it.

A flag from one iteration to the next is up whenever its loop does not run, so one loop can lower
what the other has raised. A flag within an iteration must have been awaited before the other loop
sets it. So it is if, in both loops, coupled flags of the other direction stand around it: the
source waits for one before it sets, the target sets one after it has waited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fusec.npu.sync_form import Flag, Kernel, Region


def couple_one(kernel: Kernel, flags: Sequence[Flag]) -> bool:
    """Couples one of the flags with others, if that can be; flags of the other direction too."""
    if len({flag.region for flag in flags}) < 2:
        return False
    heads = [flag for flag in flags if kernel.leader(flag) is flag]
    alone = [flag for flag in heads if len(kernel.coupled(flag)) == 1]
    for a in heads:
        for b in alone:
            if a is not b and _fit(kernel, a, b) and _couple(kernel, a, b):
                return True
    return False


def _couple(kernel: Kernel, a: Flag, b: Flag) -> bool:
    if a.distance:
        kernel.couple(a, b)
        return True
    for x in [kernel.relies[a]] if a in kernel.relies else _around(kernel, a):
        for y in _around(kernel, b):
            if kernel.leader(x) is kernel.leader(y) or _fit(kernel, x, y):
                kernel.couple(x, y)
                kernel.couple(a, b)
                kernel.relies[a] = x
                return True
    return False


def _fit(kernel: Kernel, a: Flag, b: Flag) -> bool:
    """Whether all that are coupled with either are alike, and in loops beside each other."""
    if (a.source, a.to, a.events) != (b.source, b.to, b.events):
        return False
    if bool(a.distance) != bool(b.distance) or kernel.has_token(a) or kernel.has_token(b):
        return False
    return all(_beside(x.region, y.region) for x in kernel.coupled(a) for y in kernel.coupled(b))


def _beside(a: Region, b: Region) -> bool:
    """Whether neither loop is around the other, and one in the kernel's body is around both."""
    if a.op is None or b.op is None or a.outermost is not b.outermost:
        return False
    return not (_is_around(a, b) or _is_around(b, a))


def _is_around(outer: Region, inner: Region | None) -> bool:
    while inner is not None and inner is not outer:
        inner = inner.parent
    return inner is outer


def _around(kernel: Kernel, flag: Flag) -> Iterator[Flag]:
    """The flags of the other direction that stand around a flag."""
    for back in kernel.flags:
        if (
            (back.source, back.to, back.events) == (flag.to, flag.source, flag.events)
            and back.region is flag.region
            and back.distance > 0
            and back.waiter.index <= flag.setter.index
            and flag.waiter.index <= back.setter.index
            and not kernel.has_token(back)
        ):
            yield back
