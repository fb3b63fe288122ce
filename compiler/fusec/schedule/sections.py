"""Which step of a vector program runs where: before the grid loop, in it, or in a sweep.

A value that no axis of the grid touches is computed once, before the grid loop. One that depends on
a tile of a reduced axis exists only inside a sweep over these tiles; a sweep ends in accumulators
and stores, and a later sweep computes again what it needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fusec.schedule.plan import operand_values
from fusec.schedule.program import Program, Step
from fusec.schedule.types import RefusalError
from fusec_dialects.place import place


@dataclass(eq=False)
class SweepSteps:
    """One sweep over the tiles of `axes`, outermost first: `bodies[i]` runs in loop i, before the
    loops further inside. `ends` are the steps that it is for: they accumulate or store."""

    axes: tuple[int, ...]
    bodies: list[list[Step]]
    ends: frozenset[Step]


@dataclass(eq=False)
class Sections:
    """`entry`, then `grid`: steps, and sweeps between them."""

    entry: list[Step | SweepSteps] = field(default_factory=list["Step | SweepSteps"])
    grid: list[Step | SweepSteps] = field(default_factory=list["Step | SweepSteps"])


def sections(program: Program, looped: frozenset[int], swept: frozenset[int]) -> Sections:
    """`looped`: the axes with several tiles; `swept`: those of them that are reduced.

    RefusalError where a reduction over one swept axis leaves another.
    """
    return _Sections(program, looped, swept).build()


@dataclass(eq=False)
class _Stages:
    """The steps of each stage, and those that end its sweeps, by the axes of the sweep."""

    steps: dict[int, list[Step]] = field(default_factory=dict[int, list[Step]])
    ends: dict[int, dict[tuple[int, ...], list[Step]]] = field(
        default_factory=dict[int, dict[tuple[int, ...], list[Step]]]
    )


class _Sections:
    def __init__(self, program: Program, looped: frozenset[int], swept: frozenset[int]) -> None:
        self.program = program
        self.looped = looped
        self.swept = swept
        self.producer = {s.dest: s for s in program.steps if s.kind != "store"}
        self.stage: dict[Step, int] = {}

    def build(self) -> Sections:
        hoisted: set[int] = set()
        entry, grid = _Stages(), _Stages()
        for step in self.program.steps:
            values = list(operand_values(step.sources))
            stage = max((self._stage_of(v) for v in values), default=0)
            self.stage[step] = stage
            still = self._is_invariant(step) and hoisted.issuperset(values)
            if still:
                hoisted.add(step.dest)
            section = entry if still else grid
            if self._ends_sweep(step):
                key = tuple(sorted(self.program.axes_of(*values) & self.swept))
                section.ends.setdefault(stage, {}).setdefault(key, []).append(step)
            elif not self._in_sweep(step):
                section.steps.setdefault(stage, []).append(step)
        return Sections(self._ordered(entry), self._ordered(grid))

    def _ordered(self, section: _Stages) -> list[Step | SweepSteps]:
        """Stage by stage, the steps of one before its sweeps."""
        result: list[Step | SweepSteps] = []
        for stage in sorted({*section.steps, *section.ends}):
            result += section.steps.get(stage, [])
            for axes, steps in section.ends.get(stage, {}).items():
                result.append(self._sweep(axes, steps))
        return result

    def _stage_of(self, value: int) -> int:
        producer = self.producer.get(value)
        if producer is None:
            return 0
        return self.stage[producer] + (1 if self._ends_sweep(producer) else 0)

    def _touched(self, step: Step) -> frozenset[int]:
        """The axes that a step's result, or what it stores, varies along."""
        if step.kind == "store":
            return self.program.axes_of(*step.sources)
        return self.program.vals[step.dest].axes

    def _ends_sweep(self, step: Step) -> bool:
        """A store from a sweep, or a reduction over a swept axis."""
        if step.kind == "store":
            return bool(self._touched(step) & self.swept)
        if step.kind != "vreduce" or not self.swept.intersection(step.axes):
            return False
        if self._touched(step) & self.swept:
            raise RefusalError(
                "nested-reduction",
                f"{'a reduction' if step.op is None else place(step.op)} reduces one axis that "
                "does not fit ub and leaves another such axis; make the tile of one of them whole, "
                "or reduce in two kernels",
            )
        return True

    def _in_sweep(self, step: Step) -> bool:
        return step.kind != "store" and bool(self._touched(step) & self.swept)

    def _is_invariant(self, step: Step) -> bool:
        """Whether a step is the same for every tile of the grid; without a grid, for no sweep."""
        around = self.looped - self.swept or self.looped
        return step.kind != "store" and not self._touched(step) & around

    def _sweep(self, axes: tuple[int, ...], ends: list[Step]) -> SweepSteps:
        """The ends and the steps inside the sweep that lead to them, in program order."""
        needed: set[Step] = set(ends)
        work = list(ends)
        while work:
            for value in operand_values(work.pop().sources):
                producer = self.producer.get(value)
                if producer is not None and producer not in needed and self._in_sweep(producer):
                    needed.add(producer)
                    work.append(producer)
        bodies: list[list[Step]] = [[] for _ in axes]
        for step in self.program.steps:
            if step in needed:
                operands = self.program.axes_of(*step.sources)
                bound = operands if step in ends else operands | self._touched(step)
                depth = max(i for i, a in enumerate(axes) if a in bound)
                bodies[depth].append(step)
        return SweepSteps(axes, bodies, frozenset(ends))
