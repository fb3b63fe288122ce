"""The witness of a host function: what launches read of buffers in gm, and whether it is still
there.

Launches run one after another, so there are no races; what can be wrong is the placement of buffers
over each other, addresses, and what is read before it is written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusec.hw.target import Target
from fusec.simulator.form import ITEMSIZE
from fusec.simulator.host import Host, HostBuffer, HostView, Launch
from fusec.simulator.numerics import Array
from fusec.simulator.track import GmTracks
from fusec.simulator.violations import CORRUPTION, OUT_OF_BOUNDS, UNINITIALISED, Verdict


class HostWitness:
    """Plays a host function. `valid` says of each element of each buffer whether it is written."""

    def __init__(self, host: Host, target: Target, verdict: Verdict):
        self.host = host
        self.target = target
        self.verdict = verdict
        self.valid: list[Array] = [
            np.full(b.nbytes // ITEMSIZE[b.dtype], b.role in ("input", "weight"), np.bool_)
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
        for view, tracks in zip(launch.arguments, arguments, strict=True):
            self._read(launch, view, tracks)
        self._alias(launch, arguments)
        for view, tracks in zip(launch.arguments, arguments, strict=True):
            if tracks.is_written:
                self._write(launch, view, tracks, whole)

    def end(self) -> None:
        """Every output is written whole."""
        for buffer in self.host.buffers:
            if buffer.role == "output" and not self.valid[buffer.index].all():
                message = f'a part of output "{buffer.name}" is never written'
                self.verdict.report(UNINITIALISED, message, buffer.place)

    def _part(self, view: HostView) -> Array:
        item = ITEMSIZE[view.dtype]
        start = view.start // item
        return self.valid[view.buffer.index][start : start + view.nbytes // item]

    def _read(self, launch: Launch, view: HostView, tracks: GmTracks) -> None:
        missing = tracks.exposed & ~self._part(view)
        if not missing.any():
            return
        name = view.buffer.name
        by = self.spoiled.get(view.buffer.index)
        if by is None:
            message = f"@{launch.kernel} reads bytes of {name} that nothing has written"
            self.verdict.report(UNINITIALISED, message, launch.place, launch.kernel, name)
            return
        message = f"@{launch.kernel} reads {name}, of which {by} has overwritten bytes in gm"
        self.verdict.report(CORRUPTION, message, launch.place, launch.kernel, name, by)

    def _alias(self, launch: Launch, arguments: Sequence[GmTracks]) -> None:
        """No argument that is written shares bytes with another one."""
        for i, (a, tracks) in enumerate(zip(launch.arguments, arguments, strict=True)):
            for j, b in enumerate(launch.arguments):
                if not tracks.is_written or i == j or not _share(a, b):
                    continue
                names = f"{a.buffer.name} and {b.buffer.name}"
                message = (
                    f"arguments {i} and {j} ({names}) share bytes, and @{launch.kernel} writes them"
                )
                self.verdict.report(CORRUPTION, message, launch.place, launch.kernel, names)

    def _write(self, launch: Launch, view: HostView, tracks: GmTracks, whole: bool) -> None:
        buffer = view.buffer
        if buffer.role in ("input", "weight"):
            message = f'@{launch.kernel} writes {buffer.role} "{buffer.name}"'
            self.verdict.report(CORRUPTION, message, launch.place, launch.kernel, buffer.name)
        part = self._part(view)
        if whole:
            part |= tracks.written
        else:
            part[...] = True
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
                item = ITEMSIZE[other.dtype]
                first, last = (start - other.address) // item, -(-(end - other.address) // item)
                self.valid[other.index][first:last] = False
                self.spoiled[other.index] = buffer.name


def _share(a: HostView, b: HostView) -> bool:
    if a.buffer is not b.buffer and (a.buffer.address is None or b.buffer.address is None):
        return False
    a_low = (a.buffer.address or 0) + a.start
    b_low = (b.buffer.address or 0) + b.start
    return a_low < b_low + b.nbytes and b_low < a_low + a.nbytes
