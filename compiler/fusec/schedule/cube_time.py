"""What the pipes of the cube core have to do for a tiling of a contraction.

In: a problem, and tiles. Out: `Work`: loads, copies to l0, products and stores of one core. What
does not depend on the tiles is looked up once: a score is plain arithmetic on numbers.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.contraction import A, B
from fusec.schedule.cube_problem import TILE, TILES, TURNED, CubeProblem
from fusec.schedule.cube_schedule import CubeSchedule, nz_bytes
from fusec.schedule.ways import way_of
from fusec.schedule.work import Work, work_us

LOAD = "gm->l1:nd2nz"
GM_LINE = 512
"""Bytes that an aligned burst starts on."""

EXACT = 1 - 1e-9
"""A bound is multiplied by it, so that rounding never puts it above the time."""


class Tile(NamedTuple):
    """Rows, columns and width of a tile of the result; see `CubeSchedule`."""

    rows: int
    m: int
    n: int


class Depth(NamedTuple):
    """How a tile goes along K, how many cores share the tiles, how many buffers rotate."""

    k: int
    l0_k: int
    blocks: int
    copies: int


class CubeSpent(NamedTuple):
    """Cycles of the core that has the most tiles, bytes through gm, cycles of a tile by pipe."""

    cycles: float
    gm_bytes: int
    waves: int
    mte2: float
    mte1: float
    m: float
    fix: float


class CubeTime:
    """The time of one problem as a function of its tiles."""

    def __init__(
        self, problem: CubeProblem, target: Target, *, aligned: bool | None = None
    ) -> None:
        """`aligned`: whether rows of the result begin on lines of gm, by default if their length
        says so."""
        axes = problem.axes
        self.problem = problem
        self.target = target
        self.size, self.out = DTYPE_BYTES[problem.dtype], DTYPE_BYTES[problem.out_dtype]
        self.depth = axes.k.size
        self.outer = prod(axis.size for axis in axes.outer_k)
        self._grid = prod(axis.size for axis in axes.grid)
        self._sizes = axes.row.size, axes.col.size, axes.n.size
        column = axes.k if axes.a_transposed else axes.col
        self._a_aligned = self._aligned(column.strides[A], self.size)
        row = axes.n if axes.b_transposed else axes.k
        self._b_aligned = self._aligned(row.strides[B], self.size)
        by_length = self._aligned(axes.n.size, self.out)
        self._y_aligned = by_length if aligned is None else aligned
        self._addend_aligned = axes.n.size % 256 == 0
        self._addends = [addend.form for addend in problem.addends]
        self._fill = target.transfer("gm->l1").rate if axes.windows else None
        self._latency = target.transfer(LOAD).latency
        self._l0a, self._l0b = way_of(target, "l1->l0a"), way_of(target, "l1->l0b")
        self._l0_room = min(map(target.capacity, ("l0a", "l0b")))
        self._l0c_room = target.capacity("l0c")
        cube = target.cube
        pairs = zip(cube.fractal[problem.dtype], cube.shape[problem.dtype], strict=True)
        self._fractal = tuple(pairs)

    @staticmethod
    def _aligned(stride: int, size: int) -> bool:
        return stride * size % GM_LINE == 0

    def tiles(self, tile: Tile) -> int:
        """How many tiles the result has."""
        row, col, n = self._sizes
        return self._grid * -(-row // tile.rows) * -(-col // tile.m) * -(-n // tile.n)

    def _mmad(self, m: int, k: int, n: int) -> float:
        """`Target.mmad_cost`, dimensions above 0."""
        (step_m, done_m), (step_n, done_n), (step_k, done_k) = self._fractal
        cycles = -(-(-(-m // step_m) * step_m) // done_m)
        cycles *= -(-(-(-n // step_n) * step_n) // done_n)
        cycles *= -(-(-(-k // step_k) * step_k) // done_k)
        return self.target.cube.head + cycles

    def _loads(self, tile: Tile, k: int, blocks: int) -> tuple[float, float]:
        """Cycles to load a step of both operands."""
        rows, m, n = tile
        axes, size = self.problem.axes, self.size
        way = way_of(self.target, LOAD, blocks)
        if axes.a_transposed:
            a = way.cycles(m * k * size, k, self._a_aligned)
        else:
            row = way.cycles(m * k * size, m, self._a_aligned)
            fill = rows * m * k * size / self._fill if self._fill is not None else 0.0
            a = rows * row + fill
        return a, way.cycles(n * k * size, n if axes.b_transposed else k, self._b_aligned)

    def _added(self, m: int, n: int, blocks: int) -> tuple[float, float]:
        """Cycles to load what is added to a tile, and to add it."""
        load = mac = 0.0
        way = way_of(self.target, LOAD, blocks)
        for form in self._addends:
            rows, length = (m, n) if form == TILE else (n, m) if form == TURNED else (1, n)
            load += way.cycles(rows * length * self.size, rows, self._addend_aligned)
            mac += self._mmad(m, n if form in TILES else 1, n)
        return load, mac

    def spent(self, tile: Tile, depth: Depth, *, held: bool = False) -> CubeSpent:
        """The slowest pipe, its filling and draining. Loads and products of different steps overlap
        where buffers rotate; fixpipe overlaps the next tile where two accumulators fit l0c.
        `held`: the left operand of all tiles of a core is the same one and loaded once."""
        k, l0_k, blocks, copies = depth
        m, n, size = tile.rows * tile.m, tile.n, self.size
        steps = self.outer * -(-self.depth // k)
        tiles = self.tiles(tile)
        waves = -(-tiles // blocks)
        a_load, b_load = self._loads(tile, k, blocks)
        l0_steps = -(-k // l0_k)
        l0_k = min(l0_k, k)
        mte1 = l0_steps * (self._l0a.cycles(m * l0_k * size) + self._l0b.cycles(n * l0_k * size))
        mac = l0_steps * self._mmad(m, l0_k, n)
        mte2_extra, mac_extra = self._added(m, n, blocks)
        fix = way_of(self.target, "l0c->gm", blocks).cycles(m * n * self.out, m, self._y_aligned)
        mte2 = steps * (a_load / (waves if held else 1) + b_load) + mte2_extra
        cube = steps * mac + mac_extra
        move = steps * mte1
        first = a_load + b_load + self._latency + mte1 / l0_steps
        l0_double = 2 * nz_bytes(max(m, n), l0_k, size) <= self._l0_room
        inner = max(cube, move) if copies > 1 and l0_double else cube + move
        overlapped = max(mte2, inner) if copies > 1 else mte2 + inner
        double = 2 * m * n * 4 <= self._l0c_room and waves > 1
        each = max(overlapped, fix) if double else overlapped + fix
        cycles = waves * each + first + (fix if double else 0.0)
        a_bytes = tiles * steps * k * m * size // (waves if held else 1)
        gm_bytes = a_bytes + tiles * (steps * k * n * size + m * n * self.out)
        return CubeSpent(cycles, gm_bytes, waves, mte2, move, cube, fix)

    def us(self, tile: Tile, depth: Depth) -> float:
        """Modelled time of a cube kernel; what tiles are compared by."""
        spent = self.spent(tile, depth)
        touched = self.problem.operand_bytes
        return work_us(Work("cube", spent.cycles, spent.gm_bytes, touched), self.target)

    def work(self, schedule: CubeSchedule, *, held: bool = False) -> Work:
        """All that the pipes do; `held` as for `spent`."""
        s = schedule
        depth = Depth(s.k, s.l0_k, s.blocks, s.copies)
        spent = self.spent(Tile(s.rows, s.m, s.n), depth, held=held)
        pipes = {"mte2": spent.mte2, "mte1": spent.mte1, "m": spent.m, "fix": spent.fix}
        return Work(
            kind="cube",
            cycles=spent.cycles,
            gm_bytes=spent.gm_bytes,
            hbm_bytes=self.problem.operand_bytes,
            pipes={pipe: spent.waves * busy for pipe, busy in pipes.items()},
        )

    def least(self, tile: Tile, blocks: int) -> float:
        """No step in K makes this tile faster, in µs."""
        cycles, gm_bytes = self.least_spent(tile, blocks)
        touched = self.problem.operand_bytes
        return work_us(Work("cube", cycles, gm_bytes, touched), self.target) * EXACT

    def least_us(self) -> float:
        """No tiles take less, in µs: a launch, all operands once through HBM, all products shared
        by all cores."""
        axes, target = self.problem.axes, self.target
        rows = self._grid * axes.row.size * axes.col.size
        products = self._mmad(rows, self.depth, axes.n.size) - target.cube.head
        cycles = self.outer * products / target.cores("cube")
        work = Work("cube", cycles, 0, self.problem.operand_bytes)
        return max(work_us(work, target) * EXACT, target.floor_us["cube"])

    def least_spent(self, tile: Tile, blocks: int) -> tuple[float, int]:
        """The least cycles and bytes of a tile, whatever the step in K: as if all of K were one
        step that everything has room for."""
        m, n, depth = tile.rows * tile.m, tile.n, self.depth
        tiles = self.tiles(tile)
        waves = -(-tiles // blocks)
        mte2_extra, mac_extra = self._added(m, n, blocks)
        mte2 = self.outer * sum(self._loads(tile, depth, blocks)) + mte2_extra
        cube = self.outer * self._mmad(m, depth, n) + mac_extra
        size = self.size
        move = self._l0a.cycles(m * depth * size) + self._l0b.cycles(n * depth * size)
        fix = way_of(self.target, "l0c->gm", blocks).cycles(m * n * self.out, m, self._y_aligned)
        busy = max(mte2, cube, self.outer * move)
        double = 2 * m * n * 4 <= self._l0c_room and waves > 1
        each = max(busy, fix) if double else busy + fix
        cycles = waves * each + (fix if double else 0.0) + self._latency
        gm_bytes = tiles * (self.outer * depth * (m + n) * size + m * n * self.out)
        return cycles, gm_bytes


def cube_work(problem: CubeProblem, schedule: CubeSchedule, target: Target) -> Work:
    """Cycles of the core that has the most tiles, and what each of its pipes does."""
    return CubeTime(problem, target).work(schedule)
