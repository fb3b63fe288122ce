"""Gives the steps of a vector program buffers: in place where an operand dies, with scratch.

In: a program, the axes that tiles extend along, the axes with several tiles. Out: a `Plan`.
Liveness is decided on values, by the position of their last use.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusec.schedule.plan import (
    Action,
    Buffer,
    BufferOperand,
    Dims,
    Plan,
    Sweep,
    operand_values,
)
from fusec.schedule.program import ELEMENTWISE, Operand, Program, Step
from fusec.schedule.sections import Sections, SweepSteps, sections
from fusec.schedule.slots import slots_of
from fusec.schedule.types import RefusalError
from fusec_dialects.place import place

ENTRY, GRID = 0, 1
"""Homes of buffers outside sweeps; those in sweeps count from 2."""

COMBINE = {"sum": "vadd", "max": "vmax", "min": "vmin", "prod": "vmul"}
"""How the parts of a reduction join."""

BROADCASTS = frozenset({"vadd", "vsub", "vmul", "vdiv", "vmax", "vmin"})


def make_plan(program: Program, frame: Sequence[int], looped: frozenset[int]) -> Plan:
    """`frame`: axes that tiles extend along, outermost first (see `Plan`); RefusalError where the
    program cannot be run so."""
    return _Planner(program, tuple(frame), looped).build()


class _Planner:
    def __init__(self, program: Program, frame: tuple[int, ...], looped: frozenset[int]) -> None:
        self.program = program
        self.plan = Plan(slots_of(frame, program.axes.spaces), looped)
        reduced = frozenset(a for s in program.steps if s.kind == "vreduce" for a in s.axes)
        self.gridded = bool(looped - reduced)
        self.sections = sections(program, looped, looped & reduced)
        self.actions: list[Action] = []
        self.out = self.plan.entry
        self.home = self.base = ENTRY
        self.homes = GRID
        self.place: dict[int, Buffer] = {}
        self.borrowed: set[Buffer] = set()
        self.kept: set[Buffer] = set()
        self.deaths = _deaths(self.sections)
        self.step = 0
        self.now = 0

    def build(self) -> Plan:
        plan, resident = self.plan, self.program.resident
        if resident is not None:
            plan.resident = self._buffer(
                self.program.vals[resident].dtype, self.dims(self.program.vals[resident].axes), GRID
            )
            self.place[resident] = plan.resident
        self._all(self.sections.entry)
        begin = self.now
        self.home = self.base = GRID
        self.out = plan.grid
        self._all(self.sections.grid)
        plan.length = self.now
        plan.loops[GRID] = (begin, self.now - 1)
        for buffer in self.kept:
            buffer.last = self.now - 1
        return plan

    def _all(self, items: Sequence[Step | SweepSteps]) -> None:
        for item in items:
            self.actions = []
            if isinstance(item, SweepSteps):
                self._sweep(item)
            else:
                self._run(item)
                self.out += self.actions

    def _dies(self, value: int) -> bool:
        """Whether the step that runs now is the last to use a value made in this home."""
        return self.place[value].home == self.home and value in self.deaths[self.step]

    # Buffers

    def dims(self, axes: frozenset[int]) -> Dims:
        """The dimensions of a tile of a value."""
        slots = self.plan.slots
        return tuple(next((a for a in slot if a in axes), None) for slot in slots) or (None,)

    def _buffer(self, dtype: str, dims: Dims, home: int | None = None, scratch: str = "") -> Buffer:
        home = self.home if home is None else home
        buffer = Buffer(len(self.plan.buffers), dtype, dims, home, self.now, self.now, scratch)
        self.plan.buffers.append(buffer)
        return buffer

    def _read(self, operand: Operand) -> BufferOperand:
        return operand if isinstance(operand, float) else self.place[operand]

    def _act(self, action: Action) -> None:
        for buffer in (action.dest, action.temp, *action.sources):
            if isinstance(buffer, Buffer):
                buffer.last = self.now
                if buffer.home != self.home:
                    outer = self.base == GRID and buffer.home == ENTRY
                    (self.kept if outer else self.borrowed).add(buffer)
        self.actions.append(action)
        self.now += 1

    # Steps

    def _run(self, step: Step) -> None:
        """A step outside of what ends a sweep."""
        kind = step.kind
        if kind == "load":
            self._load(step)
        elif kind == "store":
            self._store(step)
        elif kind == "vreduce":
            source = self._read(step.sources[0])
            if isinstance(source, Buffer):
                self.place[step.dest] = self._reduced(step, source)
        else:
            self._compute(step)
        self.step += 1

    def _compute(self, step: Step) -> None:
        value = self.program.vals[step.dest]
        sources = tuple(self._read(o) for o in step.sources)
        dims = self.dims(value.axes)
        dest = self._in_place(step, value.dtype, dims)
        if dest is None:
            dest = self._buffer(value.dtype, dims)
        kind = step.kind
        if kind == "vbrc" and isinstance(sources[0], Buffer):
            sources = (self._columns(step, sources[0], dims),)
            kind = "copy" if sources[0].dims == dims else kind
        temp = self._side(kind, sources, dest)
        self._act(Action(kind, dest, sources, step, step.mode, temp=temp))
        self.place[step.dest] = dest

    def _columns(self, step: Step, source: Buffer, dims: Dims) -> Buffer:
        """What is left to spread along the innermost dimension: the outer ones go first, as the
        vendor's compiler blows up buffers that are spread along both at once."""
        column = (*dims[:-1], None)
        if source.dims == column or source.dims[-1] is not None or dims[-1] is None:
            return source
        dest = self._buffer(source.dtype, column)
        self._act(Action("vbrc", dest, (source,), step))
        return dest

    def _in_place(self, step: Step, dtype: str, dims: Dims) -> Buffer | None:
        """The buffer of a dying operand that the result fits exactly."""
        if step.kind not in ELEMENTWISE:
            return None
        for value in operand_values(step.sources):
            buffer = self.place[value]
            if buffer.dims == dims and buffer.dtype == dtype and self._dies(value):
                return buffer
        return None

    def _side(self, kind: str, sources: Sequence[BufferOperand], dest: Buffer) -> Buffer | None:
        """Scratch of a broadcast: of one element, or along the innermost dimension."""
        if kind not in BROADCASTS and kind != "vbrc":
            return None
        scratch = ""
        for source in sources:
            if not isinstance(source, Buffer) or source.dims[-1] == dest.dims[-1]:
                continue
            if any(axis is not None for axis in source.dims):
                scratch = "spread" if kind == "vbrc" else "broadcast"
            elif kind != "vbrc":
                scratch = scratch or "point"
        return self._buffer(dest.dtype, dest.dims, scratch=scratch) if scratch else None

    def _reduced(self, step: Step, source: Buffer) -> Buffer:
        """The tile reduced over the frame's axes among the step's, outermost first."""
        for at, axis in enumerate(source.dims):
            if axis is None or axis not in step.axes:
                continue
            if source.dims[-1] is None:
                raise RefusalError(
                    "column-reduction",
                    f"{'a value' if step.op is None else place(step.op)} reduces one value for "
                    "each row, which does not lie along a row; do it in a kernel of its own",
                )
            if 0 < at < len(source.dims) - 1:
                raise RefusalError(
                    "middle-reduction",
                    f"{'a value' if step.op is None else place(step.op)}: the vector library does "
                    "not reduce the middle one of three dimensions; use tiles along two",
                )
            dims = (*source.dims[:at], None, *source.dims[at + 1 :])
            dest = self._buffer(source.dtype, dims)
            inner = at == len(source.dims) - 1
            kind = ("prod" if step.mode == "prod" else "reduce") if inner else "whole"
            temp = self._buffer(source.dtype, source.dims, scratch=kind)
            self._act(Action("vreduce", dest, (source,), step, step.mode, (at,), temp))
            source = dest
        return source

    def _load(self, step: Step) -> None:
        value = self.program.vals[step.dest]
        buffer = self._buffer(value.dtype, self.dims(value.axes))
        raw = self._swapped(step, buffer.dims)
        self.place[step.dest] = buffer
        if raw is None:
            buffer.moved = self._in_loop()
            self._apart(step, buffer)
            self._act(Action("load", buffer, (), step))
            return
        staged = self._buffer(value.dtype, raw[0])
        staged.moved = self._in_loop()
        self._apart(step, staged)
        self._act(Action("load", staged, (), step))
        buffer.first = self.now
        self._act(Action("vtranspose", buffer, (staged,), step, dims=raw[1]))

    def _apart(self, step: Step, buffer: Buffer) -> None:
        """Room for elements that do not lie side by side: each arrives in a block of its own."""
        inner, port = buffer.dims[-1], step.port
        if port is not None and port.picked is not None:
            rows = [a for a in buffer.dims if a in port.picked.index.strides]
            if len(rows) > 1 or inner in rows:
                raise RefusalError(
                    "gather",
                    f"{'a gather' if step.op is None else place(step.op)}: a tile has one index "
                    "for each row; gather single elements in a kernel of its own",
                )
        if inner is not None and port is not None and port.strides[inner] > 1:
            room = self._buffer(buffer.dtype, buffer.dims, scratch="apart")
            room.moved = buffer.moved

    def _store(self, step: Step) -> None:
        source = self._read(step.sources[0])
        if not isinstance(source, Buffer):
            return
        raw = self._swapped(step, source.dims)
        inner = (source.dims if raw is None else raw[0])[-1]
        if inner is not None and step.port is not None and step.port.strides[inner] > 1:
            raise RefusalError(
                "strided-store",
                "tiles do not extend along the innermost axis of an output; store it in that "
                "order, or transpose it in a kernel of its own",
            )
        if raw is not None:
            staged = self._buffer(source.dtype, raw[0])
            self._act(Action("vtranspose", staged, (source,), step, dims=raw[1]))
            source = staged
        if source.home == self.home:
            source.moved = self._in_loop()
        self._act(Action("store", None, (source,), step))

    def _in_loop(self) -> bool:
        return self.home > GRID or (self.home == GRID and self.gridded)

    def _swapped(self, step: Step, dims: Dims) -> tuple[Dims, tuple[int, ...]] | None:
        """Dimensions in the order of memory and the permutation to or from them, where two of the
        tile's axes lie the other way round; it is its own inverse."""
        if step.port is None:
            return None
        present = [a for a in dims if a is not None]
        natural = [a for a in step.port.order() if a in present]
        if natural == present:
            return None
        wrong = [i for i, (a, b) in enumerate(zip(present, natural, strict=True)) if a != b]
        if len(wrong) != 2:
            raise RefusalError(
                "transpose",
                "an operand's axes lie in another order than the result's, by more than a swap of "
                "two; transpose it in a kernel of its own",
            )
        first, second = (dims.index(present[i]) for i in wrong)
        permutation = list(range(len(dims)))
        permutation[first], permutation[second] = second, first
        return tuple(dims[p] for p in permutation), tuple(permutation)

    # Sweeps

    def _sweep(self, item: SweepSteps) -> None:
        """Accumulators first, then the loop nest; what is made inside it is gone afterwards."""
        outer = dict(self.place)
        reductions = [s for body in item.bodies for s in body if s in item.ends and s.axes]
        for step in reductions:
            value = self.program.vals[step.dest]
            outer[step.dest] = self._buffer(value.dtype, self.dims(value.axes))
            neutral = _neutral(step.mode, value.dtype)
            self._act(Action("vbrc", outer[step.dest], (neutral,), step))
        self.out += self.actions
        sweep = Sweep(item.axes)
        self.out.append(sweep)
        self.borrowed.clear()
        begins: list[int] = []
        for body in item.bodies:
            self.homes += 1
            self.home, self.actions = self.homes, []
            sweep.bodies.append(self.actions)
            sweep.homes.append(self.home)
            begins.append(self.now)
            for step in body:
                if step in item.ends and step.kind == "vreduce":
                    self._accumulate(step, outer[step.dest])
                else:
                    self._run(step)
        for home, begin in zip(sweep.homes, begins, strict=True):
            self.plan.loops[home] = (begin, self.now - 1)
        for buffer in self.borrowed:
            buffer.last = self.now - 1
        self.home, self.place = self.base, outer

    def _accumulate(self, step: Step, accumulator: Buffer) -> None:
        source = self._read(step.sources[0])
        if isinstance(source, Buffer):
            part = self._reduced(step, source)
            self._act(Action(COMBINE[step.mode], accumulator, (accumulator, part), step))
        self.step += 1


def _neutral(mode: str, dtype: str) -> float:
    """What a reduction starts from."""
    if mode in ("sum", "prod"):
        return 0.0 if mode == "sum" else 1.0
    if dtype == "i32":
        return float(-(1 << 31) if mode == "max" else (1 << 31) - 1)
    return float("-inf" if mode == "max" else "inf")


def _deaths(found: Sections) -> list[set[int]]:
    """For each step, in running order, the values that it is the last to use. A value made in a
    sweep lives and dies in it, even if a later sweep makes it again."""
    deaths: list[set[int]] = []
    outside: dict[int, int] = {}

    def visit(steps: Sequence[Step], ends: frozenset[Step] | None) -> None:
        made: set[int] = set()
        inside: dict[int, int] = {}
        for step in steps:
            for value in operand_values(step.sources):
                (inside if value in made else outside)[value] = len(deaths)
            deaths.append(set())
            if ends is not None and step not in ends:
                made.add(step.dest)
        for value, at in inside.items():
            deaths[at].add(value)

    for item in (*found.entry, *found.grid):
        if isinstance(item, SweepSteps):
            visit([step for body in item.bodies for step in body], item.ends)
        else:
            visit([item], None)
    for value, at in outside.items():
        deaths[at].add(value)
    return deaths
