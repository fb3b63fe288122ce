"""Chooses the tiles of a cube kernel by modelled time.

In: a `CubeProblem`. Out: the `CubeSchedule` of least modelled time among candidates, the same one
for the same problem and target, or a Refusal with the buffer and the capacity that do not agree.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from fusec.hw import Target
from fusec.schedule.cube_problem import CubeProblem
from fusec.schedule.cube_room import CubeRoom
from fusec.schedule.cube_schedule import FRACTAL, CubeSchedule, check, round_up
from fusec.schedule.cube_time import CubeTime, Depth, Tile
from fusec.schedule.types import Refusal

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
    """The candidate of least modelled time, found once for problems of equal numbers: what relu and
    casts to the same type do not change."""
    forms = tuple((addend.form, problem.unit_column(addend)) for addend in problem.addends)
    key = (problem.axes, problem.dtype, problem.out_dtype, forms, problem.operand_bytes, target)
    found = _BEST.get(key)
    if found is None:
        made = _best(CubeSearch(problem, target))
        if isinstance(made, Refusal):
            return made
        found = _BEST[key] = made
        if len(_BEST) > LIMIT:
            _BEST.popitem(last=False)
    return found


LIMIT = 4096
"""Schedules that are kept, those found last."""

_BEST: OrderedDict[object, CubeSchedule] = OrderedDict()


def _best(search: CubeSearch) -> CubeSchedule | Refusal:
    """The candidate of least modelled time; tiles that cannot be better are not looked at."""
    problem, target = search.problem, search.target
    time, depth = search.time, problem.axes.k.size
    found: tuple[tuple[float, int, tuple[int, ...]], Tile, Depth] | None = None
    for group in search.groups():
        bounds = [(time.least(tile, search.blocks(tile)), tile) for tile in group]
        for least, tile in sorted(bounds):
            if found is not None and round(least, 2) > found[0][0]:
                break
            for step in search.steps(tile):
                count = time.tiles(tile) * -(-depth // step.k)
                score = (round(time.us(tile, step), 2), count, (*tile, step.k))
                if found is None or score < found[0]:
                    found = (score, tile, step)
        if found is not None:
            return CubeSchedule(*found[1], *found[2])
    return too_small(problem, target)


def fair_us(search: CubeSearch) -> float | None:
    """The least time of a few tiles that give every core a share; None where none of them fits. At
    least that of the best tile, but for rounding as `best` does it."""
    found = [
        search.time.us(tile, step) for tile in fair_tiles(search) for step in search.steps(tile)
    ]
    return min(found, default=None)


def fair_tiles(search: CubeSearch) -> list[Tile]:
    """Tiles that give every core a share, small ones first."""
    axes, cores = search.problem.axes, search.target.cores("cube")
    rows, n = axes.col.size, axes.n.size
    found: dict[Tile, None] = {}
    for m, width in ((32, n), (rows, 32), (rows, 64), (64, 64), (128, 128), (128, 256)):
        tile = Tile(1, min(m, rows, TILE_LIMIT), min(width, n, TILE_LIMIT))
        if search.time.tiles(tile) <= 2 * cores:
            found[tile] = None
    return list(found)


def too_small(problem: CubeProblem, target: Target) -> Refusal:
    """Why not even the smallest tile fits."""
    axes = problem.axes
    m, n = (min(axis.size, FRACTAL) for axis in (axes.col, axes.n))
    least = CubeSchedule(1, m, n, min(axes.k.size, FRACTAL), FRACTAL, 1, 1)
    refusal = check(problem, least, target)
    return refusal or Refusal("capacity", f"no tile of {problem.anchor.name} fits {target.name}")


class CubeSearch:
    """The tiles of one problem that are worth a look."""

    def __init__(self, problem: CubeProblem, target: Target) -> None:
        self.problem = problem
        self.target = target
        self.time = CubeTime(problem, target)
        self._room = CubeRoom(problem, target)
        self._cores = target.cores("cube")

    def groups(self) -> Iterator[list[Tile]]:
        """Tiles in a fixed order, large ones first; then fine ones, where nothing else fits."""
        widths = _splits(self.problem.axes.n.size, FRACTAL, TILE_LIMIT)
        drafts = [Tile(rows, m, n) for rows, m in _m_tiles(self.problem) for n in widths]
        fine = {draft for draft in drafts if self._is_fine(draft)}
        yield [draft for draft in drafts if draft not in fine]
        yield [draft for draft in drafts if draft in fine]

    def blocks(self, tile: Tile) -> int:
        """How many cores share the tiles."""
        return min(self.time.tiles(tile), self._cores)

    def _is_fine(self, tile: Tile) -> bool:
        """Whether a tile is small although every core has many of them."""
        area = round_up(tile.rows * tile.m, FRACTAL) * round_up(tile.n, FRACTAL) * 4
        many = self.time.tiles(tile) > MANY_WAVES * self._cores
        return many and area * 4 <= self.target.capacity("l0c")

    def steps(self, tile: Tile) -> list[Depth]:
        """Steps in K: double buffered, else with single buffers."""
        for copies in (2, 1):
            found = list(self._with_k(tile, copies))
            if found:
                return found
        return []

    def _with_k(self, tile: Tile, copies: int) -> Iterator[Depth]:
        """The longest step in K with which the tile fits, found in halves, and a quarter of K, so
        that loads and products overlap."""
        size, m = self.time.size, tile.rows * tile.m
        lines, columns = round_up(m, FRACTAL), round_up(tile.n, FRACTAL)
        target = self.target
        room = min(target.capacity("l0a") // lines, target.capacity("l0b") // columns) // size
        l0_limit = max(room // 2 // FRACTAL, min(room // FRACTAL, 1)) * FRACTAL
        if l0_limit == 0 or not self._room.holds(m, tile.n):
            return
        blocks, total = self.blocks(tile), self.problem.axes.k.size
        k, found = min(total, LONGEST_K), False
        while True:
            l0_k = _balanced(k, l0_limit)
            if self._room.fits(m, tile.n, k, l0_k, copies):
                yield Depth(k, l0_k, blocks, copies)
                if found or k * 4 <= total or k <= SHORT_K:
                    return
                found = True
                k = max(SHORT_K, round_up(-(-total // 4), FRACTAL))
                continue
            if k <= FRACTAL:
                return
            k = round_up(min(k - 1, 1 << (k - 1).bit_length() - 1), FRACTAL)


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


def _balanced(k: int, limit: int) -> int:
    """A step of at most `limit` that cuts k into equal parts, a multiple of the fractal."""
    if k <= limit:
        return round_up(k, FRACTAL)
    return round_up(-(-k // -(-k // limit)), FRACTAL)
