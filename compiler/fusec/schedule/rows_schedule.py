"""The schedule of a kernel on row blocks, the tiles of its vector parts, and whether all fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from typing import ClassVar

from fusec.hw import Target
from fusec.schedule.cube_schedule import (
    CubeSchedule,
    check,
    footprint,
    overflow,
    tile_counts,
)
from fusec.schedule.line_program import LineProgram
from fusec.schedule.plan_tables import Tiling, Tilings
from fusec.schedule.program import Program
from fusec.schedule.rows_problem import Product, RowsProblem
from fusec.schedule.types import Refusal, RefusalError
from fusec.schedule.vector import reduced_axes


@dataclass(frozen=True)
class RowsSchedule(CubeSchedule):
    """As a cube schedule. A block takes all lines of a tile and `span` columns of the product, in
    tiles of `n`. The vector cores compute the operand `lead` lines at a time, and what follows on
    `chunk` lines; 0 where there is no such part."""

    family: ClassVar[str] = "rows"

    span: int = 1
    lead: int = 0
    chunk: int = 0

    @property
    def cube(self) -> CubeSchedule:
        """The cube half."""
        return CubeSchedule(*(getattr(self, f.name) for f in fields(CubeSchedule)))


def cube_of(s: RowsSchedule, product: Product) -> CubeSchedule:
    """The cube half of one product, which may be narrower than a tile."""
    return replace(s.cube, n=min(s.n, product.columns))


def epilogue_width(problem: RowsProblem, s: RowsSchedule) -> int:
    """Columns of a product that the epilogue takes at a time; all of the widest one, if all."""
    return problem.cube.axes.n.size if problem.whole_rows else s.n


def parts(problem: RowsProblem, s: RowsSchedule) -> int:
    """How many blocks share the columns of a row."""
    return -(-problem.cube.axes.n.size // s.span)


def grid_counts(problem: RowsProblem, s: RowsSchedule) -> tuple[int, ...]:
    """The grid of blocks: outer axes, rows, columns, parts of n."""
    return (*tile_counts(problem.cube, s)[:-1], parts(problem, s))


@dataclass(frozen=True, eq=False)
class VectorPart:
    """One of the two vector programs with its tiles, along its axes."""

    program: Program
    tiling: Tiling
    tiles: tuple[int, ...]


class VectorParts:
    """The vector parts of the schedules of one problem."""

    def __init__(self, problem: RowsProblem, target: Target) -> None:
        self.problem = problem
        before, after = problem.prologue, problem.epilogue
        self._before = None if before is None else Tilings(before.program, target)
        self._after = None if after is None else Tilings(after.program, target)

    def prologue(self, s: RowsSchedule) -> VectorPart | None:
        """What computes `lead` lines of the operand; RefusalError where it has no plan."""
        return _on_lines(self.problem.prologue, self._before, s, s.lead)

    def epilogue(self, s: RowsSchedule) -> VectorPart | None:
        """What follows on `chunk` lines; RefusalError where it has no plan."""
        return _on_lines(self.problem.epilogue, self._after, s, s.chunk)


def _on_lines(
    found: LineProgram | None, tilings: Tilings | None, s: RowsSchedule, lines: int
) -> VectorPart | None:
    if found is None or tilings is None:
        return None
    if s.rows > 1 and not found.runs_on:
        raise RefusalError("rows-apart", "the lines of a tile are on two axes of the program")
    return _part(found.program, tilings, found.tiles(lines, s.n))


def _part(program: Program, tilings: Tilings, tiles: tuple[int, ...]) -> VectorPart:
    if reduced_axes(program) & _looped(program.axes.sizes, tiles):
        raise RefusalError("epilogue-reduction", "a tile has only a part of an axis it reduces")
    found = tilings.at(tiles)
    if found is None:
        refusal = tilings.refusal(tiles)
        raise RefusalError(refusal.reason, refusal.message, refusal.numbers)
    return VectorPart(program, found, tiles)


def _looped(sizes: Sequence[int], tiles: Sequence[int]) -> frozenset[int]:
    """The axes with several tiles."""
    return frozenset(a for a, (n, t) in enumerate(zip(sizes, tiles, strict=True)) if t < n)


def ub_bytes(part: VectorPart | None, copies: int) -> int:
    """Bytes of ub of one vector part."""
    return 0 if part is None else part.tiling.need(part.tiles, copies)


def check_parts(parts: Sequence[VectorPart | None], copies: int, target: Target) -> Refusal | None:
    """A Refusal where the vector parts do not fit ub side by side."""
    needs = [ub_bytes(part, copies) for part in parts]
    capacity = target.capacity("ub")
    if sum(needs) <= capacity:
        return None
    text = " and ".join(str(need) for need in needs if need)
    return Refusal(
        "capacity",
        f"ub holds {capacity} bytes, the vector parts of the kernel need {text}; fewer lines at a "
        "time need less",
        {"space": "ub", "capacity": capacity, "need": sum(needs)},
    )


def check_cubes(problem: RowsProblem, s: RowsSchedule, target: Target) -> Refusal | None:
    """Why the cube halves cannot be built. Where K is one step, the buffers of all of them rotate
    in one loop, and have to fit together."""
    refusals = (check(p.cube, cube_of(s, p), target) for p in problem.products)
    wrong = next((refusal for refusal in refusals if refusal is not None), None)
    if wrong is not None or len(problem.products) == 1 or s.k < problem.cube.axes.k.size:
        return wrong
    buffers = [b for p in problem.products for b in footprint(p.cube, cube_of(s, p), target)]
    return overflow([b for b in buffers if b.space == "l1"], target)


def check_rows(problem: RowsProblem, s: RowsSchedule, target: Target) -> Refusal | None:
    """Why a schedule, perhaps written by hand, cannot be built; None if it can."""
    wrong = _wrong_number(problem, s) or check_cubes(problem, s, target)
    if wrong is not None:
        return wrong
    vector = VectorParts(problem, target)
    try:
        found = vector.prologue(s), vector.epilogue(s)
    except RefusalError as error:
        return error.refusal
    return check_parts(found, s.copies, target)


def _wrong_number(problem: RowsProblem, s: RowsSchedule) -> Refusal | None:
    n = problem.cube.axes.n.size
    bounds = [
        ("span", s.n, n),
        ("lead", 1, s.tile_m) if problem.prologue else ("lead", 0, 0),
        ("chunk", 1, s.tile_m) if problem.epilogue else ("chunk", 0, 0),
    ]
    for name, low, high in bounds:
        if not low <= getattr(s, name) <= high:
            message = f"'{name}' is {getattr(s, name)}, expected {low} to {high}"
            return Refusal("schedule", message)
    if s.span % s.n and s.span < n:
        return Refusal("schedule", f"'span' is {s.span}, expected a multiple of n = {s.n}")
    for name, count in (("lead", s.lead), ("chunk", s.chunk)):
        if count and s.tile_m % count:
            message = f"'{name}' is {count}, which does not divide {s.tile_m} lines"
            return Refusal("schedule", message)
    split = s.span < n
    if split and problem.whole_rows:
        return Refusal("schedule", f"'span' is {s.span}, but rows are needed whole: {n}")
    if split and problem.before:
        return Refusal(
            "schedule", f"'span' is {s.span}, but one block stores what comes before: {n}"
        )
    blocks = prod(grid_counts(problem, s))
    if s.blocks > blocks:
        return Refusal("schedule", f"'blocks' is {s.blocks} for {blocks} tiles")
    return None
