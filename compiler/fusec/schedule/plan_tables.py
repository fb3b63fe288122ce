"""Times and footprints of the plans of one program, by which axes tiles extend along and cut.

In: a program and a target. Out: a `Tiling` for each shape of tiles. What depends on sizes only is
kept across programs: equal layers of other sizes share plans. Nothing that is kept holds IR.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.footprint import Buffers, Footprint
from fusec.schedule.planner import make_plan
from fusec.schedule.ports import Lie, Port
from fusec.schedule.program import Program
from fusec.schedule.types import Refusal, RefusalError
from fusec.schedule.vector_time import PlanTable, PlanTime

Shape: TypeAlias = tuple[tuple[int, ...], frozenset[int]]
"""The axes that tiles extend along, and those with several tiles: what a plan depends on."""

Sizes: TypeAlias = tuple[int, ...]

LIMIT = 512
"""Programs whose plans are kept, those asked for last."""


class _Kept(NamedTuple):
    """A plan without sizes."""

    table: PlanTable
    buffers: Buffers
    footprints: dict[int, Footprint]


Kept: TypeAlias = dict[int, _Kept | None]
"""The plans of programs that differ in sizes alone, by the shape of tiles as a number."""

_KEPT: OrderedDict[object, Kept] = OrderedDict()


@dataclass(frozen=True, eq=False)
class Tiling:
    """A plan for one program: `time` of tiles, and how much ub they need."""

    shape: Shape
    time: PlanTime
    sizes: tuple[int, ...]
    _kept: _Kept

    def need(self, tiles: Sequence[int], copies: int) -> int:
        """Bytes of ub, with so many copies of what moves."""
        found = self._kept.footprints.get(copies)
        if found is None:
            found = self._kept.footprints[copies] = Footprint(self._kept.buffers, copies)
        return found.need(self.sizes, tiles)


class Tilings:
    """The tilings of one program; `unfit`: the last tiles that have no plan (for the first time),
    or were found to need too many bytes, and how many."""

    def __init__(
        self,
        program: Program,
        target: Target,
        sized: tuple[Sizes, Sequence[Lie], Kept] | None = None,
    ) -> None:
        """`sized`: other sizes than those of the program, how its ports lie then, its plans."""
        self.program = program
        self.target = target
        self.unfit: tuple[Sizes, int | None] | None = None
        self._known: dict[int, Tiling | None] = {}
        if sized is None:
            ports = ports_of(program)
            sized = program.axes.sizes, [port.lie for port in ports], kept_of(program, target)
        self.sizes, self._lies, self._kept = sized

    def touched(self) -> int:
        """Bytes of all ports once."""
        total, seen = 0, set[int]()
        lies = iter(self._lies)
        for step in self.program.steps:
            if step.port is None or id(step.port) in seen:
                continue
            seen.add(id(step.port))
            value = step.dest if step.kind == "load" else step.sources[0]
            size = DTYPE_BYTES[self.program.vals[value].dtype] if isinstance(value, int) else 0
            for axis in next(lies).axes:
                size *= self.sizes[axis]
            total += size
        return total

    def at(self, tiles: Sequence[int]) -> Tiling | None:
        """The tiling of tiles; None where no plan has this shape (see `refusal`)."""
        code = 1
        for axis, size in enumerate(self.sizes):
            tile = tiles[axis]
            code = code * 4 + (2 if tile > 1 else 0) + (tile < size)
        if code not in self._known:
            self._known[code] = self._find(code, tiles)
        return self._known[code]

    def _find(self, code: int, tiles: Sequence[int]) -> Tiling | None:
        shape = self._shape(tiles)
        if code not in self._kept:
            self._kept[code] = self._make(shape)
        kept = self._kept[code]
        if kept is None:
            self.unfit = tuple(tiles), None
            return None
        return Tiling(shape, PlanTime(kept.table, self.sizes, self._lies), self.sizes, kept)

    def _shape(self, tiles: Sequence[int]) -> Shape:
        pairs = list(zip(self.sizes, tiles, strict=True))
        frame = tuple(axis for axis, (_, tile) in enumerate(pairs) if tile > 1)
        return frame, frozenset(axis for axis, (size, tile) in enumerate(pairs) if tile < size)

    def _make(self, shape: Shape) -> _Kept | None:
        try:
            plan = make_plan(self.program, *shape)
        except RefusalError:
            return None
        table = PlanTable(plan, ports_of(self.program), self.target)
        return _Kept(table, Buffers(plan.buffers, plan.loops), {})

    def refusal(self, tiles: Sequence[int]) -> Refusal:
        """Why tiles have no plan."""
        try:
            make_plan(self.program, *self._shape(tiles))
        except RefusalError as error:
            return error.refusal
        raise ValueError(f"tiles {list(tiles)} have a plan")


def ports_of(program: Program) -> list[Port]:
    """The ports of a program in the order of its steps."""
    return list({id(s.port): s.port for s in program.steps if s.port is not None}.values())


def kept_of(program: Program, target: Target) -> Kept:
    """The plans of all programs like this one."""
    if program.kept is not None:
        return cast("Kept", program.kept)
    key = (_signature(program, ports_of(program)), target)
    found = _KEPT.get(key)
    if found is None:
        found = _KEPT[key] = {}
        if len(_KEPT) > LIMIT:
            _KEPT.popitem(last=False)
    else:
        _KEPT.move_to_end(key)
    program.kept = found
    return found


def _signature(program: Program, ports: Sequence[Port]) -> object:
    """All that plans depend on: steps, values, axes, in which order ports lie in memory."""
    number = {id(port): at for at, port in enumerate(ports)}
    steps = tuple(
        (
            step.kind,
            step.dest,
            tuple(s if isinstance(s, int) else None for s in step.sources),
            step.mode,
            step.axes,
            None if step.port is None else number[id(step.port)],
        )
        for step in program.steps
    )
    lie = tuple(
        (
            port.order(),
            tuple(sorted(a for a, stride in port.strides.items() if stride > 1)),
            None if port.picked is None else tuple(sorted(port.picked.index.strides)),
        )
        for port in ports
    )
    axes = program.axes
    return (steps, tuple(program.vals), lie, len(axes.sizes), axes.spaces, program.resident)
