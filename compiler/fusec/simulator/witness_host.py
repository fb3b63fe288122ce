"""The witness of a host function: what launches and host calls read of buffers in gm, and whether
it is still there.

They run one after another, so there are no races; what can be wrong is the placement of buffers
over each other, addresses, and what is read before it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fusec.hw.target import Target
from fusec.simulator.host import HOST_TYPES, Host, HostBuffer, HostCall, HostView, Launch
from fusec.simulator.numerics import Array
from fusec.simulator.track import GmTracks
from fusec.simulator.violations import CORRUPTION, OUT_OF_BOUNDS, UNINITIALISED, Verdict


class Use(NamedTuple):
    """What a step does with a buffer, by element: `written`, read before it is written."""

    view: HostView
    written: Array
    exposed: Array


class HostWitness:
    """Plays a host function. `valid` says of each element of each buffer whether it is written."""

    def __init__(self, host: Host, target: Target, verdict: Verdict):
        self.host = host
        self.target = target
        self.verdict = verdict
        self.valid: list[Array] = [
            np.full(
                b.nbytes // HOST_TYPES[b.dtype].itemsize, b.role in ("input", "weight"), np.bool_
            )
            for b in host.buffers
        ]
        self.spoiled: dict[int, str] = {}
        for buffer in host.buffers:
            self._check_address(buffer)

    def _check_address(self, buffer: HostBuffer) -> None:
        if buffer.address is None:
            return
        capacity, alignment = self.target.capacity("gm"), self.target.alignment("gm")
        if buffer.address + buffer.nbytes > capacity:
            message = (
                f"{buffer.name} ends at byte {buffer.address + buffer.nbytes}, "
                f"but gm of {self.target.name} has {capacity}"
            )
            self.verdict.report(OUT_OF_BOUNDS, message, buffer.place)
        if buffer.address % alignment:
            message = f"{buffer.name} lies at {buffer.address}, no multiple of {alignment}"
            self.verdict.report(OUT_OF_BOUNDS, message, buffer.place)

    def launch(self, launch: Launch, arguments: Sequence[GmTracks], whole: bool) -> None:
        """One launch, from what its kernel does with its arguments; `whole` if all blocks were
        played, else it is taken to write all of what it writes to."""
        who = f"@{launch.kernel}"
        for view, tracks in zip(launch.arguments, arguments, strict=True):
            self._read(launch, who, view, tracks.exposed)
        uses = [
            Use(v, t.written, t.exposed) for v, t in zip(launch.arguments, arguments, strict=True)
        ]
        self._alias(launch, who, uses)
        for view, tracks in zip(launch.arguments, arguments, strict=True):
            if tracks.is_written:
                self._write(launch, who, view, tracks.written if whole else None)

    def call(self, call: HostCall) -> None:
        """One host call, which reads and writes its buffers whole."""
        who = f"the host ({call.op_type})"
        for view in call.reads:
            self._read(call, who, view, None)
        read, written = [_all(v, False) for v in call.reads], [_all(v, True) for v in call.writes]
        self._alias(call, who, [*read, *written])
        for view in call.writes:
            self._write(call, who, view, None)

    def end(self) -> None:
        """Every output is written whole."""
        for buffer in self.host.buffers:
            if buffer.role == "output" and not self.valid[buffer.index].all():
                message = f'a part of output "{buffer.name}" is never written'
                self.verdict.report(UNINITIALISED, message, buffer.place)

    def _part(self, view: HostView) -> Array:
        item = HOST_TYPES[view.dtype].itemsize
        start = view.start // item
        return self.valid[view.buffer.index][start : start + view.nbytes // item]

    def _read(
        self, step: Launch | HostCall, who: str, view: HostView, exposed: Array | None
    ) -> None:
        """`exposed` are the elements that are read before the step writes them; None: all."""
        missing = ~self._part(view) if exposed is None else exposed & ~self._part(view)
        if not missing.any():
            return
        name = view.buffer.name
        by = self.spoiled.get(view.buffer.index)
        if by is None:
            message = f"{who} reads bytes of {name} that nothing has written"
            self._report(UNINITIALISED, message, step, name)
            return
        message = f"{who} reads {name}, of which {by} has overwritten bytes in gm"
        self._report(CORRUPTION, message, step, name, by)

    def _report(self, kind: str, message: str, step: Launch | HostCall, *names: str) -> None:
        actor = step.kernel if isinstance(step, Launch) else step.op_type
        self.verdict.report(kind, message, step.place, actor, *names)

    def _alias(
        self,
        step: Launch | HostCall,
        who: str,
        uses: Sequence[Use],
    ) -> None:
        """What is written of one argument shares no bytes with what is used of another one."""
        for i, a in enumerate(uses):
            for j, b in enumerate(uses):
                if i == j or not _share(a, b):
                    continue
                names = f"{a.view.buffer.name} and {b.view.buffer.name}"
                message = f"arguments {i} and {j} ({names}) share bytes, and {who} writes them"
                self._report(CORRUPTION, message, step, names)

    def _write(
        self, step: Launch | HostCall, who: str, view: HostView, written: Array | None
    ) -> None:
        """`written` are the elements that are written; None: all."""
        buffer = view.buffer
        if buffer.role in ("input", "weight"):
            message = f'{who} writes {buffer.role} "{buffer.name}"'
            self._report(CORRUPTION, message, step, buffer.name)
        part = self._part(view)
        if written is None:
            part[...] = True
        else:
            part |= written
        self.spoiled.pop(buffer.index, None)
        if buffer.address is None:
            return
        low = buffer.address + view.start
        high = low + view.nbytes
        for other in self.host.buffers:
            if other.address is None or other is buffer:
                continue
            start, end = max(low, other.address), min(high, other.address + other.nbytes)
            if start < end:
                item = HOST_TYPES[other.dtype].itemsize
                first, last = (start - other.address) // item, -(-(end - other.address) // item)
                self.valid[other.index][first:last] = False
                self.spoiled[other.index] = buffer.name


def _all(view: HostView, written: bool) -> Use:
    """A host call's use of a buffer: all of it."""
    every = np.ones(view.nbytes // HOST_TYPES[view.dtype].itemsize, np.bool_)
    return Use(view, every, ~every) if written else Use(view, ~every, every)


def _share(a: Use, b: Use) -> bool:
    """Whether an element that `a` writes is one that `b` uses."""
    first, second = a.view.buffer, b.view.buffer
    if first is not second and (first.address is None or second.address is None):
        return False
    a_low = (first.address or 0) + a.view.start
    b_low = (second.address or 0) + b.view.start
    low, high = max(a_low, b_low), min(a_low + a.view.nbytes, b_low + b.view.nbytes)
    if low >= high or not a.written.any():
        return False
    size, other = (HOST_TYPES[use.view.dtype].itemsize for use in (a, b))
    if size != other or (a_low - b_low) % size:
        return True
    count = (high - low) // size
    at, to = (low - a_low) // size, (low - b_low) // size
    used = b.written[to : to + count] | b.exposed[to : to + count]
    return bool((a.written[at : at + count] & used).any())
