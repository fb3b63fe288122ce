"""Chooses the tiles of a kernel on row blocks by modelled time.

In: a `RowsProblem`. Out: the `RowsSchedule` of least modelled time, or a Refusal. The two cores
take turns: the operand of a tile is there before its product, the product before what follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.contraction import A
from fusec.schedule.cube import CubeSearch, fair_tiles, too_small
from fusec.schedule.cube_problem import CubeProblem
from fusec.schedule.cube_schedule import CubeSchedule, round_up, tile_counts
from fusec.schedule.cube_time import EXACT, CubeTime, Depth, Tile
from fusec.schedule.program import Program
from fusec.schedule.region import Region
from fusec.schedule.rows_problem import RowsProblem, rows_problem
from fusec.schedule.rows_schedule import (
    RowsSchedule,
    VectorPart,
    VectorParts,
    check_cubes,
    check_rows,
    cube_of,
    epilogue_width,
    grid_counts,
    parts,
    ub_bytes,
)
from fusec.schedule.types import Refusal, RefusalError
from fusec.schedule.work import Work, work_us


def schedule_rows(region: Region, target: Target) -> RowsSchedule | Refusal:
    """The candidate of least modelled time, or the reason of the last that failed."""
    try:
        return best(RowsSearch(rows_problem(region), target))
    except RefusalError as error:
        return error.refusal


def least_us(search: RowsSearch) -> float:
    """No schedule takes less: the least of the bounds of all tiles."""
    groups = search.cubes.groups()
    return min(draft.least for group in groups for draft in _drafts(search, group))


def fair_us(search: RowsSearch) -> float | None:
    """The time of some schedule that fits, found without a search; None where that is not easy."""
    for draft in _drafts(search, fair_tiles(search.cubes), bounded=False):
        for candidate, _ in search.candidates(draft, None):
            try:
                whole = search.with_lines(candidate)
            except RefusalError:
                continue
            if check_cubes(search.problem, whole, search.target) is None:
                return work_us(search.work(whole), search.target)
    return None


def best(search: RowsSearch) -> RowsSchedule | Refusal:
    """The candidate of least modelled time, or the reason of the last that failed."""
    problem, target = search.problem, search.target
    found: tuple[tuple[float, int, Order], RowsSchedule] | None = None
    failed: tuple[Order, Refusal] | None = None
    for group in search.cubes.groups():
        for draft in sorted(_drafts(search, group), key=lambda d: d.least):
            if found is not None and round(draft.least, 2) > found[0][0]:
                break
            most = None if found is None else found[0][0]
            if most is not None and round(search.least(draft.schedule, draft.lines), 2) > most:
                continue
            for candidate, order in search.candidates(draft, most):
                try:
                    whole = search.with_lines(candidate)
                except RefusalError as error:
                    failed = max(failed or (order, error.refusal), (order, error.refusal), key=_at)
                    continue
                misfit = check_cubes(problem, whole, target)
                if misfit is not None:
                    failed = max(failed or (order, misfit), (order, misfit), key=_at)
                    continue
                us = work_us(search.work(whole), target)
                score = (round(us, 2), prod(grid_counts(problem, whole)), order)
                if found is None or score < found[0]:
                    found = (score, whole)
        if found is not None or failed is not None:
            break
    if found is not None:
        return found[1]
    return too_small(problem.cube, target) if failed is None else failed[1]


def _at(failed: tuple[Order, Refusal]) -> Order:
    return failed[0]


def check_rows_region(region: Region, s: RowsSchedule, target: Target) -> Refusal | None:
    """Why a schedule does not fit a region or a target; None if it does."""
    try:
        return check_rows(rows_problem(region), s, target)
    except RefusalError as error:
        return error.refusal


def rows_work(region: Region, s: RowsSchedule, target: Target) -> Work:
    """What the busiest cube core and its vector cores do."""
    return RowsSearch(rows_problem(region), target).work(s)


Order = tuple[int, int, int]
"""A candidate's place: its tile, its step in K, its part of the columns."""


class _Draft(NamedTuple):
    """A schedule without steps in K: none with it takes less than `least` µs."""

    least: float
    tile: Tile
    schedule: RowsSchedule
    number: int
    part: int
    lines: int


def _drafts(search: RowsSearch, group: Sequence[Tile], *, bounded: bool = True) -> Iterator[_Draft]:
    """Tiles of the cube half, an even number of lines each, with all columns in one block, and with
    as many parts of the columns as give every core a block."""
    problem, cores = search.problem, search.target.cores("cube")
    n = problem.cube.axes.n.size
    one = problem.whole_rows or bool(problem.before)
    time = search.cubes.time
    for number, tile in enumerate(group):
        rows, m, width = tile
        rows, m = (round_up(rows, 2), m) if rows > 1 else (rows, round_up(m, 2))
        even = Tile(rows, m, width)
        across = -(-n // width)
        lines = time.tiles(even) // across
        spans = {n}
        if not one and lines < cores:
            spans.add(min(n, round_up(-(-n // (cores // lines)), width)))
        for part, span in enumerate(sorted(spans, reverse=True)):
            blocks = min(cores, lines * -(-n // span))
            split = RowsSchedule(rows, m, width, 1, 1, blocks, span=span)
            least = search.least(split, lines, lead=False) if bounded else 0.0
            yield _Draft(least, tile, split, number, part, lines)


@dataclass(eq=False)
class RowsSearch:
    """What the schedules of one problem have in common."""

    problem: RowsProblem
    target: Target

    def __post_init__(self) -> None:
        self.vector = VectorParts(self.problem, self.target)
        self.cubes = CubeSearch(self.problem.cube, self.target)
        cubes = [product.cube for product in self.problem.products]
        self._times = [self.cubes.time, *(CubeTime(cube, self.target) for cube in cubes[1:])]
        self._works: dict[tuple[CubeProblem, CubeSchedule], Work] = {}
        self._parts: dict[tuple[object, ...], Work] = {}
        self._lines: dict[tuple[object, ...], int | Refusal] = {}
        self._leads: dict[tuple[object, ...], VectorPart | None] = {}
        halves = (self.problem.prologue is not None) + (self.problem.epilogue is not None)
        self.room = self.target.capacity("ub") // max(halves, 1)

    def candidates(self, draft: _Draft, most: float | None) -> Iterator[tuple[RowsSchedule, Order]]:
        """A draft with its steps in K, those left out that take longer than `most` µs."""
        for number, depth in enumerate(self.cubes.steps(draft.tile)):
            if most is not None:
                least = self.least(draft.schedule, draft.lines, depth)
                if round(least, 2) > most:
                    continue
            made = replace(draft.schedule, k=depth.k, l0_k=depth.l0_k, copies=depth.copies)
            yield made, (draft.number, number, draft.part)

    def with_lines(self, s: RowsSchedule) -> RowsSchedule:
        """The schedule with as many lines at a time as fit; RefusalError where not one does."""
        if self.problem.prologue is not None:
            s = self._fitting(s, "lead", s.tile_m)
        if self.problem.epilogue is not None:
            s = self._fitting(s, "chunk", s.tile_m)
        return s

    def _fitting(self, s: RowsSchedule, name: str, lines: int) -> RowsSchedule:
        """Half the lines of a tile, so that both vector cores have some, or less."""
        program = self.problem.prologue if name == "lead" else self.problem.epilogue
        width = s.n if program is not None and program.column is not None else 0
        key = (name, s.rows > 1, lines, width, s.copies)
        if key not in self._lines:
            self._lines[key] = self._longest(s, name, lines)
        found = self._lines[key]
        if isinstance(found, Refusal):
            raise RefusalError(found.reason, found.message, found.numbers)
        return replace(s, **{name: found})

    def _longest(self, s: RowsSchedule, name: str, lines: int) -> int | Refusal:
        find = self.vector.prologue if name == "lead" else self.vector.epilogue
        program = self.problem.prologue if name == "lead" else self.problem.epilogue
        need = 0
        across = program is not None and program.across
        for count in (lines,) if across else _counts(lines):
            try:
                need = ub_bytes(find(replace(s, **{name: count})), s.copies)
            except RefusalError as error:
                return error.refusal
            if need <= self.room:
                return count
        return Refusal(
            "ub-capacity",
            f"one line of the kernel's vector part takes {need} bytes of ub, there is room for "
            f"{self.room}",
            {"need": need, "capacity": self.room},
        )

    def least(
        self, s: RowsSchedule, lines: int, depth: Depth | None = None, *, lead: bool = True
    ) -> float:
        """No schedule with these tiles takes less, in µs, with this step in K or whatever it is.
        `lines`: how many tiles there are one above the other; without `lead`, what computes the
        operand does not count, which is quicker."""
        first, time = self.problem.products[0], self.cubes.time
        tile = Tile(s.rows, s.m, s.n)
        tiles = time.tiles(tile)
        blocks = min(s.blocks, tiles)
        if depth is None:
            cycles, gm_bytes = time.least_spent(tile, blocks)
        else:
            spent = time.spent(tile, depth._replace(blocks=blocks))
            cycles, gm_bytes = spent.cycles, spent.gm_bytes
        waves = -(-tiles // blocks)
        shared = -(-self.problem.cube.axes.n.size // s.span)
        turns = -(-lines * shared // s.blocks) * -(-min(s.span, first.columns) // s.n)
        cycles = cycles * max(turns, waves) / waves
        cores = max(s.blocks * self.target.vector_per_cube // shared, 1)
        if lead:
            copies = (2, 1) if depth is None else (depth.copies,)
            cycles += min(self._lead_cycles(s, each, cores) for each in copies)
        return work_us(Work("mixed", cycles, gm_bytes, 0), self.target) * EXACT

    def _lead_cycles(self, s: RowsSchedule, copies: int, cores: int) -> float:
        """Cycles of what computes the operand; 0 where there is nothing or it does not fit."""
        program = self.problem.prologue
        if program is None:
            return 0.0
        key = (s.rows > 1, s.tile_m, s.n if program.column is not None else 0, copies)
        if key not in self._leads:
            self._leads[key] = self._lead(replace(s, copies=copies))
        before = self._leads[key]
        return 0.0 if before is None else self._part(before, cores, copies).cycles

    def _lead(self, s: RowsSchedule) -> VectorPart | None:
        try:
            return self.vector.prologue(self._fitting(s, "lead", s.tile_m))
        except RefusalError:
            return None

    def _sharing(self, s: RowsSchedule) -> int:
        """Vector cores that compute different lines of the operand."""
        return max(s.blocks * self.target.vector_per_cube // parts(self.problem, s), 1)

    def _part(self, part: VectorPart, cores: int, copies: int) -> Work:
        key = (id(part.program), part.tiles, cores, copies)
        if key not in self._parts:
            self._parts[key] = part.tiling.time.work(part.tiles, cores, copies)
        return self._parts[key]

    def _cube(self, s: RowsSchedule) -> Work:
        """The cube halves: the tiles of one block one after the other."""
        cycles, gm_bytes, hbm_bytes = 0.0, 0, 0
        pipes: dict[str, float] = {}
        for product, time in zip(self.problem.products, self._times, strict=True):
            half = cube_of(s, product)
            tiles = prod(tile_counts(product.cube, half))
            key = replace(half, blocks=min(s.blocks, tiles))
            found = self._works.get((product.cube, key))
            if found is None:
                found = self._works[product.cube, key] = time.work(key)
            waves = -(-tiles // key.blocks)
            mine = self._waves(s) * -(-min(s.span, product.columns) // half.n)
            cycles += found.cycles * max(mine, waves) / waves
            gm_bytes += found.gm_bytes
            hbm_bytes += found.hbm_bytes
            for name, busy in found.pipes.items():
                pipes[name] = pipes.get(name, 0.0) + busy
        extra = len(self.problem.products) - 1
        return Work("mixed", cycles, gm_bytes, hbm_bytes - extra * self._operand_bytes(), pipes)

    def _waves(self, s: RowsSchedule) -> int:
        return -(-prod(grid_counts(self.problem, s)) // s.blocks)

    def work(self, s: RowsSchedule) -> Work:
        """The parts one after the other, as they share their workspaces."""
        problem, target = self.problem, self.target
        cube = self._cube(s)
        cores = s.blocks * target.vector_per_cube
        waves = self._waves(s)
        before, after = self.vector.prologue(s), self.vector.epilogue(s)
        cycles, moved, touched = cube.cycles, cube.gm_bytes, cube.hbm_bytes
        pipes = dict(cube.pipes)
        turns = 0
        if before is not None:
            shared = parts(problem, s)
            work = self._part(before, self._sharing(s), s.copies)
            cycles += work.cycles
            moved += work.gm_bytes * shared
            touched += work.hbm_bytes - 2 * self._operand_bytes()
            pipes |= {f"before.{name}": busy for name, busy in work.pipes.items()}
            turns += 1
        if after is not None:
            work = self._part(after, cores, s.copies)
            cycles += work.cycles
            moved += work.gm_bytes
            touched += work.hbm_bytes
            pipes |= {f"after.{name}": busy for name, busy in work.pipes.items()}
            times = -(-s.span // epilogue_width(problem, s))
            turns += times
            touched -= _handed(after.program, problem)
        cycles += waves * 2 * turns * target.sync.cross_core_cycles
        return Work("mixed", cycles, moved, max(touched, 0), pipes)

    def _operand_bytes(self) -> int:
        """Bytes of the left operand; batches along which it does not vary count once."""
        prologue, axes = self.problem.prologue, self.problem.cube.axes
        strides = [axis.strides[A] for axis in axes.grid]
        if prologue is not None:
            strides = [0 if place is None else 1 for place in prologue.grid]
        outer = prod(axis.size for axis, step in zip(axes.grid, strides, strict=True) if step)
        inner = (axes.row, axes.col, *axes.outer_k, axes.k)
        return outer * prod(axis.size for axis in inner) * DTYPE_BYTES[self.problem.cube.dtype]


def _handed(program: Program, problem: RowsProblem) -> int:
    """Bytes of what an epilogue loads of the products: it is not in HBM."""
    found, sizes = problem.epilogue, program.axes.sizes
    if found is None:
        return 0
    ports = (port for port in program.axes.loads.values() if found.matrix(port) is not None)
    return sum(prod(sizes[axis] for axis in port.strides) * 4 for port in ports)


def _counts(lines: int) -> Iterator[int]:
    """How many lines are taken at a time: half of them at most, so that both vector cores have
    some; an even number that divides them, or one."""
    found = {count for count in range(2, lines // 2 + 1, 2) if lines % count == 0}
    yield from sorted(found | {1}, reverse=True)
