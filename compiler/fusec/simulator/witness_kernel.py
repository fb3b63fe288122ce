"""The witness of one placed kernel: plays its blocks without computing anything and checks each
access.

Bounds, alignment and event numbers against the target; bytes that were never written or belong to
another buffer; accesses that no flag, barrier or block order orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from fusec.hw.target import Target
from fusec.simulator.clocks import Clocks
from fusec.simulator.form import (
    Alloc,
    Barrier,
    BlockFlag,
    Bound,
    Buffer,
    Flag,
    Instr,
    Kernel,
    ScalarLoad,
    View,
)
from fusec.simulator.numerics import DTYPES, Array
from fusec.simulator.shapes import shape_fault
from fusec.simulator.stream import Broken, Region, RegionOrValue, stream_of
from fusec.simulator.track import GmTracks, LocalTracks, box_of
from fusec.simulator.violations import CORRUPTION, EVENT, OUT_OF_BOUNDS, SHAPE, Verdict
from fusec.simulator.witness_findings import Access, Findings


class KernelWitness:
    """Plays one kernel. `arguments` afterwards tells what the launch reads and writes in gm."""

    def __init__(
        self, kernel: Kernel, target: Target, verdict: Verdict, arrays: Sequence[Array | None] = ()
    ):
        self.kernel = kernel
        self.target = target
        self.verdict = verdict
        self.arrays = arrays
        self.clocks = Clocks(verdict)
        self.stream = stream_of(kernel, checks=True)
        use = kernel.argument_use()
        self.arguments = [
            GmTracks(a.nbytes, a.itemsize, written)
            for a, (_, written) in zip(kernel.arguments, use, strict=True)
        ]
        self.locals = {space: self._local(space) for space in {b.space for b in kernel.allocs}}
        self.instances: list[Buffer | None] = [None]
        self.first_instance = 1
        self.current: dict[int, tuple[int, int]] = {}
        self.started: set[int] = set()
        self.findings = Findings(verdict, self.clocks)
        self.instructions = 0
        self.shapes: set[tuple[int, tuple[tuple[int, ...] | None, ...]]] = set()

    def _local(self, space: str) -> LocalTracks:
        unit = 8
        for buffer in self.kernel.allocs:
            if buffer.space == space:
                unit = gcd(unit, buffer.itemsize, buffer.address or 0, buffer.pitch)
        return LocalTracks(self.target.capacity(space), unit)

    # Statically

    def check_static(self) -> None:
        """What needs no run: addresses against the target, numbers of events and flags."""
        for buffer in self.kernel.allocs:
            self._check_address(buffer)
        for instr in self.kernel.instructions:
            for write in instr.writes:
                for other in {*instr.reads, *instr.writes}:
                    self._check_operands(instr, instr.view(other), instr.view(write))

    def _check_address(self, buffer: Buffer) -> None:
        capacity = self.target.capacity(buffer.space)
        alignment = self.target.alignment(buffer.space)
        address = buffer.address or 0
        end = address + (buffer.copies - 1) * buffer.pitch + buffer.storage
        if end > capacity:
            message = (
                f"{buffer.name}, {buffer.copies} x {buffer.pitch} bytes at {address}, ends at "
                f"{end}, but {buffer.space} of {self.target.name} has {capacity} bytes"
            )
            self.verdict.report(OUT_OF_BOUNDS, message, buffer.place)
        if address % alignment:
            message = f"{buffer.name} lies at {address}, no multiple of {alignment}"
            self.verdict.report(OUT_OF_BOUNDS, message, buffer.place)

    def _check_operands(self, instr: Instr, source: View, dest: View) -> None:
        """A source that shares bytes with the destination through another buffer."""
        a, b = source.buffer, dest.buffer
        if a is b or a.space != b.space or a.address is None or b.address is None:
            return
        a_end, b_end = a.address + a.copies * a.pitch, b.address + b.copies * b.pitch
        if a.address < b_end and b.address < a_end:
            message = f"its operands {a.name} and {b.name} share bytes of {a.space}"
            self.verdict.report(CORRUPTION, message, instr.place)

    # Blocks

    def run(self, blocks: int, max_instructions: int | None) -> float:
        """Plays blocks, evenly spread if there are more instructions than `max_instructions`; at
        least one. Returns the part of the blocks that was played."""
        done = 0
        for block in spread(blocks):
            if max_instructions is not None and self.instructions >= max_instructions:
                break
            if not self._play(block, blocks, max_instructions):
                return (done + 0.5) / blocks
            done += 1
        return done / blocks

    def _play(self, block: int, blocks: int, limit: int | None) -> bool:
        """One block; False if it was left before its end."""
        self.findings.block = block
        self.first_instance = len(self.instances)
        self.started.clear()
        self.clocks.start_block()
        for operator, payload in self.stream(block, blocks, self._scalar):
            match operator:
                case Instr():
                    self.instructions += 1
                    self._instruction(operator, payload)
                    if limit is not None and self.instructions >= 2 * limit:
                        self.clocks.forget()
                        return False
                case Flag():
                    self._flag(operator, payload)
                case Alloc():
                    self._alloc(operator.buffer, payload)
                case Barrier():
                    self.clocks.barrier(operator)
                case BlockFlag():
                    self._block_flag(operator)
                case ScalarLoad():
                    self._scalar_load(operator, payload)
                case Broken():
                    self._broken(operator.view, operator.bound, payload)
        self.clocks.end_block(block)
        return True

    def _alloc(self, buffer: Buffer, slot: int) -> None:
        self.instances.append(buffer)
        start = (buffer.address or 0) + slot * buffer.pitch
        self.current[buffer.index] = (len(self.instances) - 1, start)

    def _flag(self, flag: Flag, first: int) -> None:
        limit = self.target.sync.event_ids
        if first + flag.count > limit:
            message = f"event {first + flag.count - 1} of a pair of pipes that has {limit}"
            self.verdict.report(EVENT, message, flag.place)
        self.clocks.flag(flag, first)

    def _block_flag(self, flag: BlockFlag) -> None:
        limit = self.target.sync.cross_core_ids
        if flag.flag >= limit:
            message = f"cross-core flag {flag.flag} on a chip that has {limit}"
            self.verdict.report(EVENT, message, flag.place)
        self.clocks.block_flag(flag)

    def _broken(self, view: View, bound: Bound, payload: tuple[int, int, int, int]) -> None:
        start, size, step, limit = payload
        last = start + (size - 1) * step
        message = (
            f"axis {bound.axis} of {view.name} takes {size} from {start} to {last} "
            f"of {limit} (block {self.findings.block})"
        )
        self.verdict.report(OUT_OF_BOUNDS, message, view.place, str(bound.axis))

    # Accesses

    def _scalar(self, load: ScalarLoad, region: Region) -> int | float | bool:
        """The value of a scalar load: of the argument's array where one is given, else 0."""
        position = load.view.buffer.argument
        array = None if position is None or position >= len(self.arrays) else self.arrays[position]
        if array is None or not 0 <= region[0] < array.nbytes:
            return 0
        return array.reshape(-1)[region[0] // DTYPES[load.view.dtype].itemsize].item()

    def _scalar_load(self, load: ScalarLoad, regions: tuple[Region]) -> None:
        access = self._access(load.view, regions[0])
        if access is None:
            return
        for agent in load.agents:
            self.clocks.submit(agent, lambda a=agent: self._do_scalar(load, a, access))

    def _do_scalar(self, load: ScalarLoad, agent: int, access: Access) -> None:
        time = self.clocks.item(agent, load)
        self._read(load, agent, access)
        self._note_read(agent, access, time)
        self.clocks.scalar_done(agent)

    def _instruction(self, instr: Instr, regions: tuple[RegionOrValue, ...]) -> None:
        positions = instr.reads
        if instr.kind == "mmad" and regions[2] and 3 in positions:
            positions = tuple(p for p in positions if p != 3)
        reads = [self._access_of(instr, p, regions) for p in positions]
        writes = [self._access_of(instr, p, regions) for p in instr.writes]
        self._check_shapes(instr, regions)
        self.clocks.submit(instr.agent, lambda: self._do(instr, reads, writes))

    def _check_shapes(self, instr: Instr, regions: tuple[RegionOrValue, ...]) -> None:
        shapes = tuple(r[1] if isinstance(r, tuple) else None for r in regions)
        if (instr.index, shapes) in self.shapes:
            return
        self.shapes.add((instr.index, shapes))
        fault = shape_fault(instr, shapes)
        if fault is not None:
            message = f"{fault} (block {self.findings.block})"
            self.verdict.report(SHAPE, message, instr.place, "shape")

    def _do(self, instr: Instr, reads: list[Access | None], writes: list[Access | None]) -> None:
        agent = instr.agent
        time = self.clocks.item(agent, instr)
        for access in reads:
            if access is not None:
                self._read(instr, agent, access)
        for access in writes:
            if access is not None:
                self._write(instr, agent, access)
        for access in reads:
            if access is not None:
                self._note_read(agent, access, time)
        for access in writes:
            if access is not None:
                self._note_write(agent, access, time)

    def _access_of(
        self, instr: Instr, position: int, regions: tuple[RegionOrValue, ...]
    ) -> Access | None:
        region = regions[position]
        return self._access(instr.view(position), region) if isinstance(region, tuple) else None

    def _access(self, view: View, region: Region) -> Access | None:
        """The access, or None if nothing is accessed or it is out of bounds (then reported)."""
        buffer = view.buffer
        unit = buffer.itemsize if buffer.argument is not None else self.locals[buffer.space].unit
        try:
            box = box_of(region[1], region[2], buffer.itemsize, unit)
        except ValueError as error:
            self.verdict.report(OUT_OF_BOUNDS, f"{view.name}: {error}", view.place, "negative")
            return None
        if box is None:
            return None
        instance, base = self.current.get(buffer.index, (0, buffer.address or 0))
        low, high = region[0] + box.low - base, region[0] + box.high - base
        if low < 0 or high > buffer.nbytes:
            message = (
                f"{view.name} reaches from byte {low} to {high} of {buffer.name}, which has "
                f"{buffer.nbytes} (block {self.findings.block})"
            )
            self.verdict.report(OUT_OF_BOUNDS, message, view.place, "extent")
            return None
        if buffer.argument is None and region[0] + box.high > self.target.capacity(buffer.space):
            return None
        return Access(view, region, box, instance, base)

    def _read(self, operator: Instr | ScalarLoad, agent: int, access: Access) -> None:
        view, region, box = access.view, access.region, access.box
        buffer = view.buffer
        if buffer.argument is not None:
            tracks = self.arguments[buffer.argument]
            if tracks.expose(region, box) and buffer.workspace:
                self.findings.uninitialised(operator, access)
            if not tracks.is_written:
                return
            base = self.clocks.base
            other = tracks.earlier(tracks.writes, region, box, base)
            self.findings.across(operator, agent, access, other)
        else:
            tracks = self.locals[buffer.space]
            other = tracks.foreign(region, box, access.instance)
            if other is not None:
                owner = self.instances[other] if other >= self.first_instance else None
                self.findings.foreign(operator, access, owner)
        known = self._known(operator, agent, access)
        found = tracks.unordered(tracks.writes, region, box, known)
        self.findings.race(operator, agent, access, found)

    def _write(self, instr: Instr, agent: int, access: Access) -> None:
        region, box = access.region, access.box
        position = access.view.buffer.argument
        tracks = self.locals[access.view.space] if position is None else self.arguments[position]
        if isinstance(tracks, GmTracks):
            base = self.clocks.base
            for times in (tracks.writes, tracks.reads):
                self.findings.across(instr, agent, access, tracks.earlier(times, region, box, base))
            if tracks.part(tracks.shared, region, box).any():
                self.findings.across(instr, agent, access, agent)
        known = self._known(instr, agent, access)
        for times in (tracks.writes, tracks.reads):
            self.findings.race(instr, agent, access, tracks.unordered(times, region, box, known))

    def _note_read(self, agent: int, access: Access, time: int) -> None:
        region, box = access.region, access.box
        position = access.view.buffer.argument
        if position is None:
            tracks = self.locals[access.view.space]
            tracks.note(tracks.reads, agent, region, box, time)
            return
        gm = self.arguments[position]
        if gm.is_written:
            gm.share(region, box, self.clocks.base)
            gm.note(gm.reads, agent, region, box, time)

    def _note_write(self, agent: int, access: Access, time: int) -> None:
        region, box = access.region, access.box
        position = access.view.buffer.argument
        if position is None:
            tracks = self.locals[access.view.space]
            if access.instance not in self.started:
                self.started.add(access.instance)
                tracks.take(access.start, access.view.buffer.storage, access.instance)
            tracks.own(region, box, access.instance)
            tracks.note(tracks.writes, agent, region, box, time)
            return
        gm = self.arguments[position]
        gm.part(gm.written, region, box)[...] = True
        gm.note(gm.writes, agent, region, box, time)

    def _known(self, operator: Instr | ScalarLoad, agent: int, access: Access) -> list[int]:
        """What is finished before; the hardware itself orders products into one accumulator."""
        known = self.clocks.known[agent]
        if not isinstance(operator, Instr) or operator.kind != "mmad":
            return known
        if access.view.space != "l0c":
            return known
        ordered = list(known)
        ordered[agent] = len(self.clocks.history[agent])
        return ordered


def spread(blocks: int) -> list[int]:
    """All block numbers, the first and the last first, then the middles of what is left."""
    order = dict.fromkeys([0, blocks - 1])
    parts = 2
    while len(order) < blocks:
        order.update(dict.fromkeys(blocks * i // parts for i in range(parts)))
        parts *= 2
    return list(order)[:blocks]
