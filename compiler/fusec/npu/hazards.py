"""Which operators of a placed kernel may touch the same bytes, one of them writing.

In: a kernel function and its target. Out: the tree of `sync_form` and, for each part of a buffer,
the parts that it conflicts with: in the same iteration of a loop, in the next one, or in the next
one that uses the same copy of a rotating buffer. Parts without a conflict are certainly apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import LoadOp
from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import PassFailedException

from fusec.hw import Target
from fusec.npu.buffers import Access, FunctionAccesses, Loop, accesses, cores_of
from fusec.npu.disjoint import Box, Instances, Views
from fusec.npu.intervals import Interval, Intervals
from fusec.npu.module import blocks_of
from fusec.npu.plan import copy_bytes
from fusec.npu.sync_form import Buffer, Kernel, Part, Region, Step, Touch
from fusec_dialects.npu.attrs import Core, Pipe, Space, space_of
from fusec_dialects.npu.base import Agent
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.npu.storage import storage_bytes
from fusec_dialects.place import place

_ONCE = Interval(1, 1)

Neighbours = Callable[[Part], list[Part]]


class Conflicts:
    """The parts that a part conflicts with, computed when first asked for."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._same: dict[tuple[int, Part], list[Part]] = {}
        self._carried: dict[tuple[Region, Part], list[Part]] = {}
        self._rotated: dict[Part, list[Part]] = {}

    def same(self, region: Region) -> Neighbours:
        """Conflicts within one iteration of a loop, or within the kernel."""
        instances, known = Instances(region.depth), self._same

        def neighbours(part: Part) -> list[Part]:
            key = (region.depth, part)
            if key not in known:
                known[key] = self._meeting(part, instances)
            return known[key]

        return neighbours

    def carried(self, region: Region) -> Neighbours:
        """Conflicts with the iteration before. A buffer that rotates in this loop, or in one
        further inside, is left out: `rotated` has it."""
        op = region.op
        counter = None if op is None else op.body.block.args[0]
        instances, known = Instances(region.depth - 1, counter), self._carried

        def neighbours(part: Part) -> list[Part]:
            key = (region, part)
            if key not in known:
                home = part.buffer.home
                rotates = home is not None and home.depth >= region.depth
                known[key] = self._meeting(part, None if rotates else instances)
            return known[key]

        return neighbours

    def rotated(self, part: Part) -> list[Part]:
        """Conflicts with the iteration that used the same copy before, in this run of the loop or
        in an earlier one: what is made in any loop may differ."""
        if part not in self._rotated:
            others = part.buffer.parts
            self._rotated[part] = self._touching(part, others, Instances(0))
        return self._rotated[part]

    def _meeting(self, part: Part, instances: Instances | None) -> list[Part]:
        buffer = part.buffer
        found = [] if instances is None else self._touching(part, buffer.parts, instances)
        for sharer in buffer.sharers:
            found.extend(sharer.parts)
        return found

    def _touching(self, part: Part, others: list[Part], instances: Instances) -> list[Part]:
        return [p for p in others if not self._views.apart(p.box, part.box, instances)]


def read_kernel(function: FuncOp, target: Target) -> tuple[Kernel, Conflicts]:
    """The tree of a kernel and its conflicts. Linear in its operators but for the conflicts.

    Raises PassFailedException for an alloc without an address.
    """
    found = accesses(function)
    intervals = Intervals(blocks_of(function))
    reader = _Reader(found, intervals, cores_of(function))
    reader.read_buffers(target)
    reader.read_steps()
    return reader.kernel, Conflicts(reader.views)


@dataclass(eq=False)
class _Reader:
    found: FunctionAccesses
    intervals: Intervals
    cores: tuple[Core, ...]
    buffers: dict[object, Buffer] = field(default_factory=dict[object, Buffer])

    def __post_init__(self) -> None:
        self._depths: dict[Block, int] = {}
        self._regions: dict[Loop | None, Region] = {}
        self._parts: dict[tuple[Buffer, Box | None], Part] = {}
        root = Region(None, None, 0, _ONCE, 0)
        self._regions[None] = root
        for loop in self.found.loops:
            self._depths[loop.op.body.block] = loop.depth
        self.views = Views(self.intervals, lambda block: self._depths.get(block, 0))
        agents = [Agent(core, Pipe.S) for core in self.cores]
        positions = {alloc.op: alloc.position for alloc in self.found.allocs}
        self.kernel = Kernel(root, agents, list(range(len(agents))), positions)
        self._agents = {agent: index for index, agent in enumerate(agents)}

    def read_buffers(self, target: Target) -> None:
        """Allocs with their bytes, and which of them share some; arguments that are written."""
        by_space: dict[Space, list[Buffer]] = {}
        for alloc in self.found.allocs:
            buffer = self._alloc(alloc.op, alloc.loop, target)
            by_space.setdefault(buffer.space, []).append(buffer)
        for buffers in by_space.values():
            _find_sharers(buffers)
        for access in self.found.accesses:
            buffer = self.buffers.get(access.base)
            if buffer is None:
                buffer = self.buffers[access.base] = Buffer(access.base, Space.GM)
            buffer.is_written |= access.writes

    def _alloc(self, op: AllocOp, loop: Loop | None, target: Target) -> Buffer:
        space = space_of(op.result.type)
        if op.address is None or space is None:
            raise PassFailedException(
                f"{place(op)}: the buffer has no address; run npu-place before npu-sync"
            )
        home, low = self._region(loop), op.address.value.data
        pitch = copy_bytes(op, target.alignment(space))
        used = max(min(op.copy_count, home.trips.high), 1)
        end = low + (used - 1) * pitch + storage_bytes(op.result.type)
        buffer = Buffer(op.result, space, low, end)
        if op.copy_count > 1 and home.repeats:
            buffer.copies, buffer.home = op.copy_count, home
            home.rotations.setdefault(op.copy_count, op)
        self.buffers[op.result] = buffer
        return buffer

    def read_steps(self) -> None:
        """Steps and loops in program order; a loop that holds no step is left out."""
        last: Operation | None = None
        step: Step | None = None
        for access in self.found.accesses:
            agent = self._agent(access.agent)
            if step is None or access.op is not last or agent != step.agent:
                step = self._step(access, agent)
                last = access.op
            self._touch(step, access)
        _close(self.kernel.root)

    def _step(self, access: Access, agent: int) -> Step:
        region = self._attach(self._region(access.loop))
        step = Step(access.op, agent, [], len(region.body), access.position)
        region.body.append(step)
        return step

    def _touch(self, step: Step, access: Access) -> None:
        buffer = self.buffers[access.base]
        if not buffer.is_written and not any(other.is_written for other in buffer.sharers):
            return
        op = access.op
        box = self.views.element(op) if isinstance(op, LoadOp) else self.views.box(access.view)
        part = self._parts.get((buffer, box))
        if part is None:
            part = self._parts[buffer, box] = Part(buffer, box)
            buffer.parts.append(part)
        for index, touch in enumerate(step.touches):
            if touch.part is part:
                step.touches[index] = Touch(part, touch.writes or access.writes)
                return
        step.touches.append(Touch(part, access.writes))

    def _agent(self, agent: Agent | None) -> int:
        if agent is None:
            raise PassFailedException("npu-sync: a kernel launches no kernels")
        index = self._agents.get(agent)
        if index is None:
            index = self._agents[agent] = len(self.kernel.agents)
            self.kernel.agents.append(agent)
            self.kernel.scalars.append(self._agents[Agent(agent.core, Pipe.S)])
        return index

    def _region(self, loop: Loop | None) -> Region:
        """The loop, not part of the tree yet."""
        region = self._regions.get(loop)
        if region is None and loop is not None:
            trips = self.intervals.trips(loop.op)
            parent = self._region(loop.parent)
            region = Region(loop.op, parent, loop.depth, trips, -1, loop.first)
            self._regions[loop] = region
        return region or self.kernel.root

    def _attach(self, region: Region) -> Region:
        """Puts a loop into the body around it, at its first step."""
        if region.parent is not None and region.index < 0:
            around = self._attach(region.parent)
            region.index = len(around.body)
            around.body.append(region)
        return region


def _close(region: Region) -> None:
    """The agents of every loop."""
    agents: set[int] = set()
    for item in region.body:
        if isinstance(item, Region):
            _close(item)
        agents.update(item.agents)
    region.agents = tuple(sorted(agents))


def _find_sharers(buffers: list[Buffer]) -> None:
    """Sweeps over the addresses of one space."""
    open_: list[Buffer] = []
    for buffer in sorted(buffers, key=lambda buffer: buffer.low):
        open_ = [other for other in open_ if other.high > buffer.low]
        for other in open_:
            other.sharers.append(buffer)
            buffer.sharers.append(other)
        open_.append(buffer)
