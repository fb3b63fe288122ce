"""Chooses the tiles of a cube kernel by modelled time.

In: a `CubeProblem`. Out: the `CubeSchedule` of least modelled time among candidates, the same one
for the same problem and target, or a Refusal with the buffer and the capacity that do not agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.cube_problem import CubeProblem
from fusec.schedule.cube_schedule import (
    FRACTAL,
    CubeSchedule,
    check,
    fits,
    footprint,
    round_up,
    tile_counts,
)
from fusec.schedule.cube_time import cube_work
from fusec.schedule.types import Refusal
from fusec.schedule.work import work_us

TILE_LIMIT = 512
"""No tile is longer than this along M or N."""

LONGEST_K, SHORT_K = 2048, 64
"""Bounds of the steps in K that are tried."""

MANY_WAVES = 6
"""With more tiles for each core than this, tiles of less than a quarter of l0c are fine ones."""


def schedule_cube(problem: CubeProblem, target: Target) -> CubeSchedule | Refusal:
    """The candidate of least modelled time."""
    if problem.alpha != 1.0:
        return Refusal("gemm-alpha", "fixpipe does not scale; a mixed kernel does")
    return best(problem, target)


def best(problem: CubeProblem, target: Target) -> CubeSchedule | Refusal:
    """The candidate of least modelled time."""
    found: tuple[tuple[float, int, tuple[int, ...]], CubeSchedule] | None = None
    for candidate in candidates(problem, target):
        us = work_us(cube_work(problem, candidate, target), target)
        steps = prod(tile_counts(problem, candidate)) * -(-problem.axes.k.size // candidate.k)
        c = candidate
        score = (round(us, 2), steps, (c.rows, c.m, c.n, c.k))
        if found is None or score < found[0]:
            found = (score, candidate)
    return too_small(problem, target) if found is None else found[1]


def too_small(problem: CubeProblem, target: Target) -> Refusal:
    """Why not even the smallest tile fits."""
    axes = problem.axes
    m, n = (min(axis.size, FRACTAL) for axis in (axes.col, axes.n))
    least = CubeSchedule(1, m, n, min(axes.k.size, FRACTAL), FRACTAL, 1, 1)
    refusal = check(problem, least, target)
    return refusal or Refusal("capacity", f"no tile of {problem.anchor.name} fits {target.name}")


def candidates(problem: CubeProblem, target: Target) -> Iterator[CubeSchedule]:
    """Tiles in a fixed order, large ones first; fine ones only where nothing else fits."""
    drafts = [
        CubeSchedule(rows, m, n, 1, FRACTAL, 1)
        for rows, m in _m_tiles(problem)
        for n in _splits(problem.axes.n.size, FRACTAL, TILE_LIMIT)
    ]
    fine = {draft for draft in drafts if _is_fine(problem, draft, target)}
    for group in ([d for d in drafts if d not in fine], [d for d in drafts if d in fine]):
        found = [c for draft in group for c in _steps_of(problem, target, draft)]
        yield from found
        if found:
            return


def _is_fine(problem: CubeProblem, draft: CubeSchedule, target: Target) -> bool:
    """Whether a tile is small although every core has many of them."""
    area = round_up(draft.tile_m, FRACTAL) * round_up(draft.n, FRACTAL) * 4
    tiles = prod(tile_counts(problem, draft))
    many = tiles > MANY_WAVES * target.cores("cube")
    return many and area * 4 <= target.capacity("l0c")


def _steps_of(problem: CubeProblem, target: Target, draft: CubeSchedule) -> list[CubeSchedule]:
    """The draft with steps in K: double buffered, else with single buffers."""
    for copies in (2, 1):
        found = list(_with_k(problem, target, draft, copies))
        if found:
            return found
    return []


def _m_tiles(problem: CubeProblem) -> Iterator[tuple[int, int]]:
    axes = problem.axes
    if axes.whole_rows and axes.col.size < TILE_LIMIT:
        for rows in _splits(axes.row.size, 1, max(TILE_LIMIT // axes.col.size, 1)):
            if rows > 1:
                yield rows, axes.col.size
    for m in _splits(axes.col.size, FRACTAL, TILE_LIMIT):
        yield 1, m


def _splits(size: int, step: int, limit: int) -> list[int]:
    """Tile sizes that cut `size` into equal parts, multiples of `step` unless all of it."""
    found: dict[int, None] = {}
    parts = 1
    while True:
        tile = min(round_up(-(-size // parts), step), size)
        if tile <= limit:
            found[tile] = None
        if tile <= step:
            return list(found) or [tile]
        parts += max(1, parts // 4)


def _with_k(
    problem: CubeProblem, target: Target, draft: CubeSchedule, copies: int
) -> Iterator[CubeSchedule]:
    """The longest step in K with which the tile fits, found in halves, and a quarter of K, so that
    loads and products overlap."""
    size = DTYPE_BYTES[problem.dtype]
    lines, columns = round_up(draft.tile_m, FRACTAL), round_up(draft.n, FRACTAL)
    room = min(target.capacity("l0a") // lines, target.capacity("l0b") // columns) // size
    l0_limit = max(room // 2 // FRACTAL, min(room // FRACTAL, 1)) * FRACTAL
    if l0_limit == 0 or lines * columns * 4 > target.capacity("l0c"):
        return
    blocks = min(prod(tile_counts(problem, draft)), target.cores("cube"))
    total = problem.axes.k.size
    k, found = min(total, LONGEST_K), False
    while True:
        schedule = CubeSchedule(
            draft.rows, draft.m, draft.n, k, _balanced(k, l0_limit), blocks, copies
        )
        if fits(footprint(problem, schedule, target), target):
            yield schedule
            if found or k * 4 <= total or k <= SHORT_K:
                return
            found = True
            k = max(SHORT_K, round_up(-(-total // 4), FRACTAL))
            continue
        if k <= FRACTAL:
            return
        k = round_up(min(k - 1, 1 << (k - 1).bit_length() - 1), FRACTAL)


def _balanced(k: int, limit: int) -> int:
    """A step of at most `limit` that cuts k into equal parts, a multiple of the fractal."""
    if k <= limit:
        return round_up(k, FRACTAL)
    return round_up(-(-k // -(-k // limit)), FRACTAL)
